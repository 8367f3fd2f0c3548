#include "accelerate/base/host_name.h"

#include <unistd.h>

namespace accelerate {

std::string host_name() {
  char name[256] = {};  // longer than any: HOST_NAME_MAX is 64
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost";
}

}  // namespace accelerate
