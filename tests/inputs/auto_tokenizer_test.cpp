#include "transformers/inputs/auto_tokenizer.h"
#include "tests/support/torch.h"

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "tests/inputs/checkpoint.h"
#include "tests/parity/recorded.h"
#include "transformers/inputs/data_collator.h"
#include "transformers/inputs/tokenizer_config.h"

using accelerate::Batch;
using accelerate::Error;
using accelerate::tests::as_json;
using accelerate::tests::Checkpoint;
using accelerate::tests::json;
using accelerate::tests::recorded;
using namespace transformers;

namespace {

Padding padding_of(const json& options, Padding fallback) {
  const auto padding = options.value("padding", "");
  return padding == "longest" ? Padding::Longest : padding == "max_length" ? Padding::MaxLength : fallback;
}

TokenizeOptions options_of(const json& options) {
  TokenizeOptions result{.padding = padding_of(options, Padding::No),
                         .truncation = options.value("truncation", false),
                         .pad_to_multiple_of = options.value("pad_to_multiple_of", 0),
                         .add_special_tokens = options.value("add_special_tokens", true)};
  if (options.contains("max_length")) result.max_length = options.at("max_length").get<int64_t>();
  return result;
}

json as_json(const Batch& batch) {
  auto object = json::object();
  for (const auto& [name, tensor] : batch) {
    CHECK((tensor.scalar_type() == at::kLong));
    object[name] = accelerate::tests::as_json(tensor);
  }
  return object;
}

/// The files of a recorded tokenizer, with one of them changed.
json changed(const std::string& checkpoint, const std::string& file, const std::string& content) {
  auto files = recorded("tokenizer_inputs").at("checkpoints").at(checkpoint).at("files");
  files[file] = content;
  return files;
}

}  // namespace

TEST_CASE("a tokenizer gives the inputs that Python's gives, for every call") {
  const auto reference = recorded("tokenizer_inputs");
  const std::vector<std::string> texts = reference.at("texts");
  const std::vector<std::pair<std::string, std::string>> pairs = reference.at("pairs");
  for (const auto& [name, checkpoint] : reference.at("checkpoints").items()) {
    Checkpoint files(checkpoint.at("files"));
    const auto tokenizer = AutoTokenizer::from_pretrained(files.name());
    for (const auto& call : checkpoint.at("calls")) {
      CAPTURE(name);
      CAPTURE(call.at("options").dump());
      const auto options = options_of(call.at("options"));
      for (size_t i = 0; i < texts.size(); ++i) CHECK(as_json(tokenizer(texts[i], options)) == call.at("single")[i]);
      for (size_t i = 0; i < pairs.size(); ++i) {
        CHECK(as_json(tokenizer(pairs[i].first, pairs[i].second, options)) == call.at("pairs")[i]);
      }
      if (call.at("batch").is_null()) continue;
      CHECK(as_json(tokenizer(texts, options)) == call.at("batch"));
      CHECK(as_json(tokenizer(pairs, options)) == call.at("batch_of_pairs"));
    }
    for (size_t i = 0; i < texts.size(); ++i) {
      CHECK(tokenizer.decode(tokenizer(texts[i]).at("input_ids")) == checkpoint.at("decoded")[i]);
    }
  }
}

TEST_CASE("names of the inputs keep the order in which Python gives them") {
  Checkpoint bert(recorded("tokenizer_inputs").at("checkpoints").at("bert").at("files"));
  CHECK(AutoTokenizer::from_pretrained(bert.name())("a film").names() ==
        std::vector<std::string>{"input_ids", "token_type_ids", "attention_mask"});
  Checkpoint deberta(changed("bert", "tokenizer_config.json", R"({"tokenizer_class": "DebertaV2TokenizerFast"})"));
  CHECK(AutoTokenizer::from_pretrained(deberta.name()).model_input_names() ==
        std::vector<std::string>{"input_ids", "attention_mask", "token_type_ids"});
  Checkpoint listed(changed("bert", "tokenizer_config.json", R"({"model_input_names": ["input_ids"]})"));
  CHECK(AutoTokenizer::from_pretrained(listed.name())("a film").names() == std::vector<std::string>{"input_ids"});
}

