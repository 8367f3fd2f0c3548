#include "notebook/worker/diagnostics.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/DiagnosticIDs.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/TextDiagnostic.h>
#include <clang/Interpreter/Interpreter.h>
#include <clang/Lex/Lexer.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/ExecutionEngine/Orc/Shared/ExecutorAddress.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <regex>
#include <set>
#include <utility>

namespace accelerate::notebook {

namespace {

constexpr unsigned kMostErrors = 20;

std::string name_of_cell(int number) { return "In[" + std::to_string(number) + "]"; }

/// With the name of the cell in place of the functions that its statements were moved into (cells/rewrite_cell.cpp).
std::string with_names_of_cells(const std::string& message) {
  static const std::regex functions("\\b(?:cell_([0-9]+)_[0-9]+_[0-9]+|timed_cell_([0-9]+)_[0-9]+)\\b");
  return std::regex_replace(message, functions, "In[$1$2]");
}

}  // namespace

/// Prints as clang does, but quotes what the user has written, and notes the first error in one line.
class CellDiagnostics::Printer : public clang::DiagnosticConsumer {
 public:
  using Level = clang::DiagnosticsEngine::Level;

  explicit Printer(CellDiagnostics& owner)
      : owner_(owner), text_(owner.stream_, owner.compiler_.getLangOpts(), &owner.compiler_.getDiagnosticOpts()) {}

  void HandleDiagnostic(Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    llvm::SmallString<200> formatted;
    info.FormatDiagnostic(formatted);
    auto message = with_names_of_cells(formatted.str().str());
    auto location = info.getLocation();
    if (is_repeated(level, location, message)) return;
    auto option = clang::DiagnosticIDs::getWarningOptionForDiag(info.getID());
    auto words = option.empty() ? message : message + " [-W" + option.str() + "]";
    if (location.isInvalid() || !info.hasSourceManager()) {
      owner_.stream_ << words << "\n";
    } else {
      print(level, location, words, info);
    }
    if (level >= Level::Error) note_first(place_of(location) + message);
    tell(level);
  }

  /// Prints an error that is not the compiler's.
  void print_error(clang::SourceLocation location, const std::string& message) {
    text_.emitDiagnostic(clang::FullSourceLoc(location, sources()), Level::Error, message, {}, {});
    note_first(place_of(location) + message);
  }

  void forget() { errors_.clear(); }

 private:
  clang::SourceManager& sources() { return owner_.compiler_.getSourceManager(); }

  void note_first(const std::string& error) {
    if (owner_.report_.first_error.empty()) owner_.report_.first_error = error;
  }

  void tell(Level level) {
    if (!owner_.on_error_ || owner_.report_.first_error.empty()) return;
    owner_.forget_inputs();
    owner_.on_error_(owner_.report_, level == Level::Fatal);
  }

  /// At the end of an unfinished cell clang's parser does not move on, and says the same again and again. Notes go with
  /// what they are about.
  bool is_repeated(Level level, clang::SourceLocation location, const std::string& message) {
    if (level != Level::Note) repeats_ = !errors_.emplace(location.getRawEncoding(), message).second;
    return repeats_;
  }

  /// "In[3], line 2: "
  std::string place_of(clang::SourceLocation location) {
    if (location.isInvalid()) return {};
    auto place = sources().getPresumedLoc(sources().getFileLoc(location));
    if (place.isInvalid()) return {};
    return std::string(place.getFilename()) + ", line " + std::to_string(place.getLine()) + ": ";
  }

  /// The same place in the text of the user, if it is in a cell.
  clang::SourceLocation in_cell(clang::SourceLocation location) {
    if (location.isInvalid()) return location;
    auto place = sources().getPresumedLoc(sources().getFileLoc(location));
    if (place.isInvalid()) return location;
    auto cell = owner_.cells_.find(place.getFilename());
    if (cell == owner_.cells_.end()) return location;
    return sources().translateLineCol(cell->second, place.getLine(), place.getColumn());
  }

  clang::CharSourceRange in_cell(const clang::CharSourceRange& range) {
    return {{in_cell(range.getBegin()), in_cell(range.getEnd())}, range.isTokenRange()};
  }

