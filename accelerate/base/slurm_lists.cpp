#include "accelerate/base/slurm_lists.h"

#include <cstdio>
#include <sstream>

#include "accelerate/base/error.h"

namespace accelerate {

std::string first_slurm_node(const std::string& nodes) {
  auto bracket = nodes.find('[');
  auto comma = nodes.find(',');
  if (bracket == std::string::npos || comma < bracket) return nodes.substr(0, comma);
  auto numbers = nodes.substr(bracket + 1);
  return nodes.substr(0, bracket) + numbers.substr(0, numbers.find_first_of("-,]"));
}

int64_t slurm_tasks_on_node(const std::string& tasks, int64_t node) {
  std::istringstream runs(tasks);
  int64_t nodes_before = 0;
  for (std::string run; std::getline(runs, run, ',');) {
    long count = 0, repeated = 1;
    if (std::sscanf(run.c_str(), "%ld(x%ld)", &count, &repeated) < 1 || count < 1) break;
    nodes_before += repeated;
    if (node < nodes_before) return count;
  }
  fail("Slurm's list of tasks on each node is '", tasks, "', which has no entry for node ", node,
       "; SLURM_STEP_TASKS_PER_NODE is a list such as 4(x2),1");
}

int slurm_port(int64_t job) {
  constexpr int kFirstPort = 20000, kPorts = 10000;
  return kFirstPort + static_cast<int>(job % kPorts);
}

}  // namespace accelerate
