#pragma once

// Finds checkpoints on this machine.

#include <filesystem>
#include <string>

namespace transformers {

/// The directory of `checkpoint`: the directory of that name, or the snapshot of the repository of that name
/// ("sentence-transformers/all-MiniLM-L6-v2") in the local Hugging Face cache: HF_HUB_CACHE or the older
/// HUGGINGFACE_HUB_CACHE, else hub below HF_HOME, else below huggingface in XDG_CACHE_HOME or ~/.cache. `revision` is a
/// branch, a tag or a commit. Nothing is downloaded. Throws Error if there is no such checkpoint; the message says
/// where it searched.
std::filesystem::path find_checkpoint(const std::string& checkpoint, const std::string& revision = "main");

}  // namespace transformers
