#include "accelerate/parallel/same_model.h"

#include <algorithm>
#include <map>
#include <sstream>

#include <torch/types.h>

#include "accelerate/base/error.h"
#include "accelerate/tensors/archive.h"

namespace accelerate::parallel {

namespace {

std::string describe(const char* kind, const NamedTensor& named) {
  std::ostringstream line;
  line << kind << " '" << named.name << "' " << c10::toString(named.tensor.scalar_type()) << " "
       << named.tensor.sizes();
  if (!named.tensor.is_contiguous()) line << " strides " << named.tensor.strides();
  return line.str();
}

std::string list_ranks(const std::vector<size_t>& ranks) {
  std::ostringstream text;
  text << (ranks.size() == 1 ? "rank " : "ranks ");
  for (size_t i = 0; i < ranks.size(); ++i) text << (i == 0 ? "" : ", ") << ranks[i];
  return text.str();
}

}  // namespace

std::vector<std::string> describe_model(const std::vector<NamedTensor>& parameters,
                                        const std::vector<NamedTensor>& buffers) {
  std::vector<std::string> lines;
  for (const auto& parameter : parameters) {
    lines.push_back(describe("parameter", parameter) + (parameter.tensor.requires_grad() ? "" : " frozen") +
                    (parameter.sparse_gradient ? " with sparse gradients" : ""));
  }
  for (const auto& buffer : buffers) lines.push_back(describe("buffer", buffer));
  return lines;
}

std::optional<std::string> first_difference(const std::vector<std::vector<std::string>>& descriptions_by_rank) {
  size_t longest = 0;
  for (const auto& description : descriptions_by_rank) longest = std::max(longest, description.size());
  for (size_t place = 0; place < longest; ++place) {
    std::map<std::string, std::vector<size_t>> ranks_of;
    for (size_t rank = 0; rank < descriptions_by_rank.size(); ++rank) {
      const auto& description = descriptions_by_rank[rank];
      ranks_of[place < description.size() ? description[place] : "nothing"].push_back(rank);
    }
    if (ranks_of.size() == 1) continue;
    std::ostringstream message;
    for (const auto& [line, ranks] : ranks_of) message << "\n  - " << list_ranks(ranks) << ": " << line;
    return message.str();
  }
  return std::nullopt;
}

void check_same_model(const std::vector<std::string>& description, const comm::Group& group) {
  std::vector<std::vector<std::string>> descriptions;
  for (const auto& bytes : group.all_gather_bytes(tensors::pack(description))) {
    descriptions.push_back(tensors::unpack<std::vector<std::string>>(bytes));
  }
  if (auto difference = first_difference(descriptions)) {
    fail("the ranks prepared different models; the first difference:", *difference,
         "\nEvery rank has to build the same model, with the same options, before it is prepared.");
  }
}

}  // namespace accelerate::parallel
