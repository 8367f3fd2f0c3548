#include "accelerate/launch/installation.h"

namespace accelerate::launch {

namespace fs = std::filesystem;

fs::path own_prefix() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path(); }

fs::path helper_program(const std::string& name) { return own_prefix() / ACCELERATE_LIBEXECDIR / "accelerate" / name; }

}  // namespace accelerate::launch
