// What save_state leaves on the disk, and what load_state refuses.

#include <doctest/doctest.h>
#include <unistd.h>

#include <set>
#include <stdexcept>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>

#include "accelerate/base/error.h"
#include "accelerate/checkpoint/stored_weights.h"
#include "accelerate/checkpoint/tensor_copies.h"
#include "accelerate/tensors/safetensors.h"
#include "tests/checkpoint/training_run.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/failure_of.h"
#include "tests/support/rank_test.h"
#include "tests/support/temporary_directory.h"

namespace accelerate::tests {
namespace {

namespace fs = std::filesystem;
using tensors::TorchValue;

std::set<std::string> names_in(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename());
  return names;
}

/// An object of a user's own.
struct Counter {
  int64_t count = 0;

  TorchValue state_dict() const { return TorchValue::dict({{"count", count}}); }
  void load_state_dict(const TorchValue& state) { count = state.at("count").integer(); }
};

/// Weights that have two names.
struct TiedImpl : torch::nn::Module {
  TiedImpl() {
    embedding = register_parameter("embedding", torch::randn({3, 2}));
    head = register_parameter("head", embedding);
  }
  torch::Tensor embedding, head;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the files have the names of Python's, and one more for each rank") {
  TemporaryDirectory directory;
  const auto saved = (directory.path() / "saved").string();
  run_ranks(2, [&](comm::Group&) {
    TrainingRun run({.mixed_precision = MixedPrecision::Fp16});
    torch::nn::Linear second(2, 2);
    torch::optim::SGD sgd(second->parameters(), torch::optim::SGDOptions(0.1));
    auto prepared = run.accelerator.prepare(second, sgd);
    Counter counter;
    run.accelerator.register_for_checkpointing(counter);
    CHECK(run.accelerator.save_state(saved) == saved);
  });
  CHECK(names_in(saved) == std::set<std::string>{"model.safetensors", "model_1.safetensors", "optimizer.bin",
                                                 "optimizer_1.bin", "scheduler.bin", "scaler.pt", "random_states_0.pkl",
                                                 "random_states_1.pkl", "custom_checkpoint_0.pkl", "loop_state_0.bin",
                                                 "loop_state_1.bin", "manifest.json"});
  CHECK(names_in(directory.path()) == std::set<std::string>{"saved"});
}

TEST_CASE("safe_serialization off writes what torch.save does, and is loaded again") {
  TemporaryDirectory directory;
  const auto saved = directory.path() / "saved";
  TrainingRun run;
  run.train_steps(3);
  run.accelerator.save_state(saved, {.safe_serialization = false});
  CHECK(names_in(saved).contains("pytorch_model.bin"));
  CHECK_FALSE(names_in(saved).contains("model.safetensors"));
  TrainingRun other({.seed = 5});
  other.accelerator.load_state(saved);
  CHECK(torch::equal(other.net->parameters()[0], run.net->parameters()[0]));
}

TEST_CASE("registered objects come back, borrowed or shared") {
  TemporaryDirectory directory;
  const auto saved = directory.path() / "saved";
  {
    TrainingRun run;
    Counter first{.count = 3};
    auto second = std::make_shared<Counter>(Counter{.count = 4});
    run.accelerator.register_for_checkpointing(first, second);
    run.accelerator.save_state(saved);
  }
  TrainingRun run;
  Counter first;
  auto second = std::make_shared<Counter>();
  run.accelerator.register_for_checkpointing(first, second);
  run.accelerator.load_state(saved);
  CHECK(first.count == 3);
  CHECK(second->count == 4);
}

TEST_CASE("checkpoints that are named by themselves: the newest is loaded, old ones go, and numbers go on") {
  TemporaryDirectory directory;
  const ProjectConfiguration project{
      .project_dir = directory.path() / "project", .automatic_checkpoint_naming = true, .total_limit = 2};
  const auto checkpoints = project.project_dir / "checkpoints";
  std::vector<double> losses;
  {
    TrainingRun run({.project = project});
    run.train([&] {
      const auto number = std::to_string(run.accelerator.save_iteration());
      CHECK(run.accelerator.save_state() == checkpoints / ("checkpoint_" + number));
      return run.losses.size() < 4;
    });
    run.losses.clear();
    TrainingRun whole;
    whole.train();
    losses = {whole.losses.begin() + 4, whole.losses.end()};
  }
  CHECK(names_in(checkpoints) == std::set<std::string>{"checkpoint_2", "checkpoint_3"});

  TrainingRun run({.seed = 9, .project = project});
  const auto error = failure_of([&] {
    TrainingRun careless({.project = project});
    careless.accelerator.set_save_iteration(3);
    careless.accelerator.save_state();
  });
  CHECK_MESSAGE(contains(error, "checkpoint_3"), error);
  run.accelerator.load_state();
  CHECK(run.accelerator.save_iteration() == 4);
  run.train();
  CHECK(run.losses == losses);
  run.accelerator.save_state();
  CHECK(names_in(checkpoints) == std::set<std::string>{"checkpoint_3", "checkpoint_4"});
}

TEST_CASE("whether there is something to load is asked for, and an empty directory is nothing") {
  TemporaryDirectory directory;
  const auto home = directory.path() / "project", state = directory.path() / "state";
  run_ranks(2, [&](comm::Group&) {
    TrainingRun run({.project = {.project_dir = home, .automatic_checkpoint_naming = true}});
    auto& accelerator = run.accelerator;
    CHECK_FALSE(accelerator.has_checkpoint());
    CHECK_FALSE(accelerator.has_checkpoint(state));
    fs::create_directories(home / "checkpoints");  // as a job does that is killed in its first save
    fs::create_directories(state);
    CHECK_FALSE(accelerator.has_checkpoint());
    CHECK_FALSE(accelerator.has_checkpoint(state));
    CHECK(contains(failure_of([&] { accelerator.load_state(); }), "call has_checkpoint() first"));
    accelerator.save_state({.async = true});
    CHECK(accelerator.has_checkpoint());
    accelerator.save_state(state);
    CHECK(accelerator.has_checkpoint(state));
  });
}

TEST_CASE("a limit that would keep no checkpoint is refused") {
  for (int64_t limit : {0, -1}) {
    const auto error = failure_of([&] { Accelerator({.cpu = true, .project_config = {.total_limit = limit}}); });
    CHECK_MESSAGE(contains(error, "total_limit is " + std::to_string(limit) + "; it must be at least 1"), error);
  }
}

TEST_CASE("an old checkpoint that cannot be removed is a warning; the new one is saved, and so are the next") {
  if (geteuid() != 0) return;  // it takes two users to make such a directory
  TemporaryDirectory directory;
  const auto checkpoints = directory.path() / "checkpoints";
  const RunOptions options{
      .project = {.project_dir = directory.path(), .automatic_checkpoint_naming = true, .total_limit = 1}};
  TrainingRun(options).accelerator.save_state();
  run_ranks(1, [&](comm::Group&) {
    fs::permissions(directory.path(), fs::perms::all);
    fs::permissions(checkpoints, fs::perms::all | fs::perms::sticky_bit);  // what belongs to others stays
    constexpr uid_t kNobody = 65534;
    REQUIRE(seteuid(kNobody) == 0);
    TrainingRun run(options);
    run.accelerator.load_state();
    const auto warning = captured_stderr([&] { run.accelerator.save_state(); });
    CHECK_MESSAGE(contains(warning, "an old one beyond total_limit was not removed"), warning);
    run.accelerator.save_state();
  });
  CHECK(names_in(checkpoints) == std::set<std::string>{"checkpoint_0", "checkpoint_1", "checkpoint_2"});
}

TEST_CASE("a directory may have any name, and be loaded by a run that names its own elsewhere") {
  TemporaryDirectory directory;
  const auto saved = directory.path() / "two\nlines";
  run_ranks(2, [&](comm::Group&) {
    TrainingRun run({.project = {.automatic_checkpoint_naming = true}});  // and no project_dir
    CHECK(run.accelerator.save_state(saved) == saved);
    run.accelerator.load_state(saved);
  });
  CHECK(names_in(saved).contains("loop_state_1.bin"));
}

TEST_CASE("models that are only evaluated are saved and loaded too, as Python does") {
  TemporaryDirectory directory;
  const auto saved = directory.path() / "saved";
  Accelerator accelerator({.cpu = true});
  torch::nn::Linear student(2, 2), teacher(2, 2);
  auto trained = accelerator.prepare(student);
  auto evaluated = accelerator.prepare_model(teacher, {.evaluation_mode = true});
  accelerator.save_state(saved);
  CHECK(names_in(saved).contains("model_1.safetensors"));
  const auto before = teacher->weight.detach().clone();
  torch::nn::init::zeros_(teacher->weight);
  accelerator.load_state(saved);
  CHECK(torch::equal(teacher->weight, before));
}

TEST_CASE("without a directory and without names by themselves there is an error that says what to do") {
  TrainingRun run;
  CHECK(contains(failure_of([&] { run.accelerator.save_state(); }), "automatic_checkpoint_naming"));
  CHECK(contains(failure_of([&] { run.accelerator.load_state(); }), "automatic_checkpoint_naming"));
  CHECK(contains(failure_of([&] { run.accelerator.load_state("/no/such/place"); }), "/no/such/place"));
}

TEST_CASE("a model is saved alone, in files of a limited size, and read into another") {
  TemporaryDirectory directory;
  const auto saved = directory.path() / "model";
  TrainingRun run;
  auto weight_of = [](const TrainingRun& run) { return run.net->parameters()[0]; };
  for (bool safe : {true, false}) {
    CAPTURE(safe);
    run.accelerator.save_model(run.model, saved, {.max_shard_size = "150", .safe_serialization = safe});
    CHECK(names_in(saved).contains(safe ? "model-00001-of-00003.safetensors" : "pytorch_model-00001-of-00003.bin"));
    CHECK(names_in(saved).contains(safe ? "model.safetensors.index.json" : "pytorch_model.bin.index.json"));
    run.accelerator.save_model(run.model, saved, {.safe_serialization = safe});
    TrainingRun other({.seed = 5});
    CHECK_FALSE(torch::equal(weight_of(other), weight_of(run)));
    auto keys = load_checkpoint_in_model(other.model, saved / (safe ? "model.safetensors" : "pytorch_model.bin"));
    CHECK(keys.missing_keys.empty());
    CHECK(keys.unexpected_keys.empty());
    CHECK(torch::equal(weight_of(other), weight_of(run)));
  }
  CHECK(names_in(saved) == std::set<std::string>{"pytorch_model.bin"});

  for (bool safe : {false, true}) {
    CAPTURE(safe);
    fs::remove_all(saved);
    run.accelerator.save_model(run.model, saved, {.max_shard_size = "150", .safe_serialization = safe});
    for (const auto& path : {saved, saved / (safe ? "model.safetensors.index.json" : "pytorch_model.bin.index.json")}) {
      TrainingRun other({.seed = 5});
      load_checkpoint_in_model(other.net, path, {.strict = true});
      CHECK(torch::equal(weight_of(other), weight_of(run)));
    }
  }
  CHECK(contains(failure_of([&] { run.accelerator.save_model(run.model, saved, {.max_shard_size = "much"}); }),
                 "'much'"));
  CHECK(contains(failure_of([&] { run.accelerator.save_model(run.model, directory.write("file", "")); }), "is a file"));
  torch::nn::Linear another(3, 3);
  auto keys = load_checkpoint_in_model(another, saved);
  CHECK(keys.missing_keys == std::vector<std::string>{"weight", "bias"});
  CHECK(keys.unexpected_keys.size() == 9);
}

TEST_CASE("weights that only the model or only the files have are returned and logged") {
  TemporaryDirectory directory;
  Accelerator accelerator({.cpu = true});
  torch::nn::Linear saved(2, 2);
  accelerator.save_model(saved, directory.path());
  auto warnings_of = [&](torch::nn::Sequential model, IncompatibleKeys& keys) {
    return captured_stderr([&] { keys = load_checkpoint_in_model(model, directory.path()); });
  };
  IncompatibleKeys keys;
  torch::nn::Sequential larger;
  larger->register_parameter("weight", torch::zeros({2, 2}));
  larger->register_parameter("scale", torch::zeros({2}));
  auto said = warnings_of(larger, keys);
  CHECK(keys.missing_keys == std::vector<std::string>{"scale"});
  CHECK(keys.unexpected_keys == std::vector<std::string>{"bias"});
  CHECK_MESSAGE(contains(said, "these weights of the model are not in the file and keep their values: scale\n"), said);
  CHECK_MESSAGE(contains(said, "these weights are not part of the model and are ignored: bias\n"), said);
  CHECK(torch::equal(larger->named_parameters()["weight"], saved->weight));

  said = warnings_of(torch::nn::Sequential(torch::nn::Linear(2, 2)), keys);
  CHECK(keys.missing_keys.size() == 2);
  CHECK_MESSAGE(contains(said,
                         "nothing was loaded: the file has none of the model's names. The model has 0.weight, "
                         "0.bias; the file has "),
                said);
  CHECK(captured_stderr([&] { load_checkpoint_in_model(torch::nn::Linear(2, 2), directory.path()); }) == "");
}

TEST_CASE("a directory has the model that was saved last, in whichever format") {
  TemporaryDirectory directory;
  directory.write("model_card.md", "mine");
  Accelerator accelerator({.cpu = true});
  torch::nn::Linear saved(2, 2), loaded(2, 2);
  for (bool safe : {true, false, true}) {
    CAPTURE(safe);
    torch::nn::init::normal_(saved->weight);
    accelerator.save_model(saved, directory.path(), {.safe_serialization = safe});
    load_checkpoint_in_model(loaded, directory.path(), {.strict = true});
    CHECK(torch::equal(loaded->weight, saved->weight));
  }
  CHECK(names_in(directory.path()) == std::set<std::string>{"model.safetensors", "model_card.md"});
}

TEST_CASE("weights that have two names are written once, and both come back") {
  TemporaryDirectory directory;
  Accelerator accelerator({.cpu = true});
  auto tied = std::make_shared<TiedImpl>();
  accelerator.save_model(tied, directory.path());
  const auto written = tensors::load_safetensors(directory.path() / "model.safetensors");
  REQUIRE(written.size() == 1);
  CHECK(written.front().first == "embedding");
  auto other = std::make_shared<TiedImpl>();
  load_checkpoint_in_model(other, directory.path(), {.strict = true});
  CHECK(torch::equal(other->head, tied->head));
}

TEST_CASE("a save in the background writes the bytes of a plain save") {
  TemporaryDirectory directory;
  Accelerator accelerator({.cpu = true});
  auto model = accelerator.prepare(std::make_shared<TiedImpl>());
  for (bool safe : {true, false}) {
    accelerator.save_state(directory.path() / "plain", {.safe_serialization = safe});
    accelerator.save_state(directory.path() / "async", {.safe_serialization = safe, .async = true});
    REQUIRE(accelerator.has_checkpoint(directory.path() / "async"));  // waits for it
    const std::string name = safe ? "/model.safetensors" : "/pytorch_model.bin";
    CHECK(directory.read("async" + name) == directory.read("plain" + name));
  }
}

TEST_CASE("copies for the background are those of any tensor, and their memory is used again") {
  checkpoint::TensorCopies copies;
  const std::vector<at::Tensor> originals = {torch::randn({40, 1 << 18}),  // so much that several threads copy
                                             torch::randn({3, 5}).t(),
                                             torch::randn({4}).requires_grad_(),
                                             torch::randn({7})[2],
                                             torch::empty({0, 3}),
                                             torch::conj(torch::randn({5}, torch::kComplexFloat)),
                                             torch::randn({9}).slice(0, 0, 9, 2)};
  std::vector<const void*> places;
  for (int round = 0; round < 2; ++round) {
    copies.begin();
    std::vector<at::Tensor> taken, expected;
    for (const auto& tensor : originals) {
      taken.push_back(copies.copy_of(tensor));
      expected.push_back(tensor.detach().clone());
    }
    copies.finish();
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < originals.size(); ++i) {
      CAPTURE(i);
      originals[i].add_(1);
      CHECK(torch::equal(taken[i], expected[i]));
      if (round == 0) places.push_back(taken[i].const_data_ptr());
      CHECK(taken[i].const_data_ptr() == places[i]);
    }
  }
}

