#include "symbolic/trees_for_tests.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace lathe::symbolic {
namespace {

using Op = Tree::Op;

int64_t Floor(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

bool Divides(Op op) {
  return op == Op::kFloorDiv || op == Op::kMod || op == Op::kCeilDiv || op == Op::kTruncDiv ||
         op == Op::kTruncMod;
}

int64_t Apply(Op op, int64_t a, int64_t b) {
  switch (op) {
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kFloorDiv:
      return Floor(a, b);
    case Op::kMod:
      return a - b * Floor(a, b);
    case Op::kCeilDiv:
      return -Floor(-a, b);
    case Op::kTruncDiv:
      return a / b;
    case Op::kTruncMod:
      return a % b;
    case Op::kBitAnd:
      return a & b;
    case Op::kBitOr:
      return a | b;
    case Op::kBitXor:
      return a ^ b;
    case Op::kMin:
      return std::min(a, b);
    case Op::kMax:
      return std::max(a, b);
    case Op::kEq:
      return a == b;
    case Op::kNe:
      return a != b;
    case Op::kLt:
      return a < b;
    case Op::kLe:
      return a <= b;
    case Op::kAnd:
      return a != 0 && b != 0;
    case Op::kOr:
      return a != 0 || b != 0;
    default:
      std::abort();
  }
}

Expr Make(Op op, const Expr& a, const Expr& b) {
  switch (op) {
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kFloorDiv:
      return FloorDiv(a, b);
    case Op::kMod:
      return Mod(a, b);
    case Op::kCeilDiv:
      return CeilDiv(a, b);
    case Op::kTruncDiv:
      return TruncDiv(a, b);
    case Op::kTruncMod:
      return TruncMod(a, b);
    case Op::kBitAnd:
      return BitAnd(a, b);
    case Op::kBitOr:
      return BitOr(a, b);
    case Op::kBitXor:
      return BitXor(a, b);
    case Op::kMin:
      return Min(a, b);
    case Op::kMax:
      return Max(a, b);
    case Op::kEq:
      return Eq(a, b);
    case Op::kNe:
      return Ne(a, b);
    case Op::kLt:
      return Lt(a, b);
    case Op::kLe:
      return Le(a, b);
    case Op::kAnd:
      return And(a, b);
    case Op::kOr:
      return Or(a, b);
    default:
      std::abort();
  }
}

const char* Name(Op op) {
  static const char* const names[] = {
      "",         "",         " + ",  " - ", "*",    " // ",  " % ",  "ceildiv",
      "truncdiv", "truncmod", " & ",  " | ", " ^ ",  "min",   "max",  "abs",
      "where",    " == ",     " != ", " < ", " <= ", " and ", " or ", "not "};
  return names[static_cast<int>(op)];
}

}  // namespace

Expr Tree::Build(absl::Span<const Expr> symbols) const {
  switch (op) {
    case Op::kConst:
      return value;
    case Op::kSymbol:
      return symbols[static_cast<size_t>(value)];
    case Op::kAbs:
      return symbolic::Abs(kids[0].Build(symbols));
    case Op::kNot:
      return symbolic::Not(kids[0].Build(symbols));
    case Op::kWhere:
      return symbolic::Where(kids[0].Build(symbols), kids[1].Build(symbols),
                             kids[2].Build(symbols));
    default:
      return Make(op, kids[0].Build(symbols), kids[1].Build(symbols));
  }
}

std::optional<int64_t> Tree::At(const int64_t* values) const {
  if (op == Op::kConst) return value;
  if (op == Op::kSymbol) return values[value];
  const std::optional<int64_t> a = kids[0].At(values);
  if (!a) return std::nullopt;
  if (op == Op::kAbs) return std::abs(*a);
  if (op == Op::kNot) return *a == 0;
  if (op == Op::kWhere) {
    // Both sides must have a value: an expression that is undefined anywhere inside may be
    // rewritten in any way.
    const std::optional<int64_t> x = kids[1].At(values), y = kids[2].At(values);
    if (!x || !y) return std::nullopt;
    return *a != 0 ? x : y;
  }
  const std::optional<int64_t> b = kids[1].At(values);
  if (!b || (Divides(op) && *b == 0)) return std::nullopt;
  return Apply(op, *a, *b);
}

std::string Tree::Text() const {
  switch (op) {
    case Op::kConst:
      return value < 0 ? absl::StrCat("(", value, ")") : absl::StrCat(value);
    case Op::kSymbol:
      return absl::StrCat("s", value);
    case Op::kNot:
      return absl::StrCat("(not ", kids[0].Text(), ")");
    case Op::kAbs:
      return absl::StrCat("abs(", kids[0].Text(), ")");
    case Op::kWhere:
      return absl::StrCat("where(", kids[0].Text(), ", ", kids[1].Text(), ", ", kids[2].Text(),
                          ")");
    case Op::kCeilDiv:
    case Op::kTruncDiv:
    case Op::kTruncMod:
    case Op::kMin:
    case Op::kMax:
      return absl::StrCat(Name(op), "(", kids[0].Text(), ", ", kids[1].Text(), ")");
    default:
      return absl::StrCat("(", kids[0].Text(), Name(op), kids[1].Text(), ")");
  }
}

int64_t TreeMaker::SmallConst() {
  static const int64_t constants[] = {0, 1, 1, 2,  2,  2,  3,  3,  4,  4,  5, 6,
                                      7, 8, 9, 12, 16, -1, -1, -2, -3, -4, -7};
  return constants[Roll(static_cast<int>(sizeof(constants) / sizeof(constants[0])))];
}

Tree TreeMaker::Leaf() { return Roll(3) == 0 ? Tree::Const(SmallConst()) : Symbol(); }

Tree TreeMaker::Linear() {
  Tree t = Tree::Of(Op::kMul, Tree::Const(SmallConst()), Symbol());
  if (Roll(2) == 0) {
    t = Tree::Of(Roll(2) ? Op::kAdd : Op::kSub, std::move(t),
                 Tree::Of(Op::kMul, Tree::Const(SmallConst()), Symbol()));
  }
  if (Roll(2) == 0) t = Tree::Of(Op::kAdd, std::move(t), Tree::Const(SmallConst()));
  return t;
}

Tree TreeMaker::Integer(int depth) {
  if (depth == 0 || Roll(7) == 0) return Leaf();
  const int k = Roll(20);
  const auto with_constant = [&](Op op) {
    const int64_t d = Roll(8) == 0 ? SmallConst() : 1 + Roll(8);
    return Tree::Of(op, Integer(depth - 1), Tree::Const(d));
  };
  const auto both = [&](Op op) {
    Tree a = Integer(depth - 1);
    return Tree::Of(op, std::move(a), Integer(depth - 1));
  };
  if (k < 3) return both(Op::kAdd);
  if (k < 5) return both(Op::kSub);
  if (k < 8) return both(Op::kMul);
  if (k < 10) return with_constant(Op::kFloorDiv);
  if (k < 12) return with_constant(Op::kMod);
  if (k == 12) return both(Roll(2) ? Op::kFloorDiv : Op::kMod);
  if (k == 13) return with_constant(Op::kCeilDiv);
  if (k == 14) return both(Op::kMin);
  if (k == 15) return both(Op::kMax);
  if (k == 16) return Tree::Of(Op::kAbs, Integer(depth - 1));
  if (k == 17) {
    Tree c = Condition(depth - 1), a = Integer(depth - 1);
    return Tree::Where(std::move(c), std::move(a), Integer(depth - 1));
  }
  if (k == 18) return Linear();
  static const Op rare[] = {Op::kTruncDiv, Op::kTruncMod, Op::kBitAnd, Op::kBitOr, Op::kBitXor};
  return both(rare[Roll(5)]);
}

Tree TreeMaker::Condition(int depth) {
  static const Op compare[] = {Op::kEq, Op::kNe, Op::kLt, Op::kLe};
  if (depth > 0 && Roll(5) == 0) {
    Tree a = Condition(depth - 1);
    return Tree::Of(Roll(2) ? Op::kAnd : Op::kOr, std::move(a), Condition(depth - 1));
  }
  if (depth > 0 && Roll(8) == 0) return Tree::Of(Op::kNot, Condition(depth - 1));
  Tree a = Integer(depth);
  return Tree::Of(compare[Roll(4)], std::move(a), Integer(depth > 0 ? depth - 1 : 0));
}

Tree TreeMaker::Fact() {
  const auto constant = [&] { return Tree::Const(SmallConst()); };
  switch (Roll(12)) {
    case 0:
    case 1:
      return Tree::Of(Op::kLe, Linear(), Linear());
    case 2:
    case 3: {
      const int64_t d = 2 + Roll(6);
      return Tree::Of(Op::kEq, Tree::Of(Op::kMod, Roll(2) ? Symbol() : Linear(), Tree::Const(d)),
                      Tree::Const(Roll(static_cast<int>(d))));
    }
    case 4:
      return Tree::Of(Op::kEq, Symbol(), Linear());
    case 5: {
      Tree product = Tree::Of(Op::kMul, Symbol(), Symbol());
      return Tree::Of(Roll(3) ? Op::kLe : Op::kEq, std::move(product),
                      Roll(2) ? Linear() : constant());
    }
    case 6:
      return Tree::Of(Op::kEq, Tree::Of(Op::kMod, Tree::Of(Op::kMul, Symbol(), Symbol()), Symbol()),
                      Tree::Const(0));
    case 7:
      return Tree::Of(Op::kNe, Roll(2) ? Symbol() : Linear(), constant());
    case 8:
      return Tree::Of(Roll(2) ? Op::kLe : Op::kLt, Symbol(), Roll(2) ? Symbol() : constant());
    case 9:
      return Tree::Of(Op::kEq, Linear(), Linear());
    default:
      return Condition(2);
  }
}

Tree TreeMaker::Claim() {
  const Tree e = Integer(2);
  const Tree d = Roll(3) == 0 ? Symbol() : Tree::Const(1 + Roll(8));
  const auto of = [](Op op, const Tree& a, const Tree& b) { return Tree::Of(op, a, b); };
  switch (Roll(12)) {
    case 0:  // d*(e//d) + e % d against e
      return of(Op::kEq, of(Op::kAdd, of(Op::kMul, d, of(Op::kFloorDiv, e, d)), of(Op::kMod, e, d)),
                Roll(3) ? e : of(Op::kAdd, e, Tree::Const(1)));
    case 1:
      return of(Op::kLe, of(Op::kMul, of(Op::kFloorDiv, e, d), d), e);
    case 2: {
      const Tree f = Integer(1);
      return of(Op::kEq, of(Op::kFloorDiv, of(Op::kMul, e, f), f), e);
    }
    case 3:
      return of(Op::kLt, of(Op::kMod, e, d), d);
    case 4: {
      const Tree f = Integer(1);
      return of(Op::kEq, of(Op::kMin, e, f), Roll(2) ? e : f);
    }
    case 5: {
      const Tree f = Linear();
      return of(Roll(2) ? Op::kLe : Op::kEq, of(Op::kFloorDiv, of(Op::kAdd, e, f), d),
                of(Op::kAdd, of(Op::kFloorDiv, e, d), of(Op::kFloorDiv, f, d)));
    }
    case 6:
      return of(Op::kEq, of(Op::kMod, e, d), Tree::Const(Roll(3)));
    default:
      return Condition(3);
  }
}

}  // namespace lathe::symbolic
