#ifndef LATHE_CODEGEN_CPU_EXPRESSION_TEXT_H_
#define LATHE_CODEGEN_CPU_EXPRESSION_TEXT_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "symbolic/expr.h"

namespace lathe::cpu {

using SymbolNames = absl::flat_hash_map<Expr, std::string>;  // C++ text of each symbol

// The expression in C++ over int64_t (double for float expressions), parenthesised where needed.
// Unimplemented for kinds that kernels do not compute; Internal for a symbol without a name.
absl::StatusOr<std::string> ExpressionText(const Expr& e, const SymbolNames& names);

}  // namespace lathe::cpu

#endif  // LATHE_CODEGEN_CPU_EXPRESSION_TEXT_H_
