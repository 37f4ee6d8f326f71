// What the user asks, as symbols and bindings of a ShapeEnv.

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "capture/constraints/export_constraints.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"
#include "symbolic/parser.h"

namespace lathe {

using symbolic::Expr;
using symbolic::Range;
using symbolic::ShapeEnv;
using symbolic::Source;
using Kind = DimSpec::Kind;

absl::StatusOr<ExportConstraints> ExportConstraints::Declare(
    Specification specification, absl::Span<const std::vector<int64_t>> examples, ShapeEnv& env) {
  ExportConstraints c;
  c.specification_ = std::move(specification);
  const size_t n = c.specification_.inputs.size();
  if (examples.size() != n) {
    return InvalidArgument("the specification has ", n, " inputs, there are ", examples.size(),
                           " examples");
  }
  c.sizes_.resize(n);
  // The names are taken before automatic dims get theirs.
  for (const NamedDim& dim : c.specification_.dims) env.context().Symbol(dim.name);
  for (size_t i = 0; i < n; ++i) LATHE_RETURN_IF_ERROR(c.DeclareInput(i, examples[i], env));
  LATHE_RETURN_IF_ERROR(c.DeclareConditions(env));
  for (AskedSymbol& s : c.symbols_) s.granted = env.RangeOf(s.expr);
  return c;
}

// Sets and conditions are guards: another input needs another program.
absl::Status ExportConstraints::DeclareConditions(ShapeEnv& env) {
  const symbolic::Asker asker = {std::string(kSpecificationAsker), ""};
  for (const AskedSymbol& s : symbols_) {
    if (s.allowed.size() < 2) continue;
    std::vector<Expr> cases;
    for (const int64_t v : s.allowed) cases.push_back(Eq(s.expr, v));
    const Expr any = env.context().Make(symbolic::ExprKind::kOr, cases);
    LATHE_RETURN_IF_ERROR(env.GuardTrue(any, asker).status());
  }
  for (const std::string& text : specification_.conditions) {
    symbolic::ExprContext names;
    LATHE_ASSIGN_OR_RETURN(const Expr named, symbolic::ParseExpr(text, names));
    absl::flat_hash_map<Expr, Expr> values;
    for (const Expr& name : symbolic::FreeSymbols(named)) {
      const auto s = std::find_if(symbols_.begin(), symbols_.end(), [&](const AskedSymbol& k) {
        return k.asked_name == name.symbol_name();
      });
      if (s == symbols_.end()) {
        return InvalidArgument("where ", text, ": no input has the dim ", name.symbol_name());
      }
      values.emplace(name, s->expr);
    }
    const Expr condition = symbolic::Substitute(named, values, env.context());
    const absl::StatusOr<int64_t> holds =
        symbolic::Evaluate(condition, [&](const Expr& s) { return env.hint(s); });
    if (!holds.ok() || *holds == 0) {
      return InvalidArgument("the example is not as asked for: where ", text);
    }
    LATHE_RETURN_IF_ERROR(env.GuardTrue(condition, asker).status());
    conditions_.push_back(condition);
  }
  return absl::OkStatus();
}

bool ExportConstraints::IsSize(absl::string_view dim) const {
  for (const InputSpec& input : specification_.inputs) {
    for (const DimSpec& d : input.dims) {
      if (!input.is_scalar && d.kind == Kind::kNamed && d.name == dim) return true;
    }
  }
  return false;
}

absl::Status ExportConstraints::DeclareInput(size_t i, absl::Span<const int64_t> example,
                                             ShapeEnv& env) {
  const InputSpec& input = specification_.inputs[i];
  if (example.size() != input.dims.size()) {
    return InvalidArgument("input ", input.name, ": the specification has ", input.dims.size(),
                           " dimensions, the example ", example.size());
  }
  // Plain names first, so that derived ones find their root.
  sizes_[i].resize(example.size());
  for (const bool plain : {true, false}) {
    for (size_t d = 0; d < example.size(); ++d) {
      const DimSpec& dim = input.dims[d];
      const bool derived = dim.kind == Kind::kNamed && (dim.scale != 1 || dim.offset != 0);
      if (derived == plain) continue;
      LATHE_ASSIGN_OR_RETURN(sizes_[i][d], DeclareDim(i, d, example[d], env));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Expr> ExportConstraints::DeclareDim(size_t i, size_t d, int64_t example,
                                                   ShapeEnv& env) {
  const InputSpec& input = specification_.inputs[i];
  const DimSpec& dim = input.dims[d];
  const Source source = input.is_scalar
                            ? Source::InputScalar(static_cast<int>(i))
                            : Source::InputSize(static_cast<int>(i), static_cast<int>(d));
  AskedSymbol s;
  s.kind = dim.kind;
  s.asked = dim.range;
  s.place = input.is_scalar ? absl::StrCat("input ", input.name)
                            : absl::StrCat("size ", d, " of ", input.name);
  s.is_scalar = input.is_scalar;
  s.input = i;
  s.dim = d;
  switch (dim.kind) {
    case Kind::kStatic:
      env.Bind(source, example);
      return Expr(example);
    case Kind::kValue:
      if (example != dim.value) {
        return InvalidArgument(s.place, " is ", example, " in the example, asked for ", dim.value);
      }
      env.Bind(source, example);
      return Expr(example);
    case Kind::kNamed:
      return DeclareNamed(dim, s, source, example, env);
    default:
      break;
  }
  symbolic::DimChoice choice;
  choice.policy = symbolic::DimPolicy::kDynamic;
  choice.range = dim.range;
  if (!input.is_scalar) choice.range.lower = std::max<int64_t>(choice.range.lower, 0);
  choice.specialize_zero_one =
      dim.range.lower == Range::kMin && !(input.is_scalar && dim.kind == Kind::kDynamic);
  absl::StatusOr<Expr> e = env.BindInput(source, example, choice);
  if (!e.ok()) return InvalidArgument(s.place, ": ", e.status().message());
  if (e->is_const()) {
    if (dim.kind == Kind::kDynamic) {
      return InvalidArgument(s.place, " is ", example,
                             " in the example: a dynamic size needs an example of 2 or more, or "
                             "a range that begins at 0 or 1");
    }
    return e;
  }
  s.expr = *e;
  symbols_.push_back(s);
  return e;
}

absl::StatusOr<Expr> ExportConstraints::DeclareNamed(const DimSpec& dim, const AskedSymbol& like,
                                                     Source source, int64_t example,
                                                     ShapeEnv& env) {
  const NamedDim& named = *specification_.Find(dim.name);
  const bool plain = dim.scale == 1 && dim.offset == 0;
  const auto known = std::find_if(symbols_.begin(), symbols_.end(),
                                  [&](const AskedSymbol& s) { return s.asked_name == dim.name; });
  int64_t steps;
  if (__builtin_sub_overflow(example, dim.offset, &steps) || steps % dim.scale != 0) {
    return InvalidArgument(like.place, " is ", example, " in the example, which is no ",
                           ToString(dim));
  }
  const int64_t root_value = steps / dim.scale;
  if (known != symbols_.end()) {
    const int64_t expected = *env.hint(known->expr);
    if (expected != root_value) {
      return InvalidArgument(like.place, " is ", example, " in the example, asked for ",
                             ToString(dim), ", and ", dim.name, " is ", expected, " (",
                             known->place, ")");
    }
    const Expr value = known->expr * dim.scale + dim.offset;
    env.Bind(source, value);
    return value;
  }
  const bool allowed =
      named.allowed.empty() ||
      std::find(named.allowed.begin(), named.allowed.end(), root_value) != named.allowed.end();
  if (!allowed || !named.range.Contains(root_value)) {
    return InvalidArgument(
        like.place, " gives ", dim.name, " = ", root_value, " in the example, asked for ",
        named.allowed.empty()       ? SizeRangeText(named.range)
        : named.allowed.size() == 1 ? absl::StrCat(named.allowed[0])
                                    : absl::StrCat("one of ", absl::StrJoin(named.allowed, ", ")));
  }
  Range range = named.range;
  if (range.lower == Range::kMin && IsSize(dim.name)) range.lower = root_value >= 2 ? 2 : 0;
  AskedSymbol s = like;
  s.asked_name = dim.name;
  s.asked = range;
  s.allowed = named.allowed;
  s.expr = env.AddBacked(dim.name, plain ? source : Source(), root_value, range);
  symbols_.push_back(s);
  const Expr value = s.expr * dim.scale + dim.offset;
  env.Bind(source, value);
  return value;
}

}  // namespace lathe
