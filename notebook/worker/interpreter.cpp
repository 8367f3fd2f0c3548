#include "notebook/worker/interpreter.h"

#include <filesystem>
#include <iostream>
#include <sstream>
#include <utility>

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExternalASTSource.h>
#include <clang/Basic/FileManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Interpreter/Interpreter.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/TargetSelect.h>

#include "notebook/worker/diagnostics.h"
#include "notebook/worker/precompiled_declarations.h"
#include "notebook/worker/redefinition.h"

namespace accelerate::notebook {

namespace {

template <class T>
T taken(llvm::Expected<T> result) {
  if (!result) fail("the interpreter does not start: ", llvm::toString(result.takeError()));
  return static_cast<T&&>(*result);
}

std::unique_ptr<clang::Interpreter> make_engine(const std::vector<std::string>& flags) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
  std::vector<const char*> words;
  for (const auto& flag : flags) words.push_back(flag.c_str());
  clang::IncrementalCompilerBuilder builder;
  builder.SetCompilerArgs(words);
  return taken(clang::Interpreter::create(taken(builder.CreateCpp())));
}

/// What the linker did not find, in the words of C++: from "Symbols not found: [ _Z1fv, _Z1gi ]".
std::string missing_names(const std::string& errors) {
  const std::string kBefore = "Symbols not found: [ ";
  auto begin = errors.find(kBefore);
  if (begin == std::string::npos) return "something that the code needs";
  begin += kBefore.size();
  std::istringstream symbols(errors.substr(begin, errors.find(" ]", begin) - begin));
  std::string names;
  for (std::string symbol; std::getline(symbols >> std::ws, symbol, ',');) {
    names += (names.empty() ? "" : ", ") + llvm::demangle(symbol);
  }
  return names;
}

}  // namespace

Interpreter::Interpreter(const std::vector<std::string>& flags) : engine_(make_engine(flags)) {
  auto& compiler = *engine_->getCompilerInstance();
  // Lives as long as the process, as what the AST reader holds on to.
  static PrecompiledDeclarations declarations(compiler.getASTConsumer());
  if (auto* source = compiler.getASTContext().getExternalSource()) source->StartTranslationUnit(&declarations);
  diagnostics_ = std::make_unique<CellDiagnostics>(compiler);
  auto& session = taken<llvm::orc::LLJIT&>(engine_->getExecutionEngine()).getExecutionSession();
  session.setErrorReporter([this](llvm::Error error) { link_errors_ += llvm::toString(std::move(error)) + "\n"; });
}

Interpreter::~Interpreter() = default;

void Interpreter::run(const Unit& unit) {
  auto parsed = engine_->Parse(unit.code);
  auto report = diagnostics_->take();
  if (!parsed) {
    auto reason = llvm::toString(parsed.takeError());
    throw CompileError(report.first_error.empty() ? reason : report.first_error, report.text);
  }
  std::cerr << report.text;
  for (const auto& name : unit.redefines) hide_older_declarations(*engine_->getCompilerInstance(), name);
  if (!parsed->TheModule) return;
  if (auto error = engine_->Execute(*parsed)) {
    link_errors_ += llvm::toString(std::move(error));
    llvm::consumeError(engine_->Undo());  // or it would be tried, and fail, with every later unit again
    auto errors = std::exchange(link_errors_, {});
    throw CompileError("no loaded library defines " + missing_names(errors) + "; %lib loads one", errors);
  }
}

bool Interpreter::parse(const Unit& unit) {
  auto parsed = engine_->Parse(unit.code);
  diagnostics_->take();
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return false;
  }
  for (const auto& name : unit.redefines) hide_older_declarations(*engine_->getCompilerInstance(), name);
  return true;
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
