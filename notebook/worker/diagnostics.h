#pragma once

// What the compiler says about a cell, kept until somebody asks for it.

#include <string>

#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

namespace clang {
class CompilerInstance;
}

namespace accelerate::notebook {

struct CellReport {
  std::string first_error = {};  // "In[3], line 2: use of undeclared identifier 'x'"; empty when there is none
  std::string text = {};         // errors and warnings with the lines they are about, in colour
};

class CellDiagnostics {
 public:
  /// From now on keeps what `compiler` has to say.
  explicit CellDiagnostics(clang::CompilerInstance& compiler);

  /// What has been said since the last call.
  CellReport take();

 private:
  class Printer;

  CellReport report_;
  llvm::raw_string_ostream stream_;
};

}  // namespace accelerate::notebook
