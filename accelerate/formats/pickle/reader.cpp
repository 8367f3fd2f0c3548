#include "accelerate/formats/pickle/pickle.h"

#include <bit>
#include <cstring>
#include <unordered_map>

#include "accelerate/formats/pickle/calls.h"
#include "accelerate/formats/pickle/graph.h"
#include "accelerate/formats/pickle/opcodes.h"

namespace accelerate::formats {

namespace {

/// Interprets the opcodes of one pickle.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& source) : bytes_(bytes), graph_(source, bytes.size()) {}

  PickleValue read() {
    if (opcode() != Opcode::Proto) graph_.refuse("this is not a pickle of protocol 2 to 5");
    protocol();
    for (Opcode next = opcode(); next != Opcode::Stop; next = opcode()) follow(next);
    return graph_.unfold(pop());
  }

  size_t position() const { return position_; }

 private:
  void follow(Opcode opcode);

  // Reads from the pickle.

  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - position_) {
      graph_.refuse("its pickle ends after ", bytes_.size(),
                    " bytes, in the middle of a value; is the file truncated?");
    }
    auto part = bytes_.substr(position_, size);
    position_ += size;
    return part;
  }

  template <class T>
  T number() {
    T value{};
    std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
    return value;
  }

  Opcode opcode() { return static_cast<Opcode>(number<unsigned char>()); }

  std::string_view line() {
    auto end = bytes_.find('\n', position_);
    if (end == bytes_.npos) graph_.refuse("its pickle ends in the middle of a name; is the file truncated?");
    auto text = bytes_.substr(position_, end - position_);
    position_ = end + 1;
    return text;
  }

  void protocol() {
    int version = number<unsigned char>();
    if (version < 2 || version > 5) graph_.refuse("it is a pickle of protocol ", version, "; 2 to 5 are supported");
  }

  // The stack of the pickle machine.

  void push(NodeId id) { stack_.push_back(id); }
  void push(PickleNode node) { push(graph_.add(std::move(node))); }

  NodeId pop() {
    top();
    NodeId id = stack_.back();
    stack_.pop_back();
    return id;
  }

  NodeId top() const {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) graph_.refuse("its pickle takes more than it has");
    return stack_.back();
  }

  std::vector<NodeId> pop_to_mark() {
    if (marks_.empty()) graph_.refuse("its pickle takes more than it has");
    auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<NodeId> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  void push_tuple(std::vector<NodeId> items) { push(SequenceNode{ValueKind::Tuple, std::move(items)}); }

  void push_small_tuple(size_t size) {
    std::vector<NodeId> items(size);
    for (size_t i = size; i-- > 0;) items[i] = pop();
    push_tuple(std::move(items));
  }

  void push_integer(std::string_view digits) {
    auto is_redundant = [](char last, char before) { return (last == 0 && before >= 0) || (last == -1 && before < 0); };
    while (digits.size() > 1 && is_redundant(digits.back(), digits[digits.size() - 2])) digits.remove_suffix(1);
    if (digits.size() > sizeof(int64_t)) return push(PickleValue(BigInteger{std::string(digits)}));
    int64_t value = !digits.empty() && digits.back() < 0 ? -1 : 0;
    std::memcpy(&value, digits.data(), digits.size());
    push(PickleValue(value));
  }

  void push_float() { push(PickleValue(std::bit_cast<double>(__builtin_bswap64(number<uint64_t>())))); }
  void push_text(uint64_t size) { push(PickleValue(take(size))); }
  void push_bytes(uint64_t size) { push(PickleValue(Bytes{std::string(take(size))})); }

  void push_global(std::string_view module, std::string_view name) {
    auto full_name = std::string(module) + "." + std::string(name);
    if (!is_known_global(full_name)) {
      graph_.refuse("its pickle names the Python global ", printable(full_name),
                    ", which is not needed for tensors and plain values; nothing was run. Save the ",
                    "values without it, or as safetensors");
    }
    push(GlobalNode{std::move(full_name)});
  }

  void push_stack_global() {
    NodeId name = pop(), module = pop();
    push_global(graph_.text(module), graph_.text(name));
  }

  void remember(uint64_t key) { memo_[key] = top(); }

  void recall(uint64_t key) {
    auto known = memo_.find(key);
    if (known == memo_.end()) graph_.refuse("its pickle recalls number ", key, ", which is not in its memo");
    push(known->second);
  }

  void add_items(ValueKind kind, const std::vector<NodeId>& items) {
    auto& sequence = graph_.get<SequenceNode>(top(), "list or set");
    if (sequence.kind != kind) graph_.refuse("its pickle adds to a ", python_name_of(sequence.kind));
    sequence.items.insert(sequence.items.end(), items.begin(), items.end());
  }

  void add_entries(const std::vector<NodeId>& items) {
    auto& dict = graph_.get<MappingNode>(top(), "dict");
    if (items.size() % 2 != 0) graph_.refuse("its pickle has a key without a value");
    for (size_t i = 0; i < items.size(); i += 2) dict.entries.emplace_back(items[i], items[i + 1]);
  }

  std::string_view bytes_;
  size_t position_ = 0;
  PickleGraph graph_;
  std::vector<NodeId> stack_;
  std::vector<size_t> marks_;  // stack sizes
  std::unordered_map<uint64_t, NodeId> memo_;
};

