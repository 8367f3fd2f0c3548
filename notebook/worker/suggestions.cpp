#include "notebook/worker/suggestions.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <optional>
#include <set>

#include <clang/AST/ASTContext.h>
#include <clang/AST/RawCommentList.h>
#include <clang/Basic/FileManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Interpreter/Interpreter.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Sema/CodeCompleteConsumer.h>
#include <clang/Sema/Sema.h>
#include <clang/Sema/SemaCodeCompletion.h>
#include <llvm/Support/MemoryBuffer.h>

#include "notebook/cells/cell_parts.h"
#include "notebook/cells/declared_names.h"
#include "notebook/cells/split_cell.h"
#include "notebook/worker/process_copy.h"

namespace accelerate::notebook {

namespace {

using nlohmann::json;

constexpr std::chrono::seconds kLimit(10);
constexpr size_t kMostNames = 500;

struct Question {
  std::string before;  // the code of the cell up to the name
  std::string name;    // as far as it is typed
  bool whole_word;
};

std::string kind_of(const clang::CodeCompletionResult& result) {
  switch (result.CursorKind) {
    case CXCursor_FunctionDecl:
    case CXCursor_CXXMethod:
    case CXCursor_FunctionTemplate:
      return "function";
    case CXCursor_ClassDecl:
    case CXCursor_StructDecl:
    case CXCursor_ClassTemplate:
    case CXCursor_TypedefDecl:
    case CXCursor_TypeAliasDecl:
      return "class";
    case CXCursor_Namespace:
      return "module";
    default:
      return result.Kind == clang::CodeCompletionResult::RK_Keyword ? "keyword" : "instance";
  }
}

/// Replies when the compiler has found what fits.
class Answer : public clang::CodeCompleteConsumer {
 public:
  Answer(const Question& question, const Copy& copy)
      : CodeCompleteConsumer(options()),
        question_(question),
        copy_(copy),
        info_(std::make_shared<clang::GlobalCodeCompletionAllocator>()) {}

  void ProcessCodeCompleteResults(clang::Sema& sema, clang::CodeCompletionContext context,
                                  clang::CodeCompletionResult* results, unsigned num_results) override {
    json names = json::array();
    std::set<std::string> seen;
    for (unsigned i = 0; i < num_results; ++i) {
      auto& result = results[i];
      auto* text =
          result.CreateCodeCompletionString(sema, context, getAllocator(), info_, /*IncludeBriefComments=*/false);
      std::string name = text->getTypedText() ? text->getTypedText() : "";
      if (!fits(name) || result.Availability == CXAvailability_NotAccessible || result.Hidden) continue;
      if (!question_.whole_word && !seen.insert(name).second) continue;  // one for all overloads
      names.push_back({{"name", name}, {"kind", kind_of(result)}});
      if (question_.whole_word) describe(sema, result, names.back());
      if (names.size() == kMostNames) break;
    }
    copy_.note(names.dump(-1, ' ', false, json::error_handler_t::replace));
    copy_.end();
  }

  clang::CodeCompletionAllocator& getAllocator() override { return info_.getAllocator(); }
  clang::CodeCompletionTUInfo& getCodeCompletionTUInfo() override { return info_; }

 private:
  static clang::CodeCompleteOptions options() {
    clang::CodeCompleteOptions options;
    options.IncludeGlobals = true;
    options.LoadExternal = true;  // what the precompiled header declares
    return options;
  }

  bool fits(const std::string& name) const {
    if (question_.whole_word) return name == question_.name;
    bool reserved = name.starts_with("_") && !question_.name.starts_with("_");
    return name.starts_with(question_.name) && !name.empty() && !reserved && !name.starts_with("operator");
  }

  static void describe(clang::Sema& sema, const clang::CodeCompletionResult& result, json& entry) {
    const auto* declaration = result.Kind == clang::CodeCompletionResult::RK_Declaration ? result.Declaration : nullptr;
    if (declaration == nullptr) return;
    auto& context = sema.getASTContext();
    auto policy = context.getPrintingPolicy();
    policy.TerseOutput = true;
    policy.PolishForDeclaration = true;
    std::string signature;
    llvm::raw_string_ostream stream(signature);
    declaration->print(stream, policy);
    entry["signature"] = stream.str();
    if (const auto* comment = context.getRawCommentForAnyRedecl(declaration)) {
      entry["documentation"] = comment->getFormattedText(context.getSourceManager(), sema.getDiagnostics());
    }
  }