TEST_CASE("special tokens, inputs and sides that the files leave out are those of Python's class") {
  for (const auto& [name, checkpoint] : recorded("tokenizer_inputs").at("defaults").items()) {
    CAPTURE(name);
    Checkpoint files(checkpoint.at("files"));
    const auto tokenizer = Tokenizer::from_file(files.path() / "tokenizer.json");
    const auto config = inputs::read_tokenizer_config(files.path(), tokenizer);
    const auto& tokens = config.special_tokens;
    auto or_null = [](const std::optional<std::string>& token) { return token ? json(*token) : json(); };
    CHECK(json{{"pad_token", or_null(tokens.pad_token)},
               {"unk_token", or_null(tokens.unk_token)},
               {"cls_token", or_null(tokens.cls_token)},
               {"sep_token", or_null(tokens.sep_token)},
               {"mask_token", or_null(tokens.mask_token)},
               {"bos_token", or_null(tokens.bos_token)},
               {"eos_token", or_null(tokens.eos_token)}} == checkpoint.at("tokens"));
    CHECK(config.model_input_names == checkpoint.at("model_input_names"));
    CHECK((config.padding_side == tokenizers::Direction::Left) == (checkpoint.at("padding_side") == "left"));
    CHECK((config.truncation_side == tokenizers::Direction::Left) == (checkpoint.at("truncation_side") == "left"));
  }
}

TEST_CASE("a decoder's tokenizer pads with the token that it is given") {
  Checkpoint files(recorded("tokenizer_inputs").at("defaults").at("gpt2").at("files"));
  auto tokenizer = AutoTokenizer::from_pretrained(files.name());
  const std::vector<std::string> texts{"a", "aa"};
  CHECK_THROWS_WITH_AS(tokenizer(texts, {.padding = Padding::Longest}),
                       "the tokenizer has no padding token; set one with set_pad_token, for example '<|endoftext|>'",
                       Error);
  CHECK_THROWS_WITH_AS(tokenizer.set_pad_token("<none>"),
                       "set_pad_token: '<none>' is not in the vocabulary of the tokenizer", Error);
  tokenizer.set_pad_token(*tokenizer.special_tokens().eos_token);
  CHECK(tokenizer.pad_token().id == 10);
  CHECK(as_json(tokenizer(texts, {.padding = Padding::Longest}).at("input_ids")) == json{{11, 10}, {11, 11}});
}

TEST_CASE("a model takes as many tokens as it has positions, where the tokenizer does not say fewer") {
  auto max_length = [](const std::string& model, const std::string& config) {
    auto files = changed("bert", "tokenizer_config.json", config);
    files["config.json"] = model;
    return AutoTokenizer::from_pretrained(Checkpoint(files).name()).model_max_length().value_or(-1);
  };
  CHECK(max_length(R"({"model_type": "bert", "max_position_embeddings": 40})", "{}") == 40);
  CHECK(max_length(R"({"model_type": "bert", "max_position_embeddings": 40})", R"({"model_max_length": 30})") == 30);
  CHECK(max_length(R"({"model_type": "bert", "max_position_embeddings": 40})", R"({"model_max_length": 50})") == 40);
  CHECK(max_length(R"({"model_type": "bert", "max_position_embeddings": 40})", R"({"model_max_length": 1e30})") == 40);
  CHECK(max_length(R"({"model_type": "roberta", "max_position_embeddings": 514})", "{}") == 512);
  CHECK(max_length(R"({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 0})", "{}") == 513);
  CHECK(max_length(R"({"model_type": "mpnet", "max_position_embeddings": 514})", "{}") == 512);
  CHECK(max_length(R"({"model_type": "mpnet", "max_position_embeddings": 514, "pad_token_id": 0})", "{}") == 512);
  CHECK(max_length(R"({"model_type": "deberta-v2", "max_position_embeddings": 40})", "{}") == 40);
  CHECK(max_length(R"({"model_type": "deberta-v2", "max_position_embeddings": 40, "position_biased_input": false})",
                   "{}") == -1);
  CHECK(max_length(R"({"model_type": "bert"})", "{}") == 512);
  CHECK(max_length(R"({"model_type": "roberta"})", "{}") == 510);
  CHECK(max_length(R"({"model_type": "gpt2"})", "{}") == 1024);
  CHECK(max_length(R"({"model_type": "gpt2", "n_positions": 1024})", "{}") == 1024);
  CHECK(max_length(R"({"model_type": "llama", "max_position_embeddings": 40})", "{}") == -1);
  CHECK(max_length(R"({"model_type": "bert", "max_position_embeddings": "many"})", "{}") == -1);
}

