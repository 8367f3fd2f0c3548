#pragma once

// What commonly goes wrong on a machine, looked for one by one.

#include <filesystem>
#include <string>
#include <vector>

namespace accelerate::cli {

/// What was seen, and what to do about it; nothing to do means that all is well.
struct Finding {
  std::string observation;
  std::string remedy = {};
};

/// All checks, in the order in which a person would make them.
std::vector<Finding> check_machine();

/// Whether the `accelerate` that PATH finds first is this program.
Finding check_versions(const std::string& first_in_path);

/// Whether the configuration file can be read and is of today's form.
Finding check_config_file(const std::filesystem::path& file);

/// Whether the environment makes every program believe that it is part of a job.
Finding check_rank_variables();

/// Whether OMP_NUM_THREADS asks for more cores than there are.
Finding check_threads();

/// Whether there is room for what ranks exchange through shared memory.
Finding check_shared_memory_size(const std::filesystem::path& directory);

/// Whether ended jobs of this user have left shared memory behind.
Finding check_stale_shared_memory(const std::filesystem::path& directory);

/// Whether crashed jobs of this user have left reports behind.
Finding check_left_over_jobs(const std::filesystem::path& directory);

/// Whether there is a directory for temporary files, and what is left over in it.
Finding check_temporary_directory();

/// Whether another program listens on the port.
Finding check_port(int port);

/// Whether a process may open enough files.
Finding check_open_files();

/// Whether other programs of a job can find this machine by its name.
Finding check_host_name(const std::string& name);

}  // namespace accelerate::cli
