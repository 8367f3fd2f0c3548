#include "accelerate/comm/failures/flight_recorder.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "accelerate/comm/failures/watchdog.h"
#include "tests/support/time_limit.h"
#include "tests/support/torch.h"

using namespace accelerate;
using namespace accelerate::comm;

TEST_CASE("the recorder has the last 64 collectives, the oldest first") {
  FlightRecorder recorder;
  CHECK_FALSE(recorder.newest());
  for (int i = 0; i < 100; ++i) recorder.end(recorder.begin("reduce", torch::ones({i})), Collective::State::Done);
  auto history = recorder.history();
  REQUIRE(history.size() == FlightRecorder::kCapacity);
  CHECK(history.front().number == 37);
  CHECK(history.back().number == 100);
  CHECK(history.back().sizes == std::vector<int64_t>{99});
  CHECK(history.back().bytes == 99 * 4);
  CHECK(describe(recorder.find(100)) == "reduce #100 (Float [99])");
}

TEST_CASE("the end of a collective that the ring has forgotten changes nothing") {
  FlightRecorder recorder;
  auto first = recorder.begin("backward", int64_t{1000});
  for (size_t i = 0; i < FlightRecorder::kCapacity; ++i) recorder.begin("reduce", at::Tensor());
  recorder.end(first, Collective::State::Failed);
  for (const auto& collective : recorder.history()) CHECK(collective.state == Collective::State::Running);
}

TEST_CASE("the report tells what took how long, what failed and what has not ended") {
  FlightRecorder recorder;
  recorder.end(recorder.begin("gather", torch::ones({2, 3}, torch::kLong)), Collective::State::Done);
  recorder.end(recorder.begin("the reduction of gradients", int64_t{4096}), Collective::State::Failed);
  recorder.begin("barrier", at::Tensor());
  auto report = recorder.report();
  CHECK_MESSAGE(report.find("  gather #1 (Long [2, 3]), 48 bytes: took 0.") == 0, report);
  CHECK_MESSAGE(report.find("\n  the reduction of gradients #2, 4096 bytes: failed after 0.") != std::string::npos,
                report);
  CHECK_MESSAGE(report.find("\n  barrier #3: began 0.0") != std::string::npos, report);
  CHECK_MESSAGE(report.ends_with(" s ago and has not ended\n"), report);
  auto newest = recorder.report(1);
  CHECK_MESSAGE(std::count(newest.begin(), newest.end(), '\n') == 1, newest);
  CHECK_MESSAGE(newest.ends_with(" s ago and has not ended\n"), newest);
}

TEST_CASE("a collective that has ended tells where the other ranks were, a broadcast does not") {
  FlightRecorder recorder;
  CHECK_FALSE(recorder.newest_by_all());
  recorder.end(recorder.begin("reduce", torch::ones({2})), Collective::State::Done);
  recorder.end(recorder.begin("broadcast", torch::ones({2}), /*by_all=*/false), Collective::State::Done);
  recorder.end(recorder.begin("reduce", torch::ones({3})), Collective::State::Failed);
  recorder.begin("barrier", at::Tensor());
  REQUIRE(recorder.newest_by_all());
  CHECK(recorder.newest_by_all()->number == 1);
}

TEST_CASE("a rank was last seen in the newest of its heartbeat and what ended here") {
  FlightRecorder recorder;
  auto before = Heartbeat::now(recorder);
  CHECK(last_seen(before, recorder.newest_by_all()).doing == "before its first collective");
  for (int i = 0; i < 5; ++i) recorder.end(recorder.begin("reduce", torch::ones({2})), Collective::State::Done);
  auto seen = last_seen(before, recorder.newest_by_all());
  CHECK(seen.doing == "in reduce #5 (Float [2])");
  CHECK(seen.unix_milliseconds >= before.unix_milliseconds);
  auto later = Heartbeat::from_text(Heartbeat::now(recorder).to_text());
  CHECK(last_seen(later, recorder.newest_by_all()).doing == "after reduce #5 (Float [2])");
}

TEST_CASE("noting a collective costs less than a microsecond") {
  FlightRecorder recorder;
  auto tensor = torch::ones({4, 4});
  constexpr int kCount = 100'000;
  auto begin = tests::cpu_time();
  for (int i = 0; i < kCount; ++i) recorder.end(recorder.begin("reduce", tensor), Collective::State::Done);
  CHECK(tests::cpu_time() - begin < tests::limit_of(std::chrono::milliseconds(kCount / 1000)));
}

TEST_CASE("a heartbeat tells who, when and at what, also after its way through the store") {
  FlightRecorder recorder;
  CHECK(Heartbeat::now(recorder).doing == "before its first collective");
  auto number = recorder.begin("the end of the epoch", at::Tensor());
  CHECK(Heartbeat::now(recorder).doing == "in the end of the epoch #1");
  recorder.end(number, Collective::State::Done);
  const RankCard card{.host = "node7", .pid = 4711};
  Heartbeat heartbeat{.unix_milliseconds = 10'000, .doing = "after barrier #3"};
  auto received = Heartbeat::from_text(heartbeat.to_text());
  CHECK(describe(received, card, 22'300) == "pid 4711 on node7, last seen 12.3 s ago after barrier #3");
  CHECK(describe(received, card, 9'000) == "pid 4711 on node7, last seen 0.0 s ago after barrier #3");
}
