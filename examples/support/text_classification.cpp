#include "examples/support/text_classification.h"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <string_view>

#include <ATen/CPUGeneratorImpl.h>

#include "accelerate/base/log.h"

namespace examples {

namespace {

/// One minute on two processes: does a text message want to sell something?
void make_quick(TextArguments& arguments) {
  arguments.train.file = ".assets/demo/sms_train.tsv";
  arguments.train.num_rows = 1000;
  arguments.eval.file = ".assets/demo/sms_eval.tsv";
  arguments.eval.num_rows = 500;
  arguments.num_epochs = 1;
  arguments.learning_rate = 1e-4;
}

void add_options(CLI::App& app, TextArguments& arguments) {
  auto add = [&](const char* name, auto& target, const char* help) {
    return app.add_option(name, target, help)->capture_default_str();
  };
  add("--checkpoint", arguments.checkpoint, "Directory of the model, or its name in the local Hugging Face cache");
  add("--train_file", arguments.train.file, "Labelled texts to train with: .tsv, .csv or .jsonl");
  add("--eval_file", arguments.eval.file, "Labelled texts to measure with");
  add("--num_train_rows", arguments.train.num_rows, "How many of them to train with; 0: all")
      ->check(CLI::NonNegativeNumber);
  add("--num_eval_rows", arguments.eval.num_rows, "How many of them to measure with; 0: all")
      ->check(CLI::NonNegativeNumber);
  add("--batch_size", arguments.train.batch_size, "Texts in a batch of one process")->check(CLI::PositiveNumber);
  add("--eval_batch_size", arguments.eval.batch_size, "The same for measuring")->check(CLI::PositiveNumber);
  add("--num_labels", arguments.num_labels, "How many labels there are")->check(CLI::PositiveNumber);
  add("--num_epochs", arguments.num_epochs, "Passes over the training data")->check(CLI::NonNegativeNumber);
  app.add_option("--max_length", arguments.max_length, "Tokens that a text is cut off after [what the model takes]")
      ->check(CLI::PositiveNumber);
  add("--learning_rate", arguments.learning_rate, "Of AdamW, at the start of the schedule");
  add("--weight_decay", arguments.weight_decay, "Of AdamW");
  // Those that follow a metric or need options of their own are left out.
  add("--scheduler", arguments.scheduler, "How the learning rate changes")
      ->check(CLI::IsMember({"linear", "cosine", "cosine_with_restarts", "polynomial", "constant",
                             "constant_with_warmup", "inverse_sqrt"}));
  add("--num_warmup_steps", arguments.num_warmup_steps, "Steps in which the learning rate rises first");
  add("--seed", arguments.seed, "Of the new weights, the dropout and the shuffle");
}

/// The data of the demo has to be fetched first; any other file is the data set's to complain about.
void check_demo_data(const TextArguments& arguments) {
  for (const auto& path : {arguments.train.file, arguments.eval.file, arguments.checkpoint}) {
    if (!path.starts_with(".assets/") || std::filesystem::exists(path)) continue;
    std::cerr << path << " is not there. `make demo` fetches it; run the program in the directory of the clone.\n";
    std::exit(1);
  }
}

}  // namespace

TextArguments parse_text_arguments(int argc, char** argv, const std::string& description,
                                   CheckpointArguments* checkpoints, TrackingArguments* tracking) {
  TextArguments arguments;
  // Before the other options, which may then change what --quick says.
  if (std::find(argv, argv + argc, std::string_view("--quick")) != argv + argc) make_quick(arguments);
  CLI::App app(description);
  add_options(app, arguments);
  if (checkpoints) checkpoints->add_to(app);
  if (tracking) tracking->add_to(app);
  bool quick = false;
  app.add_flag("--quick", quick, "Another task, done in a minute: 1,000 text messages, is it spam?");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  check_demo_data(arguments);
  arguments.train.generator = at::detail::createCPUGenerator(arguments.seed);
  return arguments;
}

void print_scores(const std::string& when, const accelerate::metrics::Scores& scores) {
  if (accelerate::log_context().rank == 0) std::cout << when << ": " << scores << std::endl;
}

}  // namespace examples
