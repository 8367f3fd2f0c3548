#include "accelerate/parallel/same_model.h"

#include <algorithm>
#include <map>
#include <sstream>

#include <torch/types.h>
#include <torch/csrc/distributed/c10d/comm.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"
#include "accelerate/comm/connection.h"
#include "accelerate/tensors/archive.h"

namespace accelerate::parallel {

namespace {

constexpr size_t kBroadcastBytes = 250 * 1024 * 1024;

std::string describe(const char* kind, const NamedTensor& named) {
  std::ostringstream line;
  line << kind << " '" << named.name << "' " << c10::toString(named.tensor.scalar_type()) << " "
       << named.tensor.sizes();
  if (!named.tensor.is_contiguous()) line << " strides " << named.tensor.strides();
  return line.str();
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
    for (const auto& [line, ranks] : ranks_of)
      message << "\n  - " << (ranks.size() == 1 ? "rank " : "ranks ") << listed(ranks) << ": " << line;
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
         "\nEvery rank must build the same model, with the same options, before prepare.");
  }
}

void broadcast_tensors(std::initializer_list<const std::vector<NamedTensor>*> lists, int rank,
                       const comm::Group& group) {
  std::vector<at::Tensor> tensors;
  int64_t bytes = 0;
  for (const auto* list : lists) {
    for (const auto& named : *list) {
      // Another version counter: otherwise backward would reject a graph that has saved a buffer.
      tensors.emplace_back(named.tensor.variable_data());
      bytes += static_cast<int64_t>(named.tensor.nbytes());
    }
  }
  if (tensors.empty()) return;
  auto broadcast = [&] {
    c10d::broadcast_coalesced(group.connection()->process_group(), tensors, kBroadcastBytes, rank);
  };
  group.connection()->run_recorded("taking over the model of rank " + std::to_string(rank), bytes, broadcast,
                                   /*by_all=*/false);
}

}  // namespace accelerate::parallel
