// A job that does nothing but save checkpoints, from one process or several, for tests that kill it or take its disk
// away.
//
//   saving_program MODE DIRECTORY PROCESSES SAVES KILOBYTES
//
// MODE is `overwrite` (DIRECTORY is the checkpoint), `numbered` (checkpoints below DIRECTORY) or `limit` (of these only
// the newest stays). It goes on from the step it finds, writes the ids of its processes and each step that it has saved
// to standard output, and ends after SAVES saves. With SAVES 0 it only says which step it would go on from.

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/durable/checkpoints.h"
#include "accelerate/durable/seal.h"
#include "accelerate/durable/stage.h"
#include "tests/durable/step_files.h"

namespace fs = std::filesystem;
using namespace accelerate;
using namespace accelerate::durable;

namespace {

/// Messages to another process, each with its length before it.
class Channel {
 public:
  Channel() {
    if (pipe(ends_) != 0) fail_for_file("pipe", "made");
  }

  void send(const std::string& text) const {
    auto message = std::to_string(text.size()) + "\n" + text;
    if (write(ends_[1], message.data(), message.size()) != static_cast<ssize_t>(message.size())) {
      fail("the other process has ended");
    }
  }

  std::string receive() const {
    std::string size, text;
    for (char c = receive_byte(); c != '\n'; c = receive_byte()) size += c;
    for (size_t left = std::stoul(size); left > 0; --left) text += receive_byte();
    return text;
  }

  void only_send() const { close(ends_[0]); }
  void only_receive() const { close(ends_[1]); }

 private:
  char receive_byte() const {
    char c = 0;
    if (read(ends_[0], &c, 1) != 1) fail("the other process has ended");
    return c;
  }

  int ends_[2];
};

struct Rank {
  Channel orders = {};   // the directory to write to and the step
  Channel records = {};  // what it has written, or nothing when that failed
  pid_t pid = 0;

  /// For the other ranks: only those two who talk see when the other one ends.
  void forget() const {
    for (const auto* channel : {&orders, &records}) {
      channel->only_receive();
      channel->only_send();
    }
  }
};

/// What every rank but the first does until the first one ends.
[[noreturn]] void serve(int rank, const Rank& self) {
  self.orders.only_receive();
  self.records.only_send();
  try {
    while (true) {
      fs::path directory = self.orders.receive();
      auto step = std::stol(self.orders.receive());
      auto name = "random_states_" + std::to_string(rank) + ".pkl";
      try {
        self.records.send(encode_records({tests::write_step_file(directory, name, step, /*kilobytes=*/4).seal()}));
      } catch (const Error& error) {
        std::cerr << "rank " << rank << ": " << error.what() << std::endl;
        self.records.send("");
      }
    }
  } catch (const Error&) {
    _exit(0);  // the first rank has ended
  }
}

std::vector<Rank> start_ranks(int num_processes) {
  std::vector<Rank> ranks(num_processes);
  for (int rank = 1; rank < num_processes; ++rank) {
    ranks[rank].pid = fork();
    if (ranks[rank].pid == 0) {
      for (int other = 0; other < num_processes; ++other) {
        if (other != rank) ranks[other].forget();
      }
      serve(rank, ranks[rank]);
    }
    ranks[rank].orders.only_send();
    ranks[rank].records.only_receive();
  }
  ranks[0].pid = getpid();
  return ranks;
}

void save(Stage stage, const std::vector<Rank>& ranks, int64_t step, int64_t kilobytes) {
  for (size_t rank = 1; rank < ranks.size(); ++rank) {
    ranks[rank].orders.send(stage.path());
    ranks[rank].orders.send(std::to_string(step));
  }
  auto model = tests::write_step_file(stage.path(), "model.safetensors", step, kilobytes);
  auto optimizer = tests::write_step_file(stage.path(), "optimizer.bin", step, 2 * kilobytes);
  std::vector<FileRecord> records = {model.seal(), optimizer.seal()};
  for (size_t rank = 1; rank < ranks.size(); ++rank) {
    auto text = ranks[rank].records.receive();
    if (text.empty()) fail("rank ", rank, " has failed");
    for (auto& record : decode_records(text)) records.push_back(record);
  }
  stage.commit(std::move(records));
}

void run(const std::vector<std::string>& arguments) {
  const auto& mode = arguments.at(0);
  fs::path directory = arguments.at(1);
  auto num_saves = std::stol(arguments.at(3));
  auto step = tests::newest_step(mode, directory).value_or(0);
  if (num_saves == 0) std::cout << "newest " << step << std::endl;
  if (num_saves == 0) return;

  auto ranks = start_ranks(std::stoi(arguments.at(2)));
  for (const auto& rank : ranks) std::cout << rank.pid << ' ';
  std::cout << std::endl;
  std::optional<CheckpointDirectory> checkpoints;
  if (mode != "overwrite") checkpoints.emplace(directory);
  for (++step; num_saves > 0; --num_saves, ++step) {
    save(checkpoints ? checkpoints->stage(next_number(directory)) : Stage(directory), ranks, step,
         std::stol(arguments.at(4)));
    if (mode == "limit") checkpoints->prune(1);
    std::cout << "saved " << step << std::endl;
  }
}

}  // namespace

int main(int count, char** words) {
  signal(SIGPIPE, SIG_IGN);
  report_file_size_limit();
  try {
    run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
