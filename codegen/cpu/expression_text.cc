#include "codegen/cpu/expression_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"

namespace lathe::cpu {
namespace {

using symbolic::ExprKind;

std::string IntegerText(int64_t value) {
  if (value == INT64_MIN) return "(-9223372036854775807L - 1)";
  return value < 0 ? absl::StrCat("(", value, "L)") : absl::StrCat(value, "L");
}

// Operands joined by an operator, or nested calls of a function of two.
std::string Joined(const std::vector<std::string>& x, absl::string_view separator) {
  return absl::StrCat("(", absl::StrJoin(x, separator), ")");
}
std::string Folded(absl::string_view function, const std::vector<std::string>& x) {
  std::string text = x[0];
  for (size_t k = 1; k < x.size(); ++k) text = absl::StrCat(function, "(", text, ", ", x[k], ")");
  return text;
}

absl::StatusOr<std::string> Composite(const Expr& e, const std::vector<std::string>& x) {
  switch (e.kind()) {
    case ExprKind::kAdd:
    case ExprKind::kFloatAdd:
      return Joined(x, " + ");
    case ExprKind::kMul:
    case ExprKind::kFloatMul:
      return Joined(x, " * ");
    case ExprKind::kFloorDiv:
      return Folded("hn::FloorDiv", x);
    case ExprKind::kMod:
      return Folded("hn::Mod", x);
    case ExprKind::kTruncDiv:
      return Joined(x, " / ");
    case ExprKind::kTruncMod:
      return Joined(x, " % ");
    case ExprKind::kShiftLeft:
      return Joined(x, " << ");
    case ExprKind::kShiftRight:
      return Joined(x, " >> ");
    case ExprKind::kBitAnd:
      return Joined(x, " & ");
    case ExprKind::kBitOr:
      return Joined(x, " | ");
    case ExprKind::kBitXor:
      return Joined(x, " ^ ");
    case ExprKind::kMin:
      return Folded("hn::Least", x);
    case ExprKind::kMax:
      return Folded("hn::Most", x);
    case ExprKind::kAbs:
      return absl::StrCat("hn::Most(", x[0], ", -", x[0], ")");
    case ExprKind::kWhere:
      return absl::StrCat("(", x[0], " ? ", x[1], " : ", x[2], ")");
    case ExprKind::kEq:
      return Joined(x, " == ");
    case ExprKind::kNe:
      return Joined(x, " != ");
    case ExprKind::kLt:
      return Joined(x, " < ");
    case ExprKind::kLe:
      return Joined(x, " <= ");
    case ExprKind::kAnd:
      return Joined(x, " && ");
    case ExprKind::kOr:
      return Joined(x, " || ");
    case ExprKind::kNot:
      return absl::StrCat("(!", x[0], ")");
    case ExprKind::kTrueDiv:
      return absl::StrCat("(static_cast<double>(", x[0], ") / static_cast<double>(", x[1], "))");
    case ExprKind::kToFloat:
      return absl::StrCat("static_cast<double>(", x[0], ")");
    case ExprKind::kFloor:
      return absl::StrCat("static_cast<int64_t>(__builtin_floor(", x[0], "))");
    case ExprKind::kCeil:
      return absl::StrCat("static_cast<int64_t>(__builtin_ceil(", x[0], "))");
    case ExprKind::kTrunc:
      return absl::StrCat("static_cast<int64_t>(__builtin_trunc(", x[0], "))");
    case ExprKind::kRound:
      return absl::StrCat("static_cast<int64_t>(__builtin_nearbyint(", x[0], "))");
    case ExprKind::kSqrt:
      return absl::StrCat("__builtin_sqrt(", x[0], ")");
    case ExprKind::kLog2:
      return absl::StrCat("__builtin_log2(", x[0], ")");
    case ExprKind::kFloatPow:
      return absl::StrCat("__builtin_pow(", x[0], ", ", x[1], ")");
    default:
      return Unimplemented("kernels do not compute '", symbolic::ToString(e), "'");
  }
}

absl::StatusOr<std::string> PowerText(const Expr& e, const SymbolNames& names) {
  const std::optional<int64_t> exponent = e.operands()[1].AsInt();
  if (!exponent || *exponent < 1 || *exponent > 64) {
    return Unimplemented("kernels do not compute '", symbolic::ToString(e), "'");
  }
  LATHE_ASSIGN_OR_RETURN(std::string base, ExpressionText(e.operands()[0], names));
  return Joined(std::vector<std::string>(*exponent, base), " * ");
}

}  // namespace

absl::StatusOr<std::string> ExpressionText(const Expr& e, const SymbolNames& names) {
  if (e.is_const()) return IntegerText(*e.AsInt());
  switch (e.kind()) {
    case ExprKind::kSymbol: {
      auto it = names.find(e);
      if (it == names.end()) return Internal("kernel: no value for '", e.symbol_name(), "'");
      return it->second;
    }
    case ExprKind::kBoolConst:
      return std::string(*e.AsBool() ? "true" : "false");
    case ExprKind::kFloatConst:
      return absl::StrFormat("%a", *e.AsFloat());
    case ExprKind::kPow:
      return PowerText(e, names);
    default:
      break;
  }
  std::vector<std::string> operands;
  for (const Expr& operand : e.operands()) {
    LATHE_ASSIGN_OR_RETURN(std::string text, ExpressionText(operand, names));
    operands.push_back(std::move(text));
  }
  return Composite(e, operands);
}

}  // namespace lathe::cpu
