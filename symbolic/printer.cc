#include <cmath>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "symbolic/expr.h"
#include "symbolic/expr_node.h"

namespace lathe::symbolic {
namespace {

// How tightly text binds, as the parser reads it.
enum Precedence {
  kOrLevel = 1,
  kAndLevel,
  kNotLevel,
  kCompareLevel,
  kBitOrLevel,
  kBitXorLevel,
  kBitAndLevel,
  kShiftLevel,
  kAddLevel,
  kMulLevel,
  kUnaryLevel,
  kPowLevel,
  kAtomLevel,
};

struct Infix {
  const char* text;
  int level;
};

Infix InfixOf(ExprKind kind) {
  switch (kind) {
    case ExprKind::kAdd:
    case ExprKind::kFloatAdd:
      return {" + ", kAddLevel};
    case ExprKind::kMul:
    case ExprKind::kFloatMul:
      return {"*", kMulLevel};
    case ExprKind::kFloorDiv:
      return {"//", kMulLevel};
    case ExprKind::kMod:
      return {" % ", kMulLevel};
    case ExprKind::kTrueDiv:
      return {"/", kMulLevel};
    case ExprKind::kPow:
    case ExprKind::kFloatPow:
      return {"**", kPowLevel};
    case ExprKind::kShiftLeft:
      return {" << ", kShiftLevel};
    case ExprKind::kShiftRight:
      return {" >> ", kShiftLevel};
    case ExprKind::kBitAnd:
      return {" & ", kBitAndLevel};
    case ExprKind::kBitOr:
      return {" | ", kBitOrLevel};
    case ExprKind::kBitXor:
      return {" ^ ", kBitXorLevel};
    case ExprKind::kEq:
      return {" == ", kCompareLevel};
    case ExprKind::kNe:
      return {" != ", kCompareLevel};
    case ExprKind::kLt:
      return {" < ", kCompareLevel};
    case ExprKind::kLe:
      return {" <= ", kCompareLevel};
    case ExprKind::kAnd:
      return {" and ", kAndLevel};
    case ExprKind::kOr:
      return {" or ", kOrLevel};
    default:
      return {nullptr, kAtomLevel};
  }
}

const char* FunctionOf(ExprKind kind) {
  switch (kind) {
    case ExprKind::kTruncDiv:
      return "truncdiv(";
    case ExprKind::kTruncMod:
      return "truncmod(";
    case ExprKind::kMin:
      return "min(";
    case ExprKind::kMax:
      return "max(";
    case ExprKind::kAbs:
      return "abs(";
    case ExprKind::kWhere:
      return "where(";
    case ExprKind::kToFloat:
      return "float(";
    case ExprKind::kFloor:
      return "floor(";
    case ExprKind::kCeil:
      return "ceil(";
    case ExprKind::kTrunc:
      return "trunc(";
    case ExprKind::kRound:
      return "round(";
    case ExprKind::kSqrt:
      return "sqrt(";
    case ExprKind::kLog2:
      return "log2(";
    default:
      return nullptr;
  }
}

std::string FloatText(double v) {
  if (std::isnan(v)) return "(float(inf) - float(inf))";
  if (std::isinf(v)) return v > 0 ? "float(inf)" : "float(-inf)";
  std::string text = absl::StrFormat("%.17g", v);
  for (int digits = 1; digits < 17; ++digits) {
    std::string shorter = absl::StrFormat("%.*g", digits, v);
    if (std::strtod(shorter.c_str(), nullptr) == v) {
      text = std::move(shorter);
      break;
    }
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// Text or an expression to print with at least `level`, last in first out: depth costs memory,
// not stack.
struct Work {
  Expr e;
  const char* text = nullptr;
  int level = 0;
};

class Printer {
 public:
  explicit Printer(size_t limit) : limit_(limit) {}
  std::string Print(const Expr& e) {
    work_.push_back({e, nullptr, 0});
    while (!work_.empty() && out_.size() <= limit_) {
      const Work w = work_.back();
      work_.pop_back();
      if (w.text != nullptr) {
        out_ += w.text;
      } else {
        PrintOne(w.e, w.level);
      }
    }
    return std::move(out_);
  }

 private:
  void Text(const char* text) { pending_.push_back({Expr(), text, 0}); }
  void Child(const Expr& e, int level) { pending_.push_back({e, nullptr, level}); }
  void Flush() {
    work_.insert(work_.end(), pending_.rbegin(), pending_.rend());
    pending_.clear();
  }

  void PrintOne(const Expr& e, int level) {
    switch (e.kind()) {
      case ExprKind::kConst:
        return Literal(absl::StrCat(*e.AsInt()), level);
      case ExprKind::kFloatConst:
        return Literal(FloatText(*e.AsFloat()), level);
      case ExprKind::kBoolConst:
        return Literal(*e.AsBool() ? "true" : "false", level);
      case ExprKind::kInfinity:
        return Literal("inf", level);
      case ExprKind::kNegInfinity:
        return Literal("-inf", level);
      case ExprKind::kOverflow:
        return Literal("overflow", level);
      case ExprKind::kSymbol:
        out_.append(e.symbol_name().data(), e.symbol_name().size());
        return;
      default:
        Operation(e, level);
        Flush();
    }
  }

  void Literal(const std::string& text, int level) {
    const bool parenthesise = text[0] == '-' && level > kUnaryLevel;
    absl::StrAppend(&out_, parenthesise ? "(" : "", text, parenthesise ? ")" : "");
  }

  void Operation(const Expr& e, int level) {
    if (const char* function = FunctionOf(e.kind())) {
      Text(function);
      Join(e.operands(), ", ", 0);
      return Text(")");
    }
    const Infix infix = InfixOf(e.kind());
    const bool negated = e.kind() == ExprKind::kMul && IsMinusOne(e.operands()[0]);
    const int own = e.kind() == ExprKind::kNot            ? kNotLevel
                    : negated && e.operands().size() == 2 ? kUnaryLevel
                                                          : infix.level;
    const bool parenthesise = own < level;
    if (parenthesise) Text("(");
    if (e.kind() == ExprKind::kNot) {
      Text("not ");
      Child(e.operands()[0], kNotLevel);
    } else if (e.kind() == ExprKind::kAdd) {
      SumTerms(e.operands());
    } else if (negated) {
      Text("-");
      Negated(e);
    } else {
      InfixOperands(e, infix);
    }
    if (parenthesise) Text(")");
  }

  static bool IsMinusOne(const Expr& e) { return e.is_const() && *e.AsInt() == -1; }

  void Join(absl::Span<const Expr> operands, const char* separator, int level) {
    for (size_t i = 0; i < operands.size(); ++i) {
      if (i > 0) Text(separator);
      Child(operands[i], level);
    }
  }

  void InfixOperands(const Expr& e, const Infix& infix) {
    const absl::Span<const Expr> x = e.operands();
    switch (e.kind()) {
      case ExprKind::kMul:
      case ExprKind::kAnd:
      case ExprKind::kOr:
        return Join(x, infix.text, infix.level + 1);
      case ExprKind::kPow:
      case ExprKind::kFloatPow:  // associates to the right
        Child(x[0], kAtomLevel);
        Text(infix.text);
        return Child(x[1], kAtomLevel);
      default: {
        // Associates to the left, comparisons do not; (s0//4) % 8 reads better with parentheses.
        const bool compares = infix.level == kCompareLevel;
        const bool divides = infix.level == kMulLevel && x[0].kind() != ExprKind::kMul;
        Child(x[0], compares || divides ? infix.level + 1 : infix.level);
        Text(infix.text);
        Child(x[1], infix.level + 1);
      }
    }
  }

  // Of a product that starts with -1, what follows the minus sign. Unary minus binds tighter than
  // a product but is read as a product with -1 all the same.
  void Negated(const Expr& e) { Join(e.operands().subspan(1), "*", kMulLevel + 1); }

  void SumTerms(absl::Span<const Expr> terms) {
    for (size_t i = 0; i < terms.size(); ++i) {
      const Expr& t = terms[i];
      if (i == 0) {
        Child(t, kAddLevel + 1);
      } else if (!IsNegative(t)) {
        Text(" + ");
        Child(t, kAddLevel + 1);
      } else {
        Text(" - ");
        Subtracted(t);
      }
    }
  }

  static bool IsNegative(const Expr& t) {
    const Expr& c = t.kind() == ExprKind::kMul ? t.operands()[0] : t;
    return c.is_const() && *c.AsInt() < 0;
  }

  void Subtracted(const Expr& t) {
    const int64_t c = *(t.is_const() ? t : t.operands()[0]).AsInt();
    if (c == -1 && !t.is_const()) return Negated(t);
    // The magnitude of INT64_MIN is a number the parser reads only after a minus sign.
    numbers_.push_back(absl::StrCat(0 - static_cast<uint64_t>(c)));
    OwnedText(numbers_.back());
    if (t.is_const()) return;
    Text("*");
    Negated(t);
  }

  void OwnedText(const std::string& text) { Text(text.c_str()); }

  const size_t limit_;
  std::string out_;
  std::vector<Work> work_, pending_;
  std::deque<std::string> numbers_;  // texts on the work stack
};

}  // namespace

std::string ToString(const Expr& e) { return Printer(std::string::npos).Print(e); }

std::string ShortText(const Expr& e) {
  constexpr size_t kLongest = 200;
  std::string text = Printer(kLongest).Print(e);
  if (text.size() <= kLongest) return text;
  text.resize(kLongest);
  return text + "...";
}

}  // namespace lathe::symbolic
