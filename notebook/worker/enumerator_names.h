#pragma once

// The names of enumerators, as the compiler knows them.

#include <cstdint>
#include <optional>
#include <string>
#include <typeinfo>

namespace clang {
class CompilerInstance;
}

namespace accelerate::notebook {

/// How C++ writes this value of an enumeration that a cell has shown: `Color::Red`, `Flags::A | Flags::B`, or
/// `Color(7)` for a number without a name. Nothing for other types, and for enumerations without a name.
std::optional<std::string> enumerator_text(clang::CompilerInstance& compiler, const std::type_info& type, int64_t bits);

}  // namespace accelerate::notebook
