#include "transformers/hub_cache.h"

#include <fstream>

#include "accelerate/base/error.h"
#include "accelerate/base/user_directories.h"

namespace transformers {

namespace {

namespace fs = std::filesystem;
using accelerate::fail;

fs::path hub_cache() {
  for (const char* variable : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (auto directory = accelerate::environment_directory(variable)) return *directory;
  }
  return accelerate::huggingface_home() / "hub";
}

/// "models--owner--name", as the hub client calls the folder of a repository.
std::string folder_of(const std::string& checkpoint) {
  std::string folder = "models--";
  for (char letter : checkpoint) folder += letter == '/' ? std::string("--") : std::string(1, letter);
  return folder;
}

}  // namespace

fs::path find_checkpoint(const std::string& checkpoint, const std::string& revision) {
  if (fs::is_directory(checkpoint)) return checkpoint;
  if (fs::exists(checkpoint)) fail(checkpoint, " is a file; give the directory with config.json and the weights");

  auto repository = hub_cache() / folder_of(checkpoint);
  std::string commit = revision;
  if (std::ifstream reference(repository / "refs" / revision); reference) std::getline(reference, commit);
  auto snapshot = repository / "snapshots" / commit;
  if (!commit.empty() && fs::is_directory(snapshot)) return snapshot;

  if (fs::is_directory(repository)) {
    fail("'", checkpoint, "' has no revision '", revision, "' in ", repository.string(),
         "; download it with the Hugging Face client, or choose an existing one");
  }
  fail("'", checkpoint, "' is neither a directory nor a checkpoint in ", hub_cache().string(),
       "; download it first with the Hugging Face client, or give a directory");
}

}  // namespace transformers