  void print(Level level, clang::SourceLocation location, const std::string& words, const clang::Diagnostic& info) {
    llvm::SmallVector<clang::CharSourceRange, 4> ranges;
    for (const auto& range : info.getRanges()) ranges.push_back(in_cell(range));
    llvm::SmallVector<clang::FixItHint, 4> hints;
    for (auto hint : info.getFixItHints()) {
      hint.RemoveRange = in_cell(hint.RemoveRange);
      hint.InsertFromRange = in_cell(hint.InsertFromRange);
      hints.push_back(hint);
    }
    auto shown = in_cell(location);
    text_.emitDiagnostic(clang::FullSourceLoc(shown, sources()), level, words, ranges, hints);
    // Of a macro that a cell uses clang would quote the code that was compiled.
    if (!location.isMacroID() || shown == location || sources().isMacroArgExpansion(location)) return;
    auto macro = clang::Lexer::getImmediateMacroName(location, sources(), owner_.compiler_.getLangOpts());
    clang::FullSourceLoc defined(sources().getSpellingLoc(location), sources());
    text_.emitDiagnostic(defined, Level::Note, ("expanded from macro '" + macro + "'").str(), {}, {});
  }

  CellDiagnostics& owner_;
  clang::TextDiagnostic text_;
  std::set<std::pair<unsigned, std::string>> errors_;  // errors and warnings since the last report
  bool repeats_ = false;
};

CellDiagnostics::CellDiagnostics(clang::CompilerInstance& compiler) : compiler_(compiler), stream_(report_.text) {
  stream_.enable_colors(true);
  compiler.getDiagnosticOpts().ShowColors = 1;
  auto printer = std::make_unique<Printer>(*this);
  printer_ = printer.get();
  compiler.getDiagnostics().setClient(printer.release(), /*ShouldOwnClient=*/true);
  compiler.getDiagnostics().setErrorLimit(kMostErrors);
}

void CellDiagnostics::set_source(int number, const std::string& cell) {
  auto name = name_of_cell(number);
  cells_[name] = compiler_.getSourceManager().createFileID(llvm::MemoryBuffer::getMemBufferCopy(cell, name));
}

CellReport CellDiagnostics::error_at(int number, int line, int column, const std::string& message) {
  printer_->print_error(
      compiler_.getSourceManager().translateLineCol(cells_.at(name_of_cell(number)), static_cast<unsigned>(line),
                                                    static_cast<unsigned>(column)),
      message);
  return take();
}

CellReport CellDiagnostics::take() {
  forget_inputs();
  printer_->forget();
  return std::exchange(report_, {});
}

void CellDiagnostics::forget_inputs() {
  stream_.flush();
  const std::string from_cells = "In file included from <<< inputs >>>:1:\n";
  for (size_t at; (at = report_.text.find(from_cells)) != std::string::npos;) report_.text.erase(at, from_cells.size());
}

namespace {

bool is_needed(const llvm::GlobalValue& symbol) {
  const auto* function = llvm::dyn_cast<llvm::Function>(&symbol);
  bool built_in = function != nullptr && function->isIntrinsic();
  return symbol.isDeclarationForLinker() && !symbol.use_empty() && !symbol.hasExternalWeakLinkage() && !built_in;
}

bool is_loaded(const clang::Interpreter& engine, llvm::StringRef symbol) {
  auto address = engine.getSymbolAddress(symbol);
  if (address) return true;
  llvm::consumeError(address.takeError());
  return false;
}

}  // namespace

std::vector<std::string> undefined_symbols(const clang::Interpreter& engine, const llvm::Module& code,
                                           std::set<std::string>& defined) {
  std::vector<std::string> names;
  for (const auto& symbol : code.global_values()) {
    auto name = symbol.getName();
    if (is_needed(symbol) && !defined.contains(name.str()) && !is_loaded(engine, name)) {
      names.push_back(llvm::demangle(name.str()));
    }
    if (!symbol.isDeclarationForLinker()) defined.insert(name.str());
  }
  return names;
}

}  // namespace accelerate::notebook
