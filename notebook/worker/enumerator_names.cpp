#include "notebook/worker/enumerator_names.h"

#include <bit>
#include <memory>
#include <string_view>

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Mangle.h>
#include <clang/Frontend/CompilerInstance.h>
#include <llvm/Support/raw_ostream.h>

namespace accelerate::notebook {

namespace {

template <class Declaration>
Declaration* declaration_in(clang::DeclContext* scope, std::string_view name) {
  if (scope == nullptr) return nullptr;
  clang::DeclarationName key(&scope->getParentASTContext().Idents.get(name));
  for (auto* found : scope->lookup(key)) {
    if (auto* wanted = llvm::dyn_cast<Declaration>(found)) return wanted;
  }
  return nullptr;
}

/// The function of runtime/enum_text.h: each type whose values are shown is an argument of this template.
clang::FunctionTemplateDecl* showing_function(clang::ASTContext& context) {
  clang::DeclContext* top_level = context.getTranslationUnitDecl()->getFirstDecl();
  auto* outer = declaration_in<clang::NamespaceDecl>(top_level, "accelerate");
  auto* inner = declaration_in<clang::NamespaceDecl>(outer, "notebook");
  return declaration_in<clang::FunctionTemplateDecl>(inner, "enum_value_text");
}

/// The name that the type has at run time.
std::string run_time_name(clang::MangleContext& mangler, clang::QualType type) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  mangler.mangleCXXRTTIName(type, stream);
  return name;
}

clang::EnumDecl* enumeration_of(clang::ASTContext& context, const std::type_info& type) {
  auto* function = showing_function(context);
  if (function == nullptr) return nullptr;
  std::unique_ptr<clang::MangleContext> mangler(context.createMangleContext());
  const auto wanted = "_ZTS" + std::string(type.name());
  for (auto* shown : function->specializations()) {
    auto argument = shown->getTemplateSpecializationArgs()->get(0).getAsType();
    auto* enumeration = argument->getAs<clang::EnumType>();
    // Types without a name have numbers at run time, which depend on the order of uses.
    if (enumeration == nullptr || !enumeration->getDecl()->hasNameForLinkage()) continue;
    if (run_time_name(*mangler, argument) == wanted) return enumeration->getDecl();
  }
  return nullptr;
}

/// With its namespaces and classes. What is local to a function begins with its own name.
std::string qualified_name(const clang::NamedDecl& declaration) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  declaration.printQualifiedName(stream);
  const std::string unnamed = "(anonymous namespace)::";
  for (size_t at; (at = name.find(unnamed)) != std::string::npos;) name.erase(at, unnamed.size());
  auto function = name.rfind(")::");
  return function == std::string::npos ? name : name.substr(function + 3);
}

int64_t bits_of(const clang::EnumConstantDecl& enumerator) {
  const auto& value = enumerator.getInitVal();
  return value.isUnsigned() ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue();
}

/// The enumerators that stand for one bit each, if they make up the value.
std::optional<std::string> flags_text(const clang::EnumDecl& enumeration, int64_t bits) {
  std::string text;
  auto rest = static_cast<uint64_t>(bits);
  for (const auto* enumerator : enumeration.enumerators()) {
    auto flag = static_cast<uint64_t>(bits_of(*enumerator));
    if (!std::has_single_bit(flag) || (rest & flag) == 0) continue;
    text += (text.empty() ? "" : " | ") + qualified_name(*enumerator);
    rest &= ~flag;
  }
  if (rest != 0 || text.empty()) return std::nullopt;
  return text;
}

}  // namespace

std::optional<std::string> enumerator_text(clang::CompilerInstance& compiler, const std::type_info& type,
                                           int64_t bits) {
  const auto* enumeration = enumeration_of(compiler.getASTContext(), type);
  if (enumeration == nullptr) return std::nullopt;
  if (enumeration->getDefinition() != nullptr) enumeration = enumeration->getDefinition();
  for (const auto* enumerator : enumeration->enumerators()) {
    if (bits_of(*enumerator) == bits) return qualified_name(*enumerator);
  }
  if (auto flags = flags_text(*enumeration, bits)) return flags;
  bool is_signed = enumeration->getIntegerType()->isSignedIntegerType();
  auto number = is_signed ? std::to_string(bits) : std::to_string(static_cast<uint64_t>(bits));
  return qualified_name(*enumeration) + "(" + number + ")";
}

}  // namespace accelerate::notebook
