#pragma once

// Clang's interpreter with the precompiled headers of the notebook in it.

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
  /// Starts with the flags of a compiler. Throws Error when it does not accept them, as for a precompiled header that
  /// is older than its sources.
  explicit Interpreter(const std::vector<std::string>& flags);
  ~Interpreter();

  /// Messages about In[number] quote this text from now on.
  void begin_cell(int number, const std::string& cell);

  /// Throws CompileError for a bracket that is not closed; clang 19 may parse without end after one.
  void check_brackets(std::string_view code, const CodeOrigin& origin);

  /// Compiles and runs units. Warnings go to standard error. Throws CompileError, before anything has run, Interrupted,
  /// and whatever the code throws.
  void run(const std::vector<Unit>& units);

  using Parsed = std::vector<clang::PartialTranslationUnit*>;

  /// Compiles a unit without running it, and returns its parts in the order in which they would run. Throws
  /// CompileError; what the unit has used until then may not be usable any more, so that this belongs into a copy of
  /// the process.
  Parsed parse(const Unit& unit);

  /// Whether a cell has declared this name.
  bool is_known(const std::string& name) const;

  /// Searches this directory for headers too. Throws Error when there is none.
  void add_include_directory(const std::string& directory);

  clang::Interpreter& engine() { return *engine_; }

 private:
  /// Throws CompileError for what does not compile or link. That is found out in a copy of the process, because clang
  /// 19 does not recover: functions of headers and templates that a failed unit has used would be without code ever
  /// after.
  void try_out(const std::vector<Unit>& units);

  clang::PartialTranslationUnit& parse_code(const std::string& code);

  /// Brings older functions of the name, those that have other parameters, to where the new one will be defined.
  Parsed keep_others_in_sight(const Overload& overload);

  std::unique_ptr<clang::Interpreter> engine_;
  std::unique_ptr<CellDiagnostics> diagnostics_;
};

}  // namespace accelerate::notebook
