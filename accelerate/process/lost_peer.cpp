#include "accelerate/process/lost_peer.h"

#include <fcntl.h>

#include <atomic>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/environment.h"

namespace accelerate::process {

namespace {

std::atomic<bool> peer_is_lost = false;

}  // namespace

std::filesystem::path lost_peer_file(const std::filesystem::path& error_file) {
  return error_file.parent_path() / "lost_peer.txt";
}

void note_lost_peer(std::string_view message) {
  if (peer_is_lost.exchange(true)) return;
  auto error_file = environment_variable("TORCHELASTIC_ERROR_FILE").value_or("");
  if (error_file.empty()) return;
  Descriptor file(::open(lost_peer_file(error_file).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return;
  write_all(file.get(), message);
  write_all(file.get(), "\n");
}

bool has_lost_peer() { return peer_is_lost; }

void clear_lost_peer() { peer_is_lost = false; }

}  // namespace accelerate::process
