#include "accelerate/launch/machines/main_machine.h"

#include <netdb.h>

#include <cerrno>
#include <cstring>

#include "accelerate/base/error.h"
#include "accelerate/base/tcp.h"
#include "accelerate/base/thread_without_signals.h"
#include "accelerate/launch/machines/network.h"
#include "accelerate/launch/machines/wait_notice.h"

namespace accelerate::launch {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr auto kBetweenTries = milliseconds(200);

std::string text_of(const addrinfo& address) {
  char text[NI_MAXHOST] = {};
  getnameinfo(address.ai_addr, address.ai_addrlen, text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
  return text;
}

const char* describe(int error) {
  if (error == ECONNREFUSED) return "connection refused: the machine answers, but rank 0 does not listen there (yet)";
  if (error == ETIMEDOUT) return "no answer: the address is wrong, the machine is down, or a firewall is in between";
  return std::strerror(error);
}

}  // namespace

MainMachine::MainMachine(const std::string& host, int port) : host_(host), port_(port) {
  resolve_main_process(host, port);
}

std::string MainMachine::problem() const {
  // The constructor has resolved the name, so a failure now may be temporary.
  auto found = look_up_host(host_, port_);
  if (!found.problem.empty()) return "machine 0: " + host_ + " cannot be resolved: " + found.problem;
  int error = 0;
  for (auto* address = found.addresses.get(); address != nullptr; address = address->ai_next) {
    error = try_to_connect(*address, seconds(1)).error;
    if (error == 0) return "";
  }
  auto numeric = text_of(*found.addresses);
  return "machine 0 at " + host_ + (numeric == host_ ? "" : " (" + numeric + ")") + ", port " + std::to_string(port_) +
         ": " + describe(error);
}

int MainMachine::wait(seconds timeout, process::SignalWatch& signals) const {
  auto began = Clock::now();
  WaitNotice notice;
  for (auto wrong = problem(); !wrong.empty(); wrong = problem()) {
    if (Clock::now() - began >= timeout) {
      fail(wrong, "; gave up after ", timeout.count(), " s. Check --main_process_ip and --main_process_port, and that ",
           "machine 0 has been started");
    }
    notice.show("waiting for " + wrong);
    if (int number = signals.request_to_stop(kBetweenTries)) return number;
  }
  return 0;
}

MainMachineWatch::MainMachineWatch(MainMachine machine)
    : machine_(std::move(machine)), thread_(thread_without_signals([this] { run(); })) {}

MainMachineWatch::~MainMachineWatch() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

std::string MainMachineWatch::problem() const {
  std::lock_guard lock(mutex_);
  return problem_;
}

void MainMachineWatch::run() {
  WaitNotice notice;
  std::unique_lock lock(mutex_);
  while (!ended_) {
    lock.unlock();
    auto wrong = machine_.problem();
    lock.lock();
    problem_ = wrong;
    if (wrong.empty()) return;
    notice.show("waiting for " + wrong);
    ending_.wait_for(lock, kBetweenTries, [this] { return ended_; });
  }
}

}  // namespace accelerate::launch
