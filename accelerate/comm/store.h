#pragma once

// The job's key-value store: opening it, text in it, and waiting for a key. Rank 0 or torchrun's agent hosts it.

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "accelerate/comm/process_environment.h"

namespace accelerate::comm {

/// Whether this process hosts the store.
bool hosts_store(const ProcessEnvironment& process);

/// Connects to the job's store, and hosts it if this rank has to. Throws Error naming the address if the port is taken,
/// or if the store is refused, unreachable or not resolved within `timeout`.
c10::intrusive_ptr<c10d::Store> open_store(const ProcessEnvironment& process, std::chrono::milliseconds timeout);

/// Returns when a process accepts connections at host:port. Throws Error if none does within `timeout`; the message
/// distinguishes refused, unreachable and unresolved. Retries names that do not resolve yet.
void wait_until_reachable(const std::string& host, int port, std::chrono::milliseconds timeout);

/// The address of this machine on the route to `host`, which peers on other machines can reach.
std::string local_address_towards(const std::string& host);

/// The first line of an error of libtorch. The rest is a backtrace.
std::string first_line(const std::exception& error);

/// The bytes of a text, as a store holds them.
inline std::vector<uint8_t> text_to_bytes(const std::string& text) { return {text.begin(), text.end()}; }

/// Waits for the key, up to the timeout of the store.
inline std::string get_text(c10d::Store& store, const std::string& key) {
  auto bytes = store.get(key);
  return {bytes.begin(), bytes.end()};
}

/// The longest pause between two polls of wait_for_key.
constexpr auto kLongestStorePause = std::chrono::milliseconds(50);

/// Polls for `key` with exponential back-off: a blocking wait would hold the store's connection, which other threads
/// use too. Returns false if there is no such key at the deadline. Calls `give_up` after each poll that does not find
/// the key; it may throw to end the wait early.
bool wait_for_key(c10d::Store& store, const std::string& key, std::chrono::steady_clock::time_point deadline,
                  const std::function<void()>& give_up = {});

}  // namespace accelerate::comm
