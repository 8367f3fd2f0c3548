#include "transformers/tokenizers/split_behavior.h"

#include <string>

#include "transformers/tokenizers/description.h"

namespace transformers::tokenizers {

SplitBehavior read_split_behavior(const nlohmann::json& description) {
  auto name = field<std::string>(description, "behavior");
  if (name == "Removed") return SplitBehavior::Removed;
  if (name == "Isolated") return SplitBehavior::Isolated;
  if (name == "MergedWithPrevious") return SplitBehavior::MergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::MergedWithNext;
  if (name == "Contiguous") return SplitBehavior::Contiguous;
  fail_field(description, "behavior", "Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

}  // namespace transformers::tokenizers