TEST_CASE("hooks may write files of their own and take over models, until they are removed") {
  TemporaryDirectory directory;
  TrainingRun run;
  auto on_save = run.accelerator.register_save_state_pre_hook(
      [](checkpoint::Models&, std::vector<StateDict>& weights, const fs::path& path) {
        checkpoint::save_weights(weights.front(), path / "own.safetensors");
        weights.clear();
      });
  int loads = 0;
  auto on_load = run.accelerator.register_load_state_pre_hook([&](checkpoint::Models& models, const fs::path& path) {
    CHECK(fs::exists(path / "own.safetensors"));
    models.clear();
    ++loads;
  });
  run.accelerator.save_state(directory.path() / "saved");
  CHECK(names_in(directory.path() / "saved").contains("own.safetensors"));
  CHECK_FALSE(names_in(directory.path() / "saved").contains("model.safetensors"));
  run.accelerator.load_state(directory.path() / "saved");
  CHECK(loads == 1);

  on_save.remove();
  on_load.remove();
  run.accelerator.save_state(directory.path() / "saved");
  CHECK(names_in(directory.path() / "saved").contains("model.safetensors"));
  run.accelerator.load_state(directory.path() / "saved");
  CHECK(loads == 1);
}

TEST_CASE("hooks may take over models inside of a window of accumulation, whose gradients come back all the same") {
  TemporaryDirectory directory;
  Accelerator accelerator({.gradient_accumulation_steps = 2, .cpu = true});
  torch::nn::Linear net(2, 1);
  auto model = accelerator.prepare(net);
  {
    auto accumulating = accelerator.accumulate(model);
    accelerator.backward(model(torch::ones({1, 2})).sum());
  }
  accelerator.register_save_state_pre_hook(
      [](checkpoint::Models& models, std::vector<StateDict>& weights, const fs::path&) {
        models.clear();
        weights.clear();
      });
  accelerator.register_load_state_pre_hook([](checkpoint::Models& models, const fs::path&) { models.clear(); });
  accelerator.save_state(directory.path() / "saved");
  net->weight.mutable_grad().reset();
  accelerator.load_state(directory.path() / "saved");
  REQUIRE(net->weight.grad().defined());
  CHECK(torch::equal(net->weight.grad(), torch::full({1, 2}, 0.5)));  // half of the window
}

