#include "notebook/runtime/value_text.h"

#include <utility>

namespace accelerate::notebook {

namespace {

EnumNamer& enum_namer() {
  static EnumNamer namer;
  return namer;
}

}  // namespace

void name_enumerators_by(EnumNamer namer) { enum_namer() = std::move(namer); }

std::string enum_text(const std::type_info& type, int64_t bits, const std::string& number, bool scoped) {
  if (auto text = enum_namer() ? enum_namer()(type, bits) : std::nullopt) return *text;
  return scoped ? type_text(type) + "(" + number + ")" : number;
}

}  // namespace accelerate::notebook
