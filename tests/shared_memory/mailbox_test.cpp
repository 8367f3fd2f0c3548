#include "accelerate/shared_memory/mailbox.h"

#include <doctest/doctest.h>

#include <numeric>

#include "tests/shared_memory/thread_ranks.h"

using namespace accelerate;
using namespace accelerate::shared_memory;

namespace {

constexpr std::chrono::milliseconds kLimit = std::chrono::minutes(10);

void run_mailboxes(const tests::LocalMemory& memory, const std::function<void(Mailbox&, int rank)>& body) {
  tests::run_threads(memory.size(), [&](int rank) {
    Mailbox mailbox(memory.view(), rank, memory.heap(rank));
    body(mailbox, rank);
  });
}

std::vector<std::byte> message(int number, size_t bytes) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(number));
}

}  // namespace

TEST_CASE("ranks that send to each other before they receive do not wait for each other") {
  tests::LocalMemory memory(2);
  run_mailboxes(memory, [](Mailbox& mailbox, int rank) {
    for (size_t bytes : {size_t{0}, size_t{1}, size_t{3'000'000}}) {
      auto mine = message(rank, bytes);
      std::vector<std::byte> theirs(bytes);
      mailbox.send(mine.data(), bytes, 1 - rank, 0, kLimit);
      mailbox.receive(theirs.data(), bytes, 1 - rank, 0, kLimit);
      CHECK((theirs == message(1 - rank, bytes)));
    }
  });
}

TEST_CASE("messages come in the order they were sent, for each tag, and more of them than there is room for") {
  tests::LocalMemory memory(2);
  run_mailboxes(memory, [](Mailbox& mailbox, int rank) {
    constexpr int kMessages = 100;
    if (rank == 0) {
      for (int i = 0; i < kMessages; ++i) mailbox.send(message(i, 10).data(), 10, 1, i % 2, kLimit);
      return;
    }
    std::vector<std::byte> received(10);
    for (int i = 0; i < kMessages; i += 2) {
      for (int next : {i + 1, i}) {  // the second tag first
        mailbox.receive(received.data(), 10, 0, next % 2, kLimit);
        CHECK((received == message(next, 10)));
      }
    }
  });
}

TEST_CASE("a large message gives its memory back when it is read, not when another one is sent") {
  constexpr size_t kBytes = 3'000'000;
  tests::LocalMemory memory(2);
  const size_t before = memory.committed_bytes(0);
  run_mailboxes(memory, [&](Mailbox& mailbox, int rank) {
    if (rank == 0) return mailbox.send(message(7, kBytes).data(), kBytes, 1, 0, kLimit);
    std::vector<std::byte> received(kBytes);
    mailbox.receive(received.data(), kBytes, 0, 0, kLimit);
    CHECK((received == message(7, kBytes)));
    CHECK(memory.committed_bytes(0) - before <= page_bytes());
  });
}

TEST_CASE("a message from any rank is taken, and tells from whom it came") {
  tests::LocalMemory memory(3);
  run_mailboxes(memory, [](Mailbox& mailbox, int rank) {
    if (rank > 0) return mailbox.send(message(rank, 4).data(), 4, 0, 9, kLimit);
    int sum = 0;
    for (int i = 0; i < 2; ++i) {
      std::vector<std::byte> received(4);
      auto from = mailbox.receive(received.data(), 4, Mailbox::kAnyRank, 9, kLimit);
      CHECK((received == message(from.value(), 4)));
      sum += *from;
    }
    CHECK(sum == 3);
  });
}

TEST_CASE("a message of another size, and one that does not come, are errors") {
  tests::LocalMemory memory(2);
  run_mailboxes(memory, [](Mailbox& mailbox, int rank) {
    if (rank == 1) return mailbox.send(message(1, 5).data(), 5, 0, 0, kLimit);
    std::vector<std::byte> received(4);
    CHECK_THROWS_WITH_AS(mailbox.receive(received.data(), 4, 1, 0, kLimit),
                         doctest::Contains("receives 4 bytes from rank 1, which has sent 5"), Error);
    CHECK_THROWS_WITH_AS(mailbox.receive(received.data(), 4, 1, 3, std::chrono::milliseconds(200)),
                         doctest::Contains("did not take part (receive from rank 1"), PeerError);
    CHECK_FALSE(mailbox.receive(received.data(), 4, 1, 3, std::chrono::milliseconds(0)).has_value());
  });
}

TEST_CASE("what was sent before a rank left is still received; what was not, never comes") {
  tests::LocalMemory memory(2);
  run_mailboxes(memory, [&](Mailbox& mailbox, int rank) {
    if (rank == 1) {
      mailbox.send(message(1, 4).data(), 4, 0, 0, kLimit);
      return memory.view().control.mark_failed(Failure::Died, 1);
    }
    std::vector<std::byte> received(4);
    CHECK(mailbox.receive(received.data(), 4, 1, 0, kLimit) == 1);
    CHECK_THROWS_WITH_AS(mailbox.receive(received.data(), 4, 1, 0, kLimit),
                         doctest::Contains("the process of rank 1 has ended"), PeerError);
  });
}

TEST_CASE("nothing is sent to a rank that is gone, but to others") {
  tests::LocalMemory memory(3);
  memory.view().control.mark_failed(Failure::Died, 2);
  run_mailboxes(memory, [](Mailbox& mailbox, int rank) {
    if (rank != 0) return;
    CHECK_THROWS_WITH_AS(mailbox.send(message(0, 4).data(), 4, 2, 0, kLimit),
                         doctest::Contains("the process of rank 2 has ended, so nothing can be sent to rank 2"),
                         PeerError);
    CHECK_NOTHROW(mailbox.send(message(0, 4).data(), 4, 1, 0, kLimit));
  });
}
