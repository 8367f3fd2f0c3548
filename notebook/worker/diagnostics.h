#pragma once

// Collects the compiler's diagnostics about a cell, with the lines and columns of the cell.

#include <clang/Basic/SourceLocation.h>
#include <llvm/Support/raw_ostream.h>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace clang {
class CompilerInstance;
}

namespace accelerate::notebook {

struct CellReport {
  std::string first_error = {};  // "In[3], line 2: use of undeclared identifier 'x'"; empty when there is none
  std::string text = {};         // errors and warnings with the lines they are about, in colour
};

/// Is called with all diagnostics so far. `last` is set if the compiler gives up, such as after too many errors.
using ErrorHandler = std::function<void(const CellReport& report, bool last)>;

class CellDiagnostics {
 public:
  /// Collects the diagnostics of `compiler` from now on.
  explicit CellDiagnostics(clang::CompilerInstance& compiler);

  /// Diagnostics about In[number] quote this text from now on. The compiled code is a rewritten one that refers to this
  /// text by #line and by equal columns (cells/rewrite_cell.h).
  void set_source(int number, const std::string& cell);

  /// A report of an error at this position of a cell, formatted like the compiler's.
  CellReport error_at(int number, int line, int column, const std::string& message);

  /// From now on calls this after each error, and after each message that follows one.
  void on_error(ErrorHandler handler) { on_error_ = std::move(handler); }

  /// The diagnostics since the last call.
  CellReport take();

 private:
  class Printer;

  /// Makes clang forget the input files. For clang all cells are one file, which it would name in messages about
  /// headers.
  void forget_inputs();

  clang::CompilerInstance& compiler_;
  CellReport report_;
  llvm::raw_string_ostream stream_;
  std::map<std::string, clang::FileID> cells_;  // their texts, by the name of the cell
  ErrorHandler on_error_;
  Printer* printer_;  // belongs to the compiler
};

}  // namespace accelerate::notebook

namespace clang {
class Interpreter;
}
namespace llvm {
class Module;
}

namespace accelerate::notebook {

/// The demangled names of functions and variables that `code` uses and that are not defined. `defined` are the symbols
/// of code that runs before; those of `code` are added to it.
std::vector<std::string> undefined_symbols(const clang::Interpreter& engine, const llvm::Module& code,
                                           std::set<std::string>& defined);

}  // namespace accelerate::notebook
