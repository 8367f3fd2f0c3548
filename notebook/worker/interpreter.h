#pragma once

// Clang's interpreter with the precompiled headers of the notebook in it.

#include <memory>
#include <string>
#include <vector>

#include "accelerate/base/error.h"
#include "notebook/cells/rewrite_cell.h"

namespace clang {
class Interpreter;
}

namespace accelerate::notebook {

/// Code that does not compile. The message is the first error, with its place in the cell.
class CompileError : public Error {
 public:
  CompileError(const std::string& message, std::string report) : Error(message), report_(std::move(report)) {}

  /// Everything that the compiler said.
  const std::string& report() const { return report_; }

 private:
  std::string report_;
};

class CellDiagnostics;

class Interpreter {
 public:
  /// Starts with the flags of a compiler. Throws Error when it does not accept them, as for a precompiled header that
  /// is older than its sources.
  explicit Interpreter(const std::vector<std::string>& flags);
  ~Interpreter();

  /// Compiles and runs a unit. Warnings go to standard error. Throws CompileError, and whatever the code throws.
  void run(const Unit& unit);

  /// Compiles a unit without running it. Returns false when it does not compile.
  bool parse(const Unit& unit);

  /// Whether a cell has declared this name.
  bool is_known(const std::string& name) const;

  /// Searches this directory for headers too. Throws Error when there is none.
  void add_include_directory(const std::string& directory);

  clang::Interpreter& engine() { return *engine_; }

 private:
  std::unique_ptr<clang::Interpreter> engine_;
  std::unique_ptr<CellDiagnostics> diagnostics_;
  std::string link_errors_;
};

}  // namespace accelerate::notebook