TEST_CASE("an object that refuses its state on one rank keeps models, optimizers and places as they are on all") {
  struct Refusing : Counter {
    bool refuses = false;
    void load_state_dict(const TorchValue& state) {
      if (refuses) fail("no");
      Counter::load_state_dict(state);
    }
  };
  TemporaryDirectory directory;
  run_ranks(2, [&](comm::Group& group) {
    TrainingRun run;
    Refusing counter;
    run.accelerator.register_for_checkpointing(counter);
    run.accelerator.save_state(directory.path() / "saved");
    run.train_steps(1);
    const auto before = run.net->parameters()[0].clone();
    const auto random = at::detail::getDefaultCPUGenerator().get_state();
    counter.refuses = group.rank() == 1;
    const auto error = failure_of([&] { run.accelerator.load_state(directory.path() / "saved"); });
    CHECK_MESSAGE((contains(error, "rank 1: ") && contains(error, "custom_checkpoint_0.pkl: no")), error);
    CHECK(torch::equal(run.net->parameters()[0], before));
    CHECK(torch::equal(at::detail::getDefaultCPUGenerator().get_state(), random));
    CHECK(run.loader.state_dict().batches_seen == 1);
    counter.refuses = false;
    run.accelerator.load_state(directory.path() / "saved");
    CHECK_FALSE(torch::equal(run.net->parameters()[0], before));
  });
}