  const Question& question_;
  const Copy& copy_;
  clang::CodeCompletionTUInfo info_;
};

/// The beginning of a function or class is read as it is; what stands in statements, inside a function.
std::string in_context(const Chunk& chunk) {
  const auto& tokens = chunk.tokens;
  auto text = std::string(chunk.text);
  bool in_braces = std::any_of(tokens.begin(), tokens.end(), [](const Token& token) { return token.text == "{"; });
  bool function = in_braces && chunk.kind != ChunkKind::Control && !declared_names(tokens).empty() &&
                  std::none_of(tokens.begin(), tokens.end(), [](const Token& token) { return token.text == "="; });
  if (function || chunk.kind == ChunkKind::Statement || tokens.front().text == "namespace") return text;
  return "void completed_statement() {\n" + text;
}

void parse_if_possible(Interpreter& interpreter, const Unit& unit) {
  try {
    interpreter.parse(unit);
  } catch (const CompileError&) {
  }
}

bool is_code(const CellPart& part) {
  return part.kind == PartKind::Code || part.kind == PartKind::Time || part.kind == PartKind::TimeIt;
}

/// The code of the beginning of a cell, without its commands; nothing when it ends in a command.
std::optional<std::string> code_of(const std::string& cell) {
  std::string code;
  auto parts = parts_of(cell);
  if (!parts.empty() && !is_code(parts.back()) && !cell.ends_with('\n')) return std::nullopt;
  for (const auto& part : parts) {
    if (is_code(part)) code += part.text;
  }
  return code;
}

/// Reads the code before the name, as far as it can be read, and lets the compiler say what fits there.
void ask(Interpreter& interpreter, const Question& question, const Copy& copy) {
  auto chunks = split_cell(question.before);
  std::string last = "void completed_statement() {\n";
  size_t end = question.before.size();
  bool unfinished = !chunks.empty() && chunks.back().kind != ChunkKind::Directive &&
                    !chunks.back().text.ends_with(';') && !chunks.back().text.ends_with('}');
  if (unfinished) {
    end = static_cast<size_t>(chunks.back().text.data() - question.before.data());
    last = in_context(chunks.back());
  }
  auto is_known = [&](const std::string& name) { return interpreter.is_known(name); };
  for (const auto& unit : rewrite_cell(std::string_view(question.before).substr(0, end), {.number = 0}, is_known)) {
    parse_if_possible(interpreter, unit);
  }

  auto& compiler = *interpreter.engine().getCompilerInstance();
  const char* file_name = "/completed_cell.cpp";
  last += " ";
  auto file = compiler.getFileManager().getVirtualFileRef(file_name, static_cast<off_t>(last.size()), 0);
  compiler.getSourceManager().overrideFileContents(file, llvm::MemoryBuffer::getMemBufferCopy(last, file_name));
  auto line = static_cast<unsigned>(std::count(last.begin(), last.end(), '\n')) + 1;
  auto column = static_cast<unsigned>(last.size() - (last.rfind('\n') + 1)) + 1;
  compiler.getPreprocessor().SetCodeCompletionPoint(file, line, column);
  Answer answer(question, copy);
  compiler.getSema().CodeCompletion().CodeCompleter = &answer;
  parse_if_possible(interpreter, {"#include \"" + std::string(file_name) + "\"\n", {}, {}});
}

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

json suggestions_at(Interpreter& interpreter, std::string_view cell, size_t cursor, bool whole_word) {
  size_t end = std::min(cursor, cell.size());
  size_t begin = end;
  while (begin > 0 && in_name(cell[begin - 1])) --begin;
  while (whole_word && end < cell.size() && in_name(cell[end])) ++end;
  auto name = std::string(cell.substr(begin, end - begin));
  if (whole_word && name.empty()) return {{"begin", begin}, {"names", json::array()}};
  auto names = ask_copy(
      [&](const Copy& copy) {
        auto before = code_of(std::string(cell.substr(0, begin)));
        if (before) ask(interpreter, {*before, name, whole_word}, copy);
      },
      kLimit);
  return {{"begin", begin}, {"names", json::parse(names.value_or("[]"))}};
}

}  // namespace accelerate::notebook
