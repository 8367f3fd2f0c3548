// Inference on any number of processes, without a training loop: which of 1,000 reviews of films are nearest to a
// question? Each process embeds its share of the texts, and the results come back in the order of the texts. Look for
// `split_between_processes` and `gather`.
//
//   build/bin/distributed_inference                                                      one process
//   build/bin/accelerate launch --num_processes 2 build/bin/distributed_inference        two
//
// Expect the same three reviews from any number of processes.

#include <accelerate/accelerate.h>
#include <transformers/transformers.h>

#include "examples/support/text_classification.h"

using namespace transformers;

/// One vector of length 1 for each text: the mean over its tokens, as MiniLM was trained.
torch::Tensor embed(AutoModel& net, const accelerate::Batch& batch) {
  auto mask = batch.at("attention_mask").unsqueeze(-1).to(torch::kFloat);
  auto sum = (net(batch).last_hidden_state * mask).sum(1);
  return torch::nn::functional::normalize(sum / mask.sum(1));
}

int main(int argc, char** argv) {
  const auto args = examples::parse_text_arguments(argc, argv, "Finds the texts that are nearest to a question.");
  const std::string question = "a film about the friendship of an animal and a child";
  const TokenizeOptions options{.padding = Padding::Longest, .truncation = true, .max_length = args.max_length};
  accelerate::Accelerator accelerator;
  torch::NoGradGuard no_grad;

  auto tokenizer = AutoTokenizer::from_pretrained(args.checkpoint);
  auto net = AutoModel::from_pretrained(args.checkpoint);
  net->to(accelerator.device());

  std::vector<std::string> texts;
  for (const auto& row : TextDataset(args.eval.file, {.max_rows = args.eval.num_rows})) texts.push_back(row.text);

  // Shares may differ by one text in length; `gather` joins them all the same.
  const auto share = accelerator.split_between_processes(texts);
  std::vector<torch::Tensor> embedded;
  accelerate::ProgressBar progress_bar(static_cast<int64_t>(share.size()), {.description = "embedding"});
  for (size_t begin = 0; begin < share.size(); begin += args.eval.batch_size) {
    const auto end = std::min(share.size(), begin + args.eval.batch_size);
    const std::vector<std::string> part(share.begin() + begin, share.begin() + end);
    embedded.push_back(embed(net, accelerate::send_to_device(tokenizer(part, options), accelerator.device())));
    progress_bar.update(static_cast<int64_t>(part.size()));
  }
  progress_bar.close();
  auto embeddings = accelerator.gather(torch::cat(embedded));  // in the order of the texts

  auto asked = embed(net, accelerate::send_to_device(tokenizer(std::vector{question}, options), accelerator.device()));
  auto [scores, nearest] = torch::mv(embeddings, asked[0]).topk(3);
  accelerator.print("nearest to:", question);
  for (int64_t i = 0; i < 3; ++i) {
    accelerator.print(scores[i].item<float>(), texts[nearest[i].item<int64_t>()]);
  }
  accelerator.end_training();
}