TEST_CASE("a checkpoint that another one takes the place of while it is loaded is refused") {
  TemporaryDirectory directory;
  TrainingRun run;
  const auto saved = directory.path() / "saved";
  run.accelerator.save_state(saved);
  run.train_steps(1);
  run.accelerator.save_state(directory.path() / "other");
  const auto before = run.net->parameters()[0].clone();
  auto hook = run.accelerator.register_load_state_pre_hook([&](checkpoint::Models&, const fs::path&) {
    fs::remove_all(saved);
    fs::rename(directory.path() / "other", saved);
  });
  run.train_steps(1);
  const auto error = failure_of([&] { run.accelerator.load_state(saved); });
  CHECK_MESSAGE(contains(error, "saved: another job saved here while this one was loading"), error);
  hook.remove();
  run.accelerator.load_state(saved);
  CHECK(torch::equal(run.net->parameters()[0], before));
}

TEST_CASE("the checkpoint of another program is refused with all that differs, and nothing is changed") {
  TemporaryDirectory directory;
  const auto saved = directory.path() / "saved";
  {
    TrainingRun run({.num_hidden = 8});
    run.train_steps(1);
    run.accelerator.save_state(saved);
  }
  TrainingRun run({.seed = 3, .num_hidden = 5});
  const auto before = run.net->parameters()[0].clone();
  auto error = failure_of([&] { run.accelerator.load_state(saved); });
  for (auto part : {"model.safetensors", "0.weight: [8, 4] in the file, [5, 4] in the model", "4.weight",
                    "1.running_var", "optimizer.bin"}) {
    CHECK_MESSAGE(contains(error, part), error);
  }
  CHECK(torch::equal(run.net->parameters()[0], before));
  CHECK(run.loader.state_dict().batches_seen == 0);

  TrainingRun more({.num_hidden = 8});
  Counter counter;
  more.accelerator.register_for_checkpointing(counter);
  torch::optim::SGD sgd(more.net->parameters(), torch::optim::SGDOptions(0.1));
  auto prepared = more.accelerator.prepare(sgd);
  error = failure_of([&] { more.accelerator.load_state(saved); });
  CHECK_MESSAGE(contains(error, "has 1 optimizers; the program has 2"), error);
  CHECK_MESSAGE(contains(error, "has 0 registered objects; the program has 1"), error);

  Accelerator plain({.cpu = true});
  torch::nn::Sequential net{torch::nn::Linear(4, 8), torch::nn::Linear(8, 8), torch::nn::Linear(8, 3)};
  torch::optim::AdamW adamw(net->parameters(), 0.1);
  LambdaLR lambda_lr(adamw, [](int64_t) { return 1.0; });
  auto handles = plain.prepare(net, adamw, lambda_lr);
  error = failure_of([&] { plain.load_state(saved); });
  CHECK_MESSAGE(contains(error, "missing, only in the model (2):\n    2.weight\n    2.bias"), error);
  CHECK_MESSAGE(contains(error, "unexpected, only in the file (5):"), error);
  CHECK_MESSAGE(contains(error, "4.bias"), error);
  CHECK_MESSAGE(contains(error, "loop_state_0.bin: there are 1 data loaders; the program has prepared 0"), error);
}

