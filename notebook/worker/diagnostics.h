#pragma once

// What the compiler says about a cell, in the lines and columns of the cell, kept until somebody asks for it.

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

/// Is told what has been said until now. `last` is set when the compiler gives up, as after too many errors.
using ErrorHandler = std::function<void(const CellReport& report, bool last)>;

class CellDiagnostics {
 public:
  /// From now on keeps what `compiler` has to say.
  explicit CellDiagnostics(clang::CompilerInstance& compiler);

  /// From now on messages about In[number] quote this text. What is compiled is another one, which tells its places in
  /// this one by #line and by its columns (cells/rewrite_cell.h).
  void set_source(int number, const std::string& cell);

  /// A report of an error at this place of a cell, in the form of the compiler's own.
  CellReport error_at(int number, int line, int column, const std::string& message);

  /// From now on calls this after each error, and after each message that follows one.
  void on_error(ErrorHandler handler) { on_error_ = std::move(handler); }

  /// What has been said since the last call.
  CellReport take();

 private:
  class Printer;

  /// For clang a cell is a part of one endless file, which would be named before messages about headers.
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

/// The functions and variables, in the words of C++, that `code` uses and nobody defines. `defined` are symbols of code
/// that will have run before; those of `code` are added to it.
std::vector<std::string> undefined_symbols(const clang::Interpreter& engine, const llvm::Module& code,
                                           std::set<std::string>& defined);

}  // namespace accelerate::notebook
