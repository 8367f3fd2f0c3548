#include "notebook/worker/redefinition.h"

#include <algorithm>
#include <vector>

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclContextInternals.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Type.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Sema/IdentifierResolver.h>
#include <clang/Sema/Sema.h>

namespace accelerate::notebook {

namespace {

/// Each unit has a translation unit of its own; names are looked up in the first.
clang::TranslationUnitDecl* top_level(clang::CompilerInstance& compiler) {
  return compiler.getASTContext().getTranslationUnitDecl()->getFirstDecl();
}

using Declarations = std::vector<clang::NamedDecl*>;

Declarations declared_in(clang::DeclContext* scope, const std::string& name) {
  clang::DeclarationName key(&scope->getParentASTContext().Idents.get(name));
  auto found = scope->lookup(key);
  return {found.begin(), found.end()};
}

Declarations declared_by_cells(clang::CompilerInstance& compiler, const std::string& name) {
  auto declarations = declared_in(top_level(compiler), name);
  std::erase_if(declarations, [](clang::NamedDecl* declaration) {
    return declaration->isFromASTFile() || declaration->getLocation().isInvalid();
  });
  return declarations;
}

/// A function, a template of one, or what a using-declaration names.
clang::FunctionDecl* as_function(clang::NamedDecl* declaration) {
  declaration = declaration->getUnderlyingDecl();
  if (auto* function_template = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration)) {
    return function_template->getTemplatedDecl();
  }
  return llvm::dyn_cast<clang::FunctionDecl>(declaration);
}

size_t num_template_parameters(const clang::FunctionDecl* function) {
  auto* function_template = function->getDescribedFunctionTemplate();
  return function_template == nullptr ? 0 : function_template->getTemplateParameters()->size();
}

/// Functions with other parameters are overloads, and stay beside each other.
bool is_overload(clang::ASTContext& context, clang::NamedDecl* older, clang::NamedDecl* newer) {
  auto* a = as_function(older);
  auto* b = as_function(newer);
  if (a == nullptr || b == nullptr) return false;
  if (num_template_parameters(a) != num_template_parameters(b) || a->isVariadic() != b->isVariadic()) return true;
  auto types_a = a->getType()->castAs<clang::FunctionProtoType>()->param_types();
  auto types_b = b->getType()->castAs<clang::FunctionProtoType>()->param_types();
  // A parameter of type const int is an int for callers.
  auto same = [&](clang::QualType x, clang::QualType y) {
    return context.getCanonicalParamType(x) == context.getCanonicalParamType(y);
  };
  return !std::equal(types_a.begin(), types_a.end(), types_b.begin(), types_b.end(), same);
}

bool is_defined_in(const clang::NamedDecl* declaration, const std::string& space) {
  auto* scope = llvm::dyn_cast<clang::NamespaceDecl>(declaration->getDeclContext());
  return scope != nullptr && scope->getName() == space && !llvm::isa<clang::UsingShadowDecl>(declaration);
}

void remove_from_table(clang::DeclContext* scope, clang::NamedDecl* declaration) {
  auto* table = scope->getPrimaryContext()->getLookupPtr();
  if (table == nullptr) return;
  auto entry = table->find(declaration->getDeclName());
  if (entry == table->end()) return;
  for (auto* listed : entry->second.getLookupResult()) {
    if (listed == declaration) {
      entry->second.remove(declaration);
      return;
    }
  }
}

void hide(clang::CompilerInstance& compiler, clang::NamedDecl* declaration) {
  remove_from_table(top_level(compiler), declaration);
  // Enumerators are listed around their enumeration too.
  remove_from_table(declaration->getDeclContext()->getEnclosingNamespaceContext(), declaration);
  auto& resolver = compiler.getSema().IdResolver;
  for (auto i = resolver.begin(declaration->getDeclName()); i != resolver.end(); ++i) {
    if (*i == declaration) {
      resolver.RemoveDecl(declaration);
      return;
    }
  }
}

}  // namespace

bool is_declared_by_cell(clang::CompilerInstance& compiler, const std::string& name) {
  return !declared_by_cells(compiler, name).empty();
}

bool hide_replaced(clang::CompilerInstance& compiler, const Overload& overload) {
  auto* space = declared_in(top_level(compiler), overload.signature_space).front();
  auto* signature = declared_in(llvm::cast<clang::NamespaceDecl>(space), overload.name).front();
  for (auto* declaration : declared_by_cells(compiler, overload.name)) {
    // A second definition in the same cell remains an error.
    bool same_cell = is_defined_in(declaration, overload.space);
    if (!same_cell && !is_overload(compiler.getASTContext(), declaration, signature)) hide(compiler, declaration);
  }
  return std::ranges::any_of(declared_in(top_level(compiler), overload.name), as_function);
}

void hide_older_declarations(clang::CompilerInstance& compiler, const std::string& name) {
  auto declarations = declared_by_cells(compiler, name);
  clang::NamedDecl* newest = nullptr;
  for (auto* declaration : declarations) {
    auto& sources = compiler.getSourceManager();
    bool newer =
        newest == nullptr || sources.isBeforeInTranslationUnit(newest->getLocation(), declaration->getLocation());
    if (newer) newest = declaration;
  }
  for (auto* declaration : declarations) {
    auto scope = [](clang::NamedDecl* one) { return one->getDeclContext()->getPrimaryContext(); };
    if (scope(declaration) == scope(newest) || is_overload(compiler.getASTContext(), declaration, newest)) continue;
    hide(compiler, declaration);
  }
}

}  // namespace accelerate::notebook
