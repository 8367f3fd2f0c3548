#include "accelerate/launch/main_machine.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <memory>

#include "accelerate/base/error.h"
#include "accelerate/base/scope.h"

namespace accelerate::launch {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr auto kFirstWord = seconds(5);
constexpr auto kNextWord = seconds(30);
constexpr auto kBetweenTries = milliseconds(200);

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const std::string& host, int port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    fail("--main_process_ip ", host, " cannot be resolved: ", gai_strerror(error),
         "; give the address of machine 0, or a name that this machine knows");
  }
  return {found, freeaddrinfo};
}

std::string text_of(const addrinfo& address) {
  char text[NI_MAXHOST] = {};
  getnameinfo(address.ai_addr, address.ai_addrlen, text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
  return text;
}

/// 0 when the connection was made, else the error; ETIMEDOUT when there was no answer in time.
int try_to_connect(const addrinfo& address, milliseconds limit) {
  int fd = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  ScopeExit close_socket([fd] { ::close(fd); });
  if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd writable{fd, POLLOUT, 0};
  if (poll(&writable, 1, static_cast<int>(limit.count())) == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

const char* describe(int error) {
  if (error == ECONNREFUSED) return "connection refused: the machine answers, but rank 0 does not listen there (yet)";
  if (error == ETIMEDOUT) return "no answer: the address is wrong, the machine is down, or a firewall is in between";
  return std::strerror(error);
}

void say_waiting(const std::string& problem) {
  std::cerr << "accelerate launch: waiting for " + problem + "\n" << std::flush;
}

}  // namespace

MainMachine::MainMachine(const std::string& host, int port) : host_(host), port_(port) { resolve(host, port); }

std::string MainMachine::problem() const {
  auto addresses = resolve(host_, port_);
  int error = 0;
  for (auto* address = addresses.get(); address != nullptr; address = address->ai_next) {
    error = try_to_connect(*address, seconds(1));
    if (error == 0) return "";
  }
  auto numeric = text_of(*addresses);
  return "machine 0 at " + host_ + (numeric == host_ ? "" : " (" + numeric + ")") + ", port " + std::to_string(port_) +
         ": " + describe(error);
}

int MainMachine::wait(seconds timeout, SignalWatch& signals) const {
  auto began = Clock::now();
  auto next_word = began + kFirstWord;
  for (auto wrong = problem(); !wrong.empty(); wrong = problem()) {
    if (Clock::now() - began >= timeout) {
      fail(wrong, "; gave up after ", timeout.count(), " s. Check --main_process_ip and --main_process_port, and that ",
           "machine 0 has been started");
    }
    if (Clock::now() >= next_word) {
      say_waiting(wrong);
      next_word += kNextWord;
    }
    if (int number = signals.request_to_stop(kBetweenTries)) return number;
  }
  return 0;
}

MainMachineWatch::MainMachineWatch(MainMachine machine) : machine_(std::move(machine)) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the main thread
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

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
  auto next_word = Clock::now() + kFirstWord;
  std::unique_lock lock(mutex_);
  while (!ended_) {
    lock.unlock();
    auto wrong = machine_.problem();
    lock.lock();
    problem_ = wrong;
    if (wrong.empty()) return;
    if (Clock::now() >= next_word) {
      say_waiting(wrong);
      next_word += kNextWord;
    }
    ending_.wait_for(lock, kBetweenTries, [this] { return ended_; });
  }
}

}  // namespace accelerate::launch