TEST_CASE("a max_length beyond the positions of the model is refused for rows of a streamed data set too") {
  auto files = changed("bert", "config.json", R"({"model_type": "bert", "max_position_embeddings": 6})");
  const auto tokenizer = AutoTokenizer::from_pretrained(Checkpoint(files).name());
  const std::vector<LabelledText> rows{{.text = "a", .label = 1}};
  CHECK(tokenizer(rows, {.truncation = true, .max_length = 6}).at("input_ids").size(1) == 3);
  CHECK_THROWS_WITH_AS(
      tokenizer(rows, {.truncation = true, .max_length = 7}),
      "max_length is 7, but the model has 6 positions according to its config.json; use at most that many", Error);
}

TEST_CASE("a vocab.txt that is not BERT's is refused, and so are tokens that were added to it") {
  auto refusal = [](const std::string& file, const std::string& content) -> std::string {
    Checkpoint files(changed("vocab", file, content));
    try {
      AutoTokenizer::from_pretrained(files.name());
    } catch (const Error& error) {
      return std::string(error.what()).substr(files.name().size() + 1);
    }
    return "";
  };
  CHECK(refusal("tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})") ==
        "vocab.txt: BertJapaneseTokenizer does not use this file as BERT does; it needs a tokenizer.json");
  CHECK(refusal("tokenizer_config.json", R"({"tokenizer_class": "MPNetTokenizer"})").starts_with("vocab.txt: MPNet"));
  CHECK(refusal("tokenizer_config.json", R"({"tokenizer_class": "ElectraTokenizerFast"})") == "");
  CHECK(refusal("tokenizer_config.json", "{}") == "");

  auto files = changed("vocab", "tokenizer_config.json", "{}");
  files["config.json"] = R"({"model_type": "splinter"})";
  CHECK_THROWS_WITH_AS(AutoTokenizer::from_pretrained(Checkpoint(files).name()),
                       doctest::Contains("a model of type splinter does not use this file as BERT does"), Error);
  files["config.json"] = R"({"model_type": "mobilebert"})";
  CHECK_NOTHROW(AutoTokenizer::from_pretrained(Checkpoint(files).name()));

  CHECK(refusal("added_tokens.json", R"({"[MASK]": 4, "<user>": 19})") ==
        "added_tokens.json: the token '<user>' was added to vocab.txt; Python's save_pretrained writes a "
        "tokenizer.json with it");
  CHECK(refusal("tokenizer_config.json", R"({"added_tokens_decoder": {"0": {"content": "[PAD]"}}})") == "");
  CHECK(refusal("tokenizer_config.json", R"({"added_tokens_decoder": {"19": {"content": "<user>"}}})")
            .starts_with("tokenizer_config.json: the token '<user>' was added"));
}

TEST_CASE("the collator makes the batches that Python's makes, and renames label to labels") {
  const auto reference = recorded("tokenizer_inputs");
  for (const auto& [name, checkpoint] : reference.at("checkpoints").items()) {
    Checkpoint files(checkpoint.at("files"));
    const auto tokenizer = AutoTokenizer::from_pretrained(files.name());
    for (const auto& collated : checkpoint.at("collated")) {
      CAPTURE(name);
      const auto& options = collated.at("options");
      PadOptions pad_options{.padding = padding_of(options, Padding::Longest),
                             .pad_to_multiple_of = options.value("pad_to_multiple_of", 0)};
      if (options.contains("max_length")) pad_options.max_length = options.at("max_length").get<int64_t>();
      std::vector<Batch> rows;
      for (const std::string text : reference.at("texts")) {
        rows.push_back(tokenizer(text));
        rows.back()["label"] = torch::tensor(static_cast<int64_t>(rows.size() - 1) % 3);
      }
      CHECK(as_json(DataCollatorWithPadding(tokenizer, pad_options)(rows)) == collated.at("batch"));
    }
  }
}

