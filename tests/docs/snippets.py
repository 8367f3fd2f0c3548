"""Makes C++ programs of the documents, so that what they show is compiled as it stands there.

    snippets.py programs PAGE.md FOLDER         FOLDER/<page>_<n>.cpp for each program on the page
    snippets.py table PAGE.md OUTPUT.cpp        one statement for each cell of the columns headed C++
    snippets.py fragments PAGE.md OUTPUT.cpp    one function with all fragments of code on the page
    snippets.py translation PAGE.md OTHER.md    fails unless both pages have the same code
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# What the table's cells may use.
OBJECTS = """
#include <accelerate/accelerate.h>
#include <transformers/transformers.h>

using namespace accelerate;
using namespace transformers;

void all_calls(Accelerator& accelerator, torch::optim::AdamW& adamw, AutoModelForSequenceClassification& net,
               TokenizedDataset& train_dataset, TextDataset& train_texts, AutoTokenizer& tokenizer,
               LRScheduler& scheduler, DataCollatorWithPadding& collate, Batch& batch) {
  std::string checkpoint;
  std::vector<std::string> texts;
  int64_t num_training_steps = 100;
  torch::Tensor loss, logits, predictions, labels;
  transformers::SequenceClassifierOutput outputs;
  accelerate::DataLoader train_batches(train_dataset, {.collate = collate});
  auto train = accelerator.prepare(train_batches);
  auto model = accelerator.prepare(net);
  auto optimizer = accelerator.prepare(adamw);
"""


# What the fragments of the quick tour may use.
LOOP = """
#include <accelerate/accelerate.h>

struct Metric {
  void add(const torch::Tensor& predictions, const torch::Tensor& references) {}
};
inline void write_report() {}
inline void load_or_download() {}

using Pair = std::pair<torch::Tensor, torch::Tensor>;
"""
LOOP_FUNCTION = """
torch::Tensor loss_of(const accelerate::Model<torch::nn::LinearImpl>& model, const Pair& batch) {
  return torch::nn::functional::cross_entropy(model(batch.first), batch.second);
}

void all_fragments(accelerate::Accelerator& accelerator, accelerate::PreparedDataLoader<Pair>& train,
                   accelerate::PreparedDataLoader<Pair>& eval, const accelerate::Model<torch::nn::LinearImpl>& model,
                   accelerate::Optimizer& optimizer, Metric& metric) {
"""


def programs(page):
    """The programs on a page. A block that begins with an include begins one; the following blocks go into its main."""
    result = []
    for language, code in BLOCK.findall(page):
        if language != "cpp":
            continue
        if code.startswith("#include"):
            result.append([code])
        else:
            result[-1].append(code)
    return [parts[0] if len(parts) == 1 else f"{parts[0]}\n#include <iostream>\n\nint main() {{\n{''.join(parts[1:])}}}\n"
            for parts in result]


def changes(page):
    """The lines that the page's diffs take away and put in."""
    lines = [line for language, code in BLOCK.findall(page) if language == "diff" for line in code.splitlines()]
    return [line[1:] for line in lines if line[0] == "-"], [line[1:] for line in lines if line[0] == "+"]


def write_programs(path, folder):
    page = path.read_text()
    found = programs(page)
    removed, added = changes(page)
    for line, program in [(line, found[0]) for line in removed] + [(line, found[1]) for line in added]:
        if line.strip() not in program:
            sys.exit(f"{path}: the diff has '{line}', which is not in the program it belongs to")
    for number, program in enumerate(found, start=1):
        (folder / f"{path.stem}_{number}.cpp").write_text(program)


def cells(page):
    """The code of the second column of every table whose second column is headed C++."""
    rows = re.findall(r"^\| (.*) \| (.*) \|$", page, re.MULTILINE)
    return [right.strip("`") for left, right in rows if right != "C++"]


def write_table(path, output):
    statements = cells(path.read_text())
    body = "".join(f"  [[maybe_unused]] auto call_{i} = [&] {{ {code}; }};\n" for i, code in enumerate(statements))
    output.write_text(f"{OBJECTS}{body}}}\n")


def write_fragments(path, output):
    blocks = [code for language, code in BLOCK.findall(path.read_text()) if language == "cpp"]
    types = [code for code in blocks if code.startswith("struct ")]
    body = "".join(f"  {{\n{code}  }}\n" for code in blocks if code not in types)
    output.write_text(f"{LOOP}{''.join(types)}{LOOP_FUNCTION}{body}}}\n")


def check_translation(page, other):
    blocks, other_blocks = (BLOCK.findall(path.read_text()) for path in (page, other))
    if blocks != other_blocks:
        different = next((b for a, b in zip(blocks, other_blocks) if a != b), "the number of blocks")
        sys.exit(f"{other} does not have the code of {page}: {different}")


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    commands = {"programs": write_programs, "table": write_table, "fragments": write_fragments, "translation": check_translation}
    commands[command](*map(pathlib.Path, paths))
