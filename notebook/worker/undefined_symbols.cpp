#include "notebook/worker/undefined_symbols.h"

#include <clang/Interpreter/Interpreter.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/ExecutionEngine/Orc/Shared/ExecutorAddress.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace accelerate::notebook {

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
