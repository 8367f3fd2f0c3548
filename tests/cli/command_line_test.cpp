#include "cli/command_line.h"

#include <doctest/doctest.h>

using namespace accelerate::cli;

namespace {

using Words = std::vector<std::string>;

/// Splits for a command with --num_processes (or -n), --name and the flag --cpu.
SplitCommandLine split(const Words& words) {
  CLI::App app;
  int number = 0;
  std::string text;
  bool flag = false;
  app.add_option("-n,--num_processes", number);
  app.add_option("--name", text);
  app.add_flag("--cpu", flag);
  return split_at_program(app, words);
}

}  // namespace

TEST_CASE("the first word that is no flag begins the program, which keeps its own flags") {
  struct Case {
    Words words, flags, program;
  };
  for (const auto& [words, flags, program] : std::vector<Case>{
           {{}, {}, {}},
           {{"train"}, {}, {"train"}},
           {{"--num_processes", "2", "train"}, {"--num_processes=2"}, {"train"}},
           {{"--num-processes=2", "train", "--num-layers", "3"}, {"--num_processes=2"}, {"train", "--num-layers", "3"}},
           {{"-n", "2", "--cpu", "train", "-n", "5"}, {"--num_processes=2", "--cpu"}, {"train", "-n", "5"}},
           {{"-n2", "train"}, {"--num_processes=2"}, {"train"}},
           {{"-n=2", "train"}, {"--num_processes=2"}, {"train"}},
           {{"-n", "-3", "train"}, {"--num_processes=-3"}, {"train"}},
           {{"--name=a=b-c", "train"}, {"--name=a=b-c"}, {"train"}},
           {{"--cpu", "--", "-odd-name", "--x"}, {"--cpu"}, {"-odd-name", "--x"}},
           {{"train", "--", "--cpu"}, {}, {"train", "--", "--cpu"}},
           {{"-h"}, {"--help"}, {}},
       }) {
    auto line = split(words);
    CHECK(line.flags == flags);
    CHECK(line.program == program);
  }
}

TEST_CASE("an unknown flag is named together with the nearest known one") {
  CHECK_THROWS_WITH_AS(split({"--num_proceses", "2"}), "unknown flag --num_proceses; did you mean --num_processes?",
                       UsageError);
  CHECK_THROWS_WITH_AS(split({"--cpus"}), "unknown flag --cpus; did you mean --cpu?", UsageError);
  CHECK_THROWS_WITH_AS(split({"--something_else"}), "unknown flag --something_else; --help lists them all", UsageError);
  CHECK_THROWS_WITH_AS(split({"-x"}), doctest::Contains("unknown flag -x"), UsageError);
  CHECK_THROWS_WITH_AS(split({"--name"}), "--name needs a value", UsageError);
}