void Reader::follow(Opcode opcode) {
  switch (opcode) {
    case Opcode::Proto:
      return protocol();
    case Opcode::Frame:
      if (number<uint64_t>() > bytes_.size() - position_) graph_.refuse("its pickle is truncated");
      return;
    case Opcode::Mark:
      return marks_.push_back(stack_.size());

    case Opcode::None:
      return push(PickleValue());
    case Opcode::NewTrue:
      return push(PickleValue(true));
    case Opcode::NewFalse:
      return push(PickleValue(false));
    case Opcode::BinInt:
      return push(PickleValue(number<int32_t>()));
    case Opcode::BinInt1:
      return push(PickleValue(number<uint8_t>()));
    case Opcode::BinInt2:
      return push(PickleValue(number<uint16_t>()));
    case Opcode::Long1:
      return push_integer(take(number<uint8_t>()));
    case Opcode::Long4:
      return push_integer(take(number<uint32_t>()));
    case Opcode::BinFloat:
      return push_float();
    case Opcode::ShortBinString:
    case Opcode::ShortBinUnicode:
      return push_text(number<uint8_t>());
    case Opcode::BinUnicode:
      return push_text(number<uint32_t>());
    case Opcode::BinUnicode8:
      return push_text(number<uint64_t>());
    case Opcode::ShortBinBytes:
      return push_bytes(number<uint8_t>());
    case Opcode::BinBytes:
      return push_bytes(number<uint32_t>());
    case Opcode::BinBytes8:
      return push_bytes(number<uint64_t>());

    case Opcode::EmptyList:
      return push(SequenceNode{ValueKind::List, {}});
    case Opcode::Append: {
      NodeId item = pop();
      return add_items(ValueKind::List, {item});
    }
    case Opcode::Appends:
      return add_items(ValueKind::List, pop_to_mark());
    case Opcode::EmptyTuple:
      return push_tuple({});
    case Opcode::Tuple:
      return push_tuple(pop_to_mark());
    case Opcode::Tuple1:
      return push_small_tuple(1);
    case Opcode::Tuple2:
      return push_small_tuple(2);
    case Opcode::Tuple3:
      return push_small_tuple(3);
    case Opcode::EmptyDict:
      return push(MappingNode{ValueKind::Dict, {}});
    case Opcode::SetItem: {
      NodeId value = pop(), key = pop();
      return add_entries({key, value});
    }
    case Opcode::SetItems:
      return add_entries(pop_to_mark());
    case Opcode::EmptySet:
      return push(SequenceNode{ValueKind::Set, {}});
    case Opcode::AddItems:
      return add_items(ValueKind::Set, pop_to_mark());

    case Opcode::BinPut:
      return remember(number<uint8_t>());
    case Opcode::LongBinPut:
      return remember(number<uint32_t>());
    case Opcode::Memoize:
      return remember(memo_.size());
    case Opcode::BinGet:
      return recall(number<uint8_t>());
    case Opcode::LongBinGet:
      return recall(number<uint32_t>());

    case Opcode::Global: {
      auto module = line(), name = line();
      return push_global(module, name);
    }
    case Opcode::StackGlobal:
      return push_stack_global();
    case Opcode::BinPersId:
      return push(storage_of(graph_, pop()));
    case Opcode::Reduce: {
      NodeId arguments = pop(), function = pop();
      return push(call_global(graph_, function, arguments));
    }
    case Opcode::Build: {
      NodeId state = pop();
      return set_state(graph_, top(), state);
    }
    case Opcode::Stop:
      return;
  }
  graph_.refuse("its pickle has the instruction 0x", std::hex, static_cast<int>(opcode), std::dec, " at byte ",
                position_ - 1, ", which does not create a plain value; nothing was run");
}

}  // namespace

PickleValue read_pickle(std::string_view bytes, const std::string& source, size_t* length) {
  Reader reader(bytes, source);
  auto value = reader.read();
  if (length) {
    *length = reader.position();
  } else if (reader.position() != bytes.size()) {
    fail(source, ": ", bytes.size() - reader.position(), " bytes follow its pickle; it is damaged");
  }
  return value;
}

}  // namespace accelerate::formats
