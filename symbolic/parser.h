#ifndef LATHE_SYMBOLIC_PARSER_H_
#define LATHE_SYMBOLIC_PARSER_H_

// Texts to expressions. Every error is InvalidArgument with the column ("column 7: expected ')'").
// Depth is bounded by memory, not by the stack: inputs may be hostile.

#include <functional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "symbolic/expr.h"

namespace lathe::symbolic {

// lathe's syntax, what ToString writes: + - * // % ** << >> & | ^, / (true division),
// min max abs where ceildiv truncdiv truncmod float floor ceil trunc round sqrt log2,
// == != < <= > >=, and or not, true false inf, integers and floats. Identifiers are symbols of
// `context`; names u0, u1... become unbacked. Of a result that IsOverflow(), `undefined_column` is
// where that comes from.
absl::StatusOr<Expr> ParseExpr(absl::string_view text, ExprContext& context,
                               size_t* undefined_column = nullptr);

// The name of a symbol that ParseExpr reads back as one: letters, digits and _, not a word of its
// language.
bool IsSymbolName(absl::string_view name);

// The text of SymPy expressions in .pt2 files ("Symbol('s31', positive=True, integer=True)",
// "s0*FloorDiv(s1, 2)", "2*s0 + 1", "Mul(Integer(2), Symbol('s0', ...))", Mod, PythonMod,
// ModularIndexing, CleanDiv, Max, Min, IntTrueDiv, FloatTrueDiv, ToFloat, Eq, Ne, Lt, Le,
// Integer(2), Rational(1, 2) inside a product, oo, int_oo ...). Unknown functions are refused by
// name (Unimplemented).
absl::StatusOr<Expr> ParseSympy(absl::string_view text, ExprContext& context,
                                size_t* undefined_column = nullptr);

// A guard string of a .pt2 file: Python over sources, "L['x'].size()[1] == L['y'].size()[0]".
// `resolve` maps a source, as its exact text ("L['x'].size()[1]"), to the expression it stands for.
absl::StatusOr<Expr> ParseGuard(
    absl::string_view text, ExprContext& context,
    const std::function<absl::StatusOr<Expr>(absl::string_view source)>& resolve);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_PARSER_H_
