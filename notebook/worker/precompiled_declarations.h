#pragma once

// Makes the functions of a precompiled header available to the interpreter.

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/DeclGroup.h>

namespace accelerate::notebook {

/// Passes on declarations that are read from a precompiled header as if they stood in a cell. clang 19 drops those that
/// it reads after its first unit, which is empty, so that inline functions would be without code.
class PrecompiledDeclarations : public clang::ASTConsumer {
 public:
  explicit PrecompiledDeclarations(clang::ASTConsumer& target) : target_(target) {}

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override { return target_.HandleTopLevelDecl(group); }
  void HandleInterestingDecl(clang::DeclGroupRef group) override { target_.HandleTopLevelDecl(group); }

 private:
  clang::ASTConsumer& target_;
};

}  // namespace accelerate::notebook
