#ifndef LATHE_CODEGEN_CPU_EXPRESSION_TEXT_H_
#define LATHE_CODEGEN_CPU_EXPRESSION_TEXT_H_

#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "symbolic/expr.h"

namespace lathe::cpu {

using SymbolNames = absl::flat_hash_map<Expr, std::string>;  // C++ text of each symbol

// The expression in C++ over int64_t (double for float expressions), parenthesised where needed.
// Unimplemented for kinds that kernels do not compute; Internal for a symbol without a name.
absl::StatusOr<std::string> ExpressionText(const Expr& e, const SymbolNames& names);

// How much `e` grows when `axis` grows by 1, if that is the same everywhere: 0 when it does not
// hold the axis, nullopt when it is not linear in it.
//   StrideAlong(s0*i0 + i1, i0) == s0;  StrideAlong(i0 // 4, i0) == nullopt
std::optional<Expr> StrideAlong(const Expr& e, const Expr& axis);

bool HoldsSymbol(const Expr& e, const Expr& symbol);

}  // namespace lathe::cpu

#endif  // LATHE_CODEGEN_CPU_EXPRESSION_TEXT_H_
