#include "notebook/worker/redefinition.h"

#include <vector>

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclContextInternals.h>
#include <clang/AST/DeclTemplate.h>
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

std::vector<clang::NamedDecl*> declared_by_cells(clang::CompilerInstance& compiler, const std::string& name) {
  std::vector<clang::NamedDecl*> found;
  clang::DeclarationName key(&compiler.getASTContext().Idents.get(name));
  for (auto* declaration : top_level(compiler)->lookup(key)) {
    if (!declaration->isFromASTFile() && declaration->getLocation().isValid()) found.push_back(declaration);
  }
  return found;
}

clang::FunctionDecl* as_function(clang::NamedDecl* declaration) {
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
  if (a == nullptr || b == nullptr || older->getKind() != newer->getKind()) return false;
  if (a->param_size() != b->param_size() || num_template_parameters(a) != num_template_parameters(b)) return true;
  for (unsigned i = 0; i < a->param_size(); ++i) {
    if (!context.hasSameType(a->getParamDecl(i)->getType(), b->getParamDecl(i)->getType())) return true;
  }
  return false;
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