TEST_CASE("tensors that the optimizer has are filled: loading takes no memory for others beside them") {
  TemporaryDirectory directory;
  TrainingRun run;
  run.train_steps(2);
  auto average_of = [&] {
    const auto& state = *run.optimizer.state().at(run.net->parameters()[0].unsafeGetTensorImpl());
    return static_cast<const torch::optim::AdamWParamState&>(state).exp_avg();
  };
  run.accelerator.save_state(directory.path() / "saved");
  const auto own = average_of();
  const auto saved = own.clone();
  run.train_steps(1);
  CHECK_FALSE(torch::equal(own, saved));
  run.accelerator.load_state(directory.path() / "saved");
  CHECK(average_of().is_same(own));
  CHECK(torch::equal(own, saved));
}

TEST_CASE("damage is found before anything is loaded") {
  TemporaryDirectory directory;
  const auto saved = directory.path() / "saved";
  TrainingRun run;
  run.accelerator.save_state(saved);
  SUBCASE("a flipped bit") {
    auto text = directory.read("saved/optimizer.bin");
    text[text.size() / 2] ^= 4;
    directory.write("saved/optimizer.bin", text);
    const auto error = failure_of([&] { run.accelerator.load_state(saved); });
    CHECK_MESSAGE(contains(error, "optimizer.bin"), error);
  }
  SUBCASE("a flipped bit, in a folder without a manifest") {
    run.train_steps(2);
    run.accelerator.save_state(saved);
    fs::remove(saved / "manifest.json");
    auto text = directory.read("saved/optimizer.bin");
    const std::string entry = "optimizer/data/1";
    text[(text.find(entry) + entry.size() + 4 + 63) / 64 * 64] ^= 4;  // its bytes begin at a multiple of 64
    directory.write("saved/optimizer.bin", text);
    run.train_steps(1);
    const auto before = run.net->parameters()[0].clone();
    const auto error = failure_of([&] { run.accelerator.load_state(saved); });
    CHECK_MESSAGE(contains(error, "optimizer.bin: the checksum of optimizer/data/1 is wrong"), error);
    CHECK(torch::equal(run.net->parameters()[0], before));
  }
  SUBCASE("random numbers that are none, in a folder without a manifest") {
    fs::remove(saved / "manifest.json");
    auto states = tensors::load_torch_file(saved / "random_states_0.pkl");
    for (auto& [key, value] : states.entries()) {
      if (key.text() == "torch_manual_seed") value = torch::zeros({16}, torch::kByte);
    }
    tensors::save_torch_file(states, saved / "random_states_0.pkl");
    const auto error = failure_of([&] { run.accelerator.load_state(saved); });
    CHECK_MESSAGE(contains(error, "random_states_0.pkl: 'torch_manual_seed' is not the state of a generator"), error);
  }
  SUBCASE("the state of a shuffle that is none, in a folder without a manifest") {
    run.train_steps(1);
    run.accelerator.save_state(saved);
    fs::remove(saved / "manifest.json");
    auto state = tensors::load_torch_file(saved / "loop_state_0.bin");
    for (auto& [key, value] : state.entries()) {
      if (key.text() != "loaders") continue;
      for (auto& [name, part] : value.items()[0].entries()) {
        if (name.text() == "generator_state") part = torch::zeros({16}, torch::kByte);
      }
    }
    tensors::save_torch_file(state, saved / "loop_state_0.bin");
    run.train_steps(1);
    const auto before = run.net->parameters()[0].clone();
    const auto error = failure_of([&] { run.accelerator.load_state(saved); });
    CHECK_MESSAGE(contains(error, "loop_state_0.bin: 'generator_state' is not the state of a generator"), error);
    CHECK(torch::equal(run.net->parameters()[0], before));
  }
  SUBCASE("a missing file, in a folder without a manifest") {
    fs::remove(saved / "manifest.json");
    fs::remove(saved / "scheduler.bin");
    const auto error = failure_of([&] { run.accelerator.load_state(saved); });
    CHECK_MESSAGE(contains(error, "has 0 schedulers; the program has 1"), error);
  }
}

