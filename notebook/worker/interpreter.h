#pragma once

// Clang's interpreter (clang-repl) with the precompiled headers of the notebook.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "accelerate/base/error.h"
#include "notebook/cells/rewrite_cell.h"

namespace clang {
class Interpreter;
struct PartialTranslationUnit;
}  // namespace clang

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

/// The user has stopped a cell before it ran.
class Interrupted : public Error {
 public:
  using Error::Error;
};

class CellDiagnostics;

class Interpreter {
 public:
  /// Starts with compiler flags. Throws Error if they are not accepted, for example if the precompiled header is older
  /// than its sources.
  explicit Interpreter(const std::vector<std::string>& flags);
  ~Interpreter();

  /// Diagnostics about In[number] quote this text from now on.
  void begin_cell(int number, const std::string& cell);

  /// Throws CompileError for a bracket that is not closed; clang 19 may parse without end after one.
  void check_brackets(std::string_view code, const CodeOrigin& origin);

  /// Compiles and runs units. Warnings go to standard error. Throws CompileError, before anything has run, Interrupted,
  /// and whatever the code throws.
  void run(const std::vector<Unit>& units);

  using Parsed = std::vector<clang::PartialTranslationUnit*>;

  /// Compiles a unit without running it, and returns its parts in the order in which they would run. Throws
  /// CompileError; then definitions that the unit has used may be unusable, so call it only in a copy of the process
  /// (process_copy.h).
  Parsed parse(const Unit& unit);

  /// Whether a cell has declared this name.
  bool is_known(const std::string& name) const;

  /// Adds a directory to the include path. Throws Error if it does not exist.
  void add_include_directory(const std::string& directory);

  clang::Interpreter& engine() { return *engine_; }

 private:
  /// Throws CompileError if the units do not compile or link. They are tried in a copy of the process, because clang 19
  /// does not recover: header functions and templates that a failed unit used would have no code afterwards.
  void try_out(const std::vector<Unit>& units);

  clang::PartialTranslationUnit& parse_code(const std::string& code);

  /// Makes older overloads with other parameters visible in the namespace of the new function.
  Parsed keep_others_in_sight(const Overload& overload);

  std::unique_ptr<clang::Interpreter> engine_;
  std::unique_ptr<CellDiagnostics> diagnostics_;
};

}  // namespace accelerate::notebook
