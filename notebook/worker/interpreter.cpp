#include "notebook/worker/interpreter.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <utility>

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExternalASTSource.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/FileManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Interpreter/Interpreter.h>
#include <clang/Interpreter/PartialTranslationUnit.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/TargetSelect.h>
#include <nlohmann/json.hpp>

#include "accelerate/base/text.h"
#include "notebook/cells/tokens.h"
#include "notebook/runtime/value_text.h"
#include "notebook/worker/diagnostics.h"
#include "notebook/worker/enumerator_names.h"
#include "notebook/worker/interrupts.h"
#include "notebook/worker/precompiled_declarations.h"
#include "notebook/worker/process_copy.h"
#include "notebook/worker/redefinition.h"

namespace accelerate::notebook {

namespace {

template <class T>
T taken(llvm::Expected<T> result) {
  if (!result) fail("the interpreter cannot be started: ", llvm::toString(result.takeError()));
  return std::move(*result);
}

/// Ends a start that fails, as with a precompiled header that is older than its sources. clang would go on with half of
/// what it needs, and crash.
class StartProblems : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    if (level < clang::DiagnosticsEngine::Error) return;
    llvm::SmallString<200> message;
    info.FormatDiagnostic(message);
    fail("the interpreter cannot be started: ", message.str().str());
  }
};

std::unique_ptr<clang::Interpreter> make_engine(const std::vector<std::string>& flags) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
  std::vector<const char*> words;
  for (const auto& flag : flags) words.push_back(flag.c_str());
  clang::IncrementalCompilerBuilder builder;
  builder.SetCompilerArgs(words);
  auto compiler = taken(builder.CreateCpp());
  compiler->getDiagnostics().setClient(new StartProblems, /*ShouldOwnClient=*/true);
  return taken(clang::Interpreter::create(std::move(compiler)));
}

void check_symbols(const clang::Interpreter& engine, const llvm::Module& code, std::set<std::string>& defined) {
  const auto names = undefined_symbols(engine, code, defined);
  if (names.empty()) return;
  auto message = "no loaded library defines " + listed(names) + "; %lib loads one";
  throw CompileError(message, message);
}

/// What a copy of the process tells about code that does not compile.
std::string problem(const std::string& message, const std::string& report) {
  nlohmann::json problem = {{"message", message}, {"report", report}};
  return problem.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Interpreter::Interpreter(const std::vector<std::string>& flags) : engine_(make_engine(flags)) {
  auto& compiler = *engine_->getCompilerInstance();
  // Lives as long as the process, as what the AST reader holds on to.
  static PrecompiledDeclarations declarations(compiler.getASTConsumer());
  if (auto* source = compiler.getASTContext().getExternalSource()) source->StartTranslationUnit(&declarations);
  diagnostics_ = std::make_unique<CellDiagnostics>(compiler);
  name_enumerators_by(
      [&compiler](const std::type_info& type, int64_t bits) { return enumerator_text(compiler, type, bits); });
}

Interpreter::~Interpreter() = default;

void Interpreter::begin_cell(int number, const std::string& cell) { diagnostics_->set_source(number, cell); }

void Interpreter::check_brackets(std::string_view code, const CodeOrigin& origin) {
  bool conditional = code.find("#if") != std::string_view::npos;  // may leave out a bracket of two
  auto bracket = conditional ? std::nullopt : unclosed_bracket(code);
  if (!bracket) return;
  auto before = code.substr(0, static_cast<size_t>(bracket->text.data() - code.data()));
  auto line = origin.first_line + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  auto column = static_cast<int>(before.size() - (before.rfind('\n') + 1)) + 1;  // npos + 1 is 0
  const char* closing = bracket->text == "{" ? "'}'" : bracket->text == "(" ? "')'" : "']'";
  auto message = std::string("expected ") + closing + " to match this '" + std::string(bracket->text) + "'";
  auto report = diagnostics_->error_at(origin.number, line, column, message);
  throw CompileError(report.first_error, report.text);
}

void Interpreter::run(const std::vector<Unit>& units) {
  try_out(units);
  for (const auto& unit : units) {
    auto parsed = parse(unit);
    std::cerr << diagnostics_->take().text;
    if (was_interrupted()) throw Interrupted("interrupted before the cell began");
    for (auto* part : parsed) {
      if (!part->TheModule) continue;
      if (auto error = engine_->Execute(*part)) fail("the code cannot be run: ", llvm::toString(std::move(error)));
    }
  }
}

Interpreter::Parsed Interpreter::parse(const Unit& unit) {
  Parsed parsed;
  if (unit.overload) parsed = keep_others_in_sight(*unit.overload);
  parsed.push_back(&parse_code(unit.code));
  for (const auto& name : unit.redefines) hide_older_declarations(*engine_->getCompilerInstance(), name);
  return parsed;
}

clang::PartialTranslationUnit& Interpreter::parse_code(const std::string& code) {
  auto parsed = engine_->Parse(code);
  if (parsed) return *parsed;
  auto reason = llvm::toString(parsed.takeError());
  auto report = diagnostics_->take();
  throw CompileError(report.first_error.empty() ? reason : report.first_error, report.text);
}

Interpreter::Parsed Interpreter::keep_others_in_sight(const Overload& overload) {
  Parsed parsed = {&parse_code(overload.signature)};
  diagnostics_->take();  // what is to be said about it is said with the definition
  if (hide_replaced(*engine_->getCompilerInstance(), overload)) {
    parsed.push_back(&parse_code("inline namespace " + overload.space + " { using ::" + overload.name + "; }\n"));
  }
  return parsed;
}

void Interpreter::try_out(const std::vector<Unit>& units) {
  auto verdict = ask_copy([&](const Copy& copy) {
    std::set<std::string> defined;
    // Noted at once: clang 19 may crash when it removes what did not compile, as after a using directive, or not end.
    diagnostics_->on_error([&](const CellReport& report, bool last) {
      copy.note(problem(report.first_error, report.text));
      if (last) copy.end();
    });
    for (const auto& unit : units) {
      try {
        for (auto* part : parse(unit)) {
          if (part->TheModule) check_symbols(*engine_, *part->TheModule, defined);
        }
      } catch (const CompileError& error) {
        copy.note(problem(error.what(), error.report()));
        copy.end();
      }
    }
    copy.note("null");
  });
  if (was_interrupted()) throw Interrupted("interrupted before the cell began");
  if (!verdict) throw CompileError("the compiler crashed on this code; try to write it differently", "");
  auto error = nlohmann::json::parse(*verdict);
  if (!error.is_null()) throw CompileError(error["message"], error["report"]);
}

bool Interpreter::is_known(const std::string& name) const {
  return is_declared_by_cell(*engine_->getCompilerInstance(), name);
}

void Interpreter::add_include_directory(const std::string& directory) {
  auto& compiler = *engine_->getCompilerInstance();
  auto path = std::filesystem::absolute(directory).string();
  auto entry = compiler.getFileManager().getOptionalDirectoryRef(path);
  if (!entry) fail("%include: there is no directory ", path);
  clang::DirectoryLookup lookup(*entry, clang::SrcMgr::C_User, /*isFramework=*/false);
  compiler.getPreprocessor().getHeaderSearchInfo().AddSearchPath(lookup, /*isAngled=*/true);
}

}  // namespace accelerate::notebook
