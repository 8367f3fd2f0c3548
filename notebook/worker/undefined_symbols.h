#pragma once

// What the code of a cell calls although neither a library nor a cell defines it.

#include <set>
#include <string>
#include <vector>

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
