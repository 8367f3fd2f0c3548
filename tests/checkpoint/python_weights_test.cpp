// Weights as Python programs save them, loaded by load_checkpoint_in_model.

#include <doctest/doctest.h>

#include "accelerate/accelerate.h"
#include "tests/support/failure_of.h"
#include "tests/support/hang_limit.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torch.h"

using namespace accelerate;
using namespace accelerate::tests;

namespace {

namespace fs = std::filesystem;

/// What python_weights.py writes, once for all tests here.
const fs::path& python_weights() {
  static TemporaryDirectory directory;
  static const fs::path path = [] {
    Program program({ACCELERATE_SOURCE_DIR "/.venv/bin/python",
                     ACCELERATE_SOURCE_DIR "/tests/checkpoint/python_weights.py", directory.path().string()});
    const int exit_code = program.wait(tests::hang_limit(std::chrono::minutes(4)));
    INFO(program.errors());
    REQUIRE(exit_code == 0);
    return directory.path();
  }();
  return path;
}

torch::nn::Sequential small_net() { return torch::nn::Sequential(torch::nn::Linear(3, 2), torch::nn::BatchNorm1d(2)); }

}  // namespace

TEST_CASE("weights load from files of any name, nested as training scripts nest them, and with a wrapper's prefix") {
  auto expected = small_net();
  load_checkpoint_in_model(expected, python_weights() / "expected.safetensors", {.strict = true});
  for (const char* file :
       {"plain.bin", "plain.pt", "plain.pth", "plain.ckpt", "plain", "legacy.pth", "safe.pt", "misnamed.safetensors",
        "nested_state_dict.ckpt", "nested_model.pth", "nested_model_state_dict.pt", "nested_twice.pt", "wrapped.pth",
        "nested_wrapped.ckpt", "compiled.pt", "wrapped.safetensors"}) {
    CAPTURE(file);
    auto net = small_net();
    const auto keys = load_checkpoint_in_model(net, python_weights() / file, {.strict = true});
    CHECK(keys.missing_keys.empty());
    for (const auto& item : expected->named_parameters()) {
      CHECK(torch::equal(net->named_parameters()[item.key()], item.value()));
    }
  }
}

TEST_CASE("a prefix stays where the model has it too") {
  struct WrapperImpl : torch::nn::Module {
    WrapperImpl() { register_module("module", net); }
    torch::nn::Sequential net = small_net();
  };
  auto wrapper = std::make_shared<WrapperImpl>();
  const auto keys = load_checkpoint_in_model(wrapper, python_weights() / "wrapped.pth", {.strict = true});
  CHECK(keys.missing_keys.empty());
}

TEST_CASE("what holds no weights is refused with the file and the reason") {
  for (const auto& [file, reason] : std::vector<std::pair<std::string, std::string>>{
           {"whole_model.pt", "Net"},
           {"with_arguments.pt", "Namespace"},
           {"without_weights.pt", "no dict of weights under 'state_dict', 'model_state_dict' or 'model'"},
           {"list.pt", "contains a list"},
           {"script.pt", "torch::load"},
           {"text.pth", "torch.save did not write this file"},
           {"empty.ckpt", "torch.save did not write this file"}}) {
    const auto error = failure_of([&] { load_checkpoint_in_model(small_net(), python_weights() / file); });
    CHECK_MESSAGE(error.find(file) != error.npos, error);
    CHECK_MESSAGE(error.find(reason) != error.npos, error);
  }
}
