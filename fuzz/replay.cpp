// Feeds a fuzz target with the files of a directory and with mutations of them, the same in each run.
//
//   replay_<target> DIRECTORY

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

/// Up to four changes: a byte, a number at the limit of its type, a piece that is missing or occurs again.
std::string mutate(std::string input, std::mt19937& random) {
  static const std::vector<std::string> kNumbers = {std::string(8, '\xff'), std::string(7, '\xff') + '\x7f',
                                                    std::string(8, '\0'), std::string(4, '\xff')};
  for (auto changes = random() % 4 + 1; changes > 0 && !input.empty(); --changes) {
    auto position = random() % input.size();
    auto length = std::min<size_t>(random() % 32 + 1, input.size() - position);
    switch (random() % 5) {
      case 0:
        input[position] = static_cast<char>(random());
        break;
      case 1:
        input[position] = static_cast<char>(input[position] ^ 1 << random() % 8);
        break;
      case 2: {
        const auto& number = kNumbers[random() % kNumbers.size()];
        input.replace(position, std::min(number.size(), input.size() - position), number);
        break;
      }
      case 3:
        input.erase(position, length);
        break;
      default:
        input.insert(random() % input.size(), input.substr(position, length));
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: replay DIRECTORY\n", stderr), 2;
  const int rounds = std::getenv("ACCELERATE_TEST_FULL") ? 20'000 : 3'000;
  std::mt19937 random(1);
  int num_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::string input(std::istreambuf_iterator<char>(file), {});
    run(input);
    for (int round = 0; round < rounds; ++round) run(mutate(input, random));
    ++num_files;
  }
  std::printf("%d files, each with %d mutations\n", num_files, rounds);
  return num_files == 0;
}