TEST_CASE("an error on one rank is thrown on all with the same words, and what was saved before stays") {
  TemporaryDirectory directory;
  const auto saved = (directory.path() / "saved").string();
  run_ranks(2, [&](comm::Group& group) {
    TrainingRun run;
    run.accelerator.save_state(saved);
    auto hook = run.accelerator.register_save_state_pre_hook(
        [&](checkpoint::Models&, std::vector<StateDict>&, const fs::path&) {
          if (group.rank() == 1) fail("the disk of this rank is on fire");
        });
    CHECK(failure_of([&] { run.accelerator.save_state(saved); }) == "rank 1: the disk of this rank is on fire");
    hook.remove();
    run.accelerator.load_state(saved);
    run.accelerator.save_state(saved);
  });
  CHECK(names_in(directory.path()) == std::set<std::string>{"saved"});
}

TEST_CASE("whatever a hook throws on one rank is an error on all, be it without a message or no exception at all") {
  TemporaryDirectory directory;
  const auto saved = directory.path() / "saved";
  run_ranks(2, [&](comm::Group& group) {
    TrainingRun run;
    for (bool is_exception : {true, false}) {
      auto hook = run.accelerator.register_save_state_pre_hook(
          [&](checkpoint::Models&, std::vector<StateDict>&, const fs::path&) {
            if (group.rank() == 0) return;
            if (is_exception) throw std::runtime_error("");
            throw 7;
          });
      CHECK(failure_of([&] { run.accelerator.save_state(saved); }) ==
            (is_exception ? "rank 1: an exception without a message was thrown"
                          : "rank 1: something was thrown that is not a std::exception"));
      hook.remove();
    }
  });
  CHECK_FALSE(fs::exists(saved));
}

TEST_CASE("a save in the background that fails is an error of the next call, on every rank") {
  TemporaryDirectory directory;
  run_ranks(2, [&](comm::Group& group) {
    TrainingRun run;
    fs::path stage;
    run.accelerator.register_save_state_pre_hook(
        [&](checkpoint::Models&, std::vector<StateDict>&, const fs::path& path) {
          if (group.rank() == 0) fs::create_directories(path / "model.safetensors");  // no file can have that name now
        });
    run.accelerator.save_state(directory.path() / "saved", {.async = true});
    const auto error = failure_of([&] { run.accelerator.save_state(directory.path() / "other"); });
    CHECK_MESSAGE(contains(error, "the background save of a checkpoint failed: rank 0: "), error);
  });
  CHECK_FALSE(fs::exists(directory.path() / "saved"));
}

}  // namespace accelerate::tests
