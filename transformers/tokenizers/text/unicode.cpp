#include "transformers/tokenizers/text/unicode.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <span>

namespace transformers::tokenizers {

namespace {

#include "transformers/tokenizers/text/unicode_data.inc"

constexpr char32_t kCodePoints = 0x110000;
constexpr char32_t kFirstSyllable = 0xAC00, kSyllables = 11172;
constexpr char32_t kFirstLead = 0x1100, kLeads = 19, kFirstVowel = 0x1161, kVowels = 21, kFirstTail = 0x11A7,
                   kTails = 28;

// In the order of CATEGORIES in tools/make_unicode_tables.py.
constexpr std::string_view kCategoryNames[] = {"Cn", "Cc", "Cf", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu",
                                               "Mc", "Me", "Mn", "Nd", "Nl", "No", "Pc", "Pd", "Pe", "Pf",
                                               "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs"};

using Ranges = std::vector<std::pair<char32_t, char32_t>>;

/// The ranges of a set that is stored as lengths: of what is outside, inside, outside, ...
Ranges ranges_of(std::span<const uint32_t> lengths) {
  Ranges ranges;
  char32_t begin = 0;
  bool inside = false;
  for (uint32_t length : lengths) {
    if (inside) ranges.emplace_back(begin, begin + length - 1);
    begin += length;
    inside = !inside;
  }
  return ranges;
}

/// Calls `body(first, last, value)` for runs that are stored as pairs of length and value.
template <class Body>
void for_each_run(std::span<const uint32_t> runs, const Body& body) {
  char32_t begin = 0;
  for (size_t index = 0; index < runs.size(); index += 2) {
    body(begin, begin + runs[index] - 1, runs[index + 1]);
    begin += runs[index];
  }
}

CharacterMap expand_runs(std::span<const uint32_t> runs) {
  std::vector<uint16_t> values(kCodePoints);
  for_each_run(runs, [&](char32_t first, char32_t last, uint32_t value) {
    std::fill(values.begin() + first, values.begin() + last + 1, static_cast<uint16_t>(value));
  });
  return CharacterMap(values);
}

/// Entries that are stored as: distance to the one before, number of code points, the code points.
std::vector<std::pair<char32_t, std::u32string>> read_texts(std::span<const uint32_t> numbers) {
  std::vector<std::pair<char32_t, std::u32string>> texts;
  char32_t character = 0;
  for (size_t index = 0; index < numbers.size();) {
    character += numbers[index];
    size_t length = numbers[index + 1];
    auto text = numbers.subspan(index + 2, length);
    texts.emplace_back(character, std::u32string(text.begin(), text.end()));
    index += 2 + length;
  }
  return texts;
}

std::vector<std::pair<char32_t, std::u32string>> read_lower_case() {
  auto texts = read_texts(kLowerCaseTexts);
  std::span<const int32_t> numbers(kLowerCaseRuns);
  char32_t first = 0;
  for (size_t index = 0; index < numbers.size(); index += 4) {
    first += static_cast<char32_t>(numbers[index]);
    for (int32_t number = 0; number < numbers[index + 1]; ++number) {
      auto character = static_cast<char32_t>(static_cast<int32_t>(first) + number * numbers[index + 2]);
      auto lower = static_cast<char32_t>(static_cast<int32_t>(character) + numbers[index + 3]);
      texts.emplace_back(character, std::u32string(1, lower));
    }
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

CharacterMap index_texts(const std::vector<std::pair<char32_t, std::u32string>>& texts) {
  std::vector<uint16_t> index(kCodePoints);
  for (size_t entry = 0; entry < texts.size(); ++entry) index[texts[entry].first] = static_cast<uint16_t>(entry);
  return CharacterMap(index);
}

/// Entry 0 is the answer for characters without one.
std::vector<std::pair<char32_t, std::u32string>> after_empty(std::vector<std::pair<char32_t, std::u32string>> texts) {
  texts.insert(texts.begin(), {kCodePoints - 1, U""});
  return texts;
}

struct Composition {
  char32_t first, second, together;
};

/// Sorted by both parts.
std::span<const Composition> compositions() {
  static const std::vector<Composition> all = [] {
    std::vector<Composition> result;
    std::span<const uint32_t> numbers(kCompositions);
    for (size_t index = 0; index < numbers.size(); index += 3) {
      result.push_back({numbers[index], numbers[index + 1], numbers[index + 2]});
    }
    return result;
  }();
  return all;
}

CharacterMap make_properties() {
  std::vector<uint16_t> properties(kCodePoints);
  auto set = [&](const Ranges& ranges, Property property) {
    for (auto [first, last] : ranges) {
      for (char32_t character = first; character <= last; ++character) properties[character] |= property;
    }
  };
  for_each_run(kCategoryRuns, [&](char32_t first, char32_t last, uint32_t category) {
    char kind = kCategoryNames[category][0];
    if (kind == 'L') set({{first, last}}, kLetter);
    if (kind == 'N') set({{first, last}}, kNumber);
  });
  set({{0x9, 0xD}, {0x20, 0x20}, {0x85, 0x85}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A}}, kWhiteSpace);
  set({{0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}}, kWhiteSpace);
  set(ranges_of(kRemovedByCleanRuns), kRemovedByClean);
  set(ranges_of(kNonspacingMarkRuns), kNonspacingMark);
  set(ranges_of(kCombiningMarkRuns), kCombiningMark);
  set(ranges_of(kPunctuationRuns), kPunctuation);
  set(ranges_of(kNumericRuns), kNumeric);
  set(ranges_of(kWordCharacterRuns), kWordCharacter);
  for_each_run(kCombiningClassRuns, [&](char32_t first, char32_t last, uint32_t combining_class) {
    if (combining_class != 0) set({{first, last}}, static_cast<Property>(kReordered | kUnstable));
  });
  auto is_odd = [&](char32_t character) {
    return (properties[character] & (kReordered | kNonspacingMark)) == kReordered;
  };
  for (char32_t character = 0; character < kCodePoints; ++character) {
    if (is_odd(character)) properties[character] |= kOddMark;
  }
  for (const auto& [character, text] : read_texts(kCanonicalTexts)) {
    properties[character] |= kCanonical | kUnstable;
    if (std::any_of(text.begin(), text.end(), is_odd)) properties[character] |= kOddMark;
  }
  for (auto [first, second, together] : compositions()) properties[together] &= ~kUnstable;
  for (auto [first, second, together] : compositions()) properties[second] |= kUnstable;
  set({{kFirstVowel, kFirstVowel + kVowels - 1}, {kFirstTail + 1, kFirstTail + kTails - 1}}, kUnstable);
  set({{kFirstSyllable, kFirstSyllable + kSyllables - 1}}, kCanonical);
  for (const auto& [character, text] : read_texts(kCompatibleTexts)) properties[character] |= kCompatible;
  return CharacterMap(properties);
}

}  // namespace

CharacterMap::CharacterMap(const std::vector<uint16_t>& values) {
  for (size_t page = 0; page < pages_.size(); ++page) {
    auto begin = values.begin() + page * 256;
    bool as_before = page > 0 && std::equal(begin, begin + 256, values_.end() - 256);
    if (!as_before) values_.insert(values_.end(), begin, begin + 256);
    pages_[page] = static_cast<uint32_t>(values_.size() - 256);
  }
}

CharacterTexts::CharacterTexts(std::vector<std::pair<char32_t, std::u32string>> texts)
    : texts_(after_empty(std::move(texts))), index_(index_texts(texts_)) {}

const CharacterMap& character_properties() {
  static const CharacterMap properties = make_properties();
  return properties;
}

const CharacterMap& character_scripts() {
  static const CharacterMap scripts = expand_runs(kScriptRuns);
  return scripts;
}

const CharacterTexts& lower_case() {
  static const CharacterTexts texts(read_lower_case());
  return texts;
}

const CharacterTexts& canonical_decompositions() {
  static const CharacterTexts texts(read_texts(kCanonicalTexts));
  return texts;
}

const CharacterTexts& compatibility_decompositions() {
  static const CharacterTexts texts(read_texts(kCompatibleTexts));
  return texts;
}

const CharacterMap& combining_classes() {
  static const CharacterMap classes = expand_runs(kCombiningClassRuns);
  return classes;
}

char32_t compose(char32_t first, char32_t second) {
  if (first - kFirstLead < kLeads && second - kFirstVowel < kVowels) {
    return kFirstSyllable + ((first - kFirstLead) * kVowels + (second - kFirstVowel)) * kTails;
  }
  bool open = first - kFirstSyllable < kSyllables && (first - kFirstSyllable) % kTails == 0;
  if (open && second > kFirstTail && second < kFirstTail + kTails) return first + (second - kFirstTail);
  auto all = compositions();
  auto found = std::lower_bound(all.begin(), all.end(), std::pair(first, second),
                                [](const Composition& entry, const std::pair<char32_t, char32_t>& key) {
                                  return std::pair(entry.first, entry.second) < key;
                                });
  return found != all.end() && found->first == first && found->second == second ? found->together : 0;
}

std::vector<NamedClass> named_classes() {
  std::map<std::string, Ranges> classes;
  for_each_run(kCategoryRuns, [&](char32_t first, char32_t last, uint32_t category) {
    std::string name(kCategoryNames[category]);
    classes[name].emplace_back(first, last);
    classes[name.substr(0, 1)].emplace_back(first, last);
  });
  classes["Han"] = ranges_of(kHanRuns);
  classes["Word"] = ranges_of(kWordRuns);
  classes["BracketedWord"] = ranges_of(kBracketedWordRuns);
  std::vector<NamedClass> result;
  for (auto& [name, ranges] : classes) result.push_back({name, std::move(ranges)});
  return result;
}

}  // namespace transformers::tokenizers