TEST_CASE("a missing attention mask is made, and what is no sequence of tokens is stacked") {
  Checkpoint files(recorded("tokenizer_inputs").at("checkpoints").at("left").at("files"));
  DataCollatorWithPadding collate(AutoTokenizer::from_pretrained(files.name()));
  auto batch = collate({{{"input_ids", torch::tensor({7, 8})}, {"weight", torch::tensor(0.5)}},
                        {{"input_ids", torch::tensor({9})}, {"weight", torch::tensor(1.5)}}});
  CHECK(as_json(batch.at("attention_mask")) == json{{1, 1}, {0, 1}});
  CHECK(as_json(batch.at("input_ids")) == json{{7, 8}, {4, 9}});
  CHECK(as_json(batch.at("weight")) == json{0.5, 1.5});
}

TEST_CASE("rows of a data set are tokenised with their labels, as texts or as pairs") {
  Checkpoint files(recorded("tokenizer_inputs").at("checkpoints").at("bert").at("files"));
  const auto tokenizer = AutoTokenizer::from_pretrained(files.name());
  const std::vector<LabelledText> pairs{{.text = "a film", .text_pair = "good", .label = 1},
                                        {.text = "bad", .text_pair = "the end", .label = 0}};
  auto batch = tokenizer(pairs, {.padding = Padding::Longest});
  CHECK(as_json(batch.at("labels")) == json{1, 0});
  CHECK(as_json(batch.at("input_ids")[1]) == as_json(tokenizer("bad", "the end").at("input_ids")));
  const std::vector<LabelledText> mixed{pairs[0], {.text = "bad", .label = 0}};
  CHECK_THROWS_WITH_AS(tokenizer(mixed), "some rows are pairs of texts and others are not", Error);
}

TEST_CASE("mistakes with tokenizers say what to do") {
  const auto files = recorded("tokenizer_inputs").at("checkpoints").at("bert").at("files");
  Checkpoint good(files);
  const auto tokenizer = AutoTokenizer::from_pretrained(good.name());
  CHECK_THROWS_WITH_AS(tokenizer(std::vector<std::string>{"a", "a film"}),
                       doctest::Contains("use padding to put them into one batch"), Error);
  CHECK_THROWS_WITH_AS(tokenizer("a", {.max_length = 0}), "max_length is 0; it must be positive", Error);
  CHECK_THROWS_WITH_AS(tokenizer("a\xFF"), doctest::Contains("not UTF-8"), Error);
  CHECK_THROWS_WITH_AS(tokenizer.decode(torch::ones({1, 2})), doctest::Contains("give the ids of one text"), Error);
  CHECK_THROWS_WITH_AS(tokenizer.decode(torch::tensor({5, -100})),
                       "decode: -100 is not the id of a token; replace such numbers first", Error);
  CHECK_THROWS_WITH_AS(tokenizer.decode(torch::tensor({int64_t{1} << 32})), doctest::Contains("not the id"), Error);
  const DataCollatorWithPadding collate(tokenizer);
  CHECK_THROWS_WITH_AS(collate({}), "pad: there are no rows", Error);

  Checkpoint empty(json::object());
  CHECK_THROWS_WITH_AS(AutoTokenizer::from_pretrained(empty.name()),
                       doctest::Contains("there is neither a tokenizer.json nor a vocab.txt"), Error);
  for (const auto& [config, message] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "tokenizer_config.json: this is not a JSON object"},
           {"{", "tokenizer_config.json: this is not a JSON object"},
           {R"({"padding_side": "top"})", "padding_side is \"top\"; it can be left or right"},
           {R"({"model_input_names": ["input_ids", 3]})", "it must be a list of strings"},
           {R"({"model_max_length": -1})", "model_max_length is -1; it must be a positive number"},
           {R"({"pad_token": 3})", "pad_token must be a string"}}) {
    Checkpoint broken(changed("bert", "tokenizer_config.json", config));
    CHECK_THROWS_WITH_AS(AutoTokenizer::from_pretrained(broken.name()), doctest::Contains(message.c_str()), Error);
  }
  Checkpoint unknown(changed("bert", "tokenizer_config.json", R"({"pad_token": "<none>"})"));
  CHECK_THROWS_WITH_AS(AutoTokenizer::from_pretrained(unknown.name()).pad_token(),
                       "the pad_token '<none>' is not in the vocabulary of the tokenizer", Error);
}
