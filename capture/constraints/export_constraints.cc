#include "capture/constraints/export_constraints.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

using symbolic::Expr;
using symbolic::Guard;
using symbolic::Range;
using symbolic::ShapeEnv;
using Kind = DimSpec::Kind;

// So many values are listed.
constexpr size_t kMostListed = 16;

std::string MultipleText(int64_t modulus, int64_t remainder) {
  return remainder == 0 ? absl::StrCat("a multiple of ", modulus)
                        : absl::StrCat(remainder, " more than a multiple of ", modulus);
}

std::string OneOf(std::vector<int64_t> values) {
  const bool all = values.size() <= kMostListed;
  if (!all) values.resize(kMostListed);
  return absl::StrCat("one of ", absl::StrJoin(values, ", "), all ? "" : "...");
}

std::string ConditionsText(const std::vector<Expr>& conditions) {
  return absl::StrJoin(conditions, " and ", [](std::string* out, const Expr& e) {
    absl::StrAppend(out, symbolic::ToString(e));
  });
}

std::string NeededText(const AskedSymbol& s, const DimNeeds& dim) {
  if (dim.constant) return absl::StrCat("the constant ", *dim.constant);
  if (!dim.is_tried) {
    std::vector<std::string> parts;
    if (dim.range != s.granted) {
      parts.push_back(s.is_scalar ? RangeText(dim.range) : SizeRangeText(dim.range));
    }
    if (dim.congruence.modulus > 1) {
      parts.push_back(MultipleText(dim.congruence.modulus, dim.congruence.remainder));
    }
    return absl::StrJoin(parts, ", ");
  }
  if (!s.allowed.empty()) return OneOf(dim.good);
  const std::string hull = absl::StrCat(dim.good.front(), "..", dim.good.back());
  const std::optional<int64_t> step = StepOf(dim.good);
  if (step == 1) return hull;
  if (step && dim.good.size() > 2) {
    const int64_t remainder = (dim.good[0] % *step + *step) % *step;
    return absl::StrCat(hull, ", ", MultipleText(*step, remainder));
  }
  return dim.conditions.empty() ? OneOf(dim.good) : ConditionsText(dim.conditions);
}

}  // namespace

const AskedSymbol* ExportConstraints::Find(const Expr& e) const {
  const auto it = std::find_if(symbols_.begin(), symbols_.end(),
                               [&](const AskedSymbol& s) { return s.expr == e; });
  return it == symbols_.end() ? nullptr : &*it;
}

std::string ExportConstraints::NameOf(const AskedSymbol& s) const {
  return s.asked_name.empty() ? s.place : absl::StrCat(s.asked_name, " (", s.place, ")");
}

std::string ExportConstraints::AskedText(const AskedSymbol& s) const {
  if (s.kind != Kind::kNamed) return ToString(specification_.inputs[s.input].dims[s.dim]);
  if (s.allowed.size() == 1) return absl::StrCat(s.allowed[0]);
  if (!s.allowed.empty()) return OneOf(s.allowed);
  const Range range = specification_.Find(s.asked_name)->range;
  if (range != Range{}) return RangeText(range);
  return s.is_scalar ? "any integer" : "any size";
}

std::vector<ConstraintViolation> ExportConstraints::Violations(const ShapeEnv& env) const {
  const Needs needs = NeedsOf(env, symbols_, conditions_);
  std::vector<ConstraintViolation> violations;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const AskedSymbol& s = symbols_[i];
    const DimNeeds& dim = needs.dims[i];
    if (!dim.Differs(s)) continue;
    violations.push_back({NameOf(s), AskedText(s), NeededText(s, dim), dim.reasons});
  }
  for (const Guard& g : needs.relations) {
    std::vector<std::string> names, asked;
    for (const Expr& e : symbolic::FreeSymbols(g.condition)) {
      const AskedSymbol& s = *Find(e);
      const std::string text = AskedText(s);
      names.push_back(NameOf(s));
      asked.push_back(
          absl::StrCat(s.asked_name, text.substr(0, 3) == "any" ? " of " : " in ", text));
    }
    violations.push_back(
        {absl::StrJoin(names, " and "),
         absl::StrJoin(asked, ", "),
         symbolic::ToString(g.condition),
         {absl::StrCat(symbolic::ToString(g.condition), ": guard", g.asker.ToString())}});
  }
  return violations;
}

absl::Status ExportConstraints::Verify(const ShapeEnv& env) const {
  const std::vector<ConstraintViolation> violations = Violations(env);
  if (violations.empty()) return absl::OkStatus();
  std::string text = "the program does not hold for all sizes that were asked for:\n";
  for (const ConstraintViolation& v : violations) {
    absl::StrAppend(&text, "  ", v.dim, ": asked for ", v.asked, ", the program needs ", v.needed,
                    "\n");
    for (const std::string& reason : v.reasons) absl::StrAppend(&text, "    ", reason, "\n");
  }
  const Correction correction = Correct(env);
  if (!correction.left.empty()) {
    text += "no specification says all that it needs; the nearest one leaves out:\n";
    for (const std::string& needed : correction.left) absl::StrAppend(&text, "  ", needed, "\n");
  }
  text += correction.left.empty() ? "it holds for:\n" : "that is:\n";
  const std::string corrected = ToString(correction.specification);
  for (const absl::string_view line : absl::StrSplit(corrected, '\n', absl::SkipEmpty())) {
    absl::StrAppend(&text, "  ", line, "\n");
  }
  return FailedPrecondition(text);
}

Specification ExportConstraints::Corrected(const ShapeEnv& env) const {
  return Correct(env).specification;
}

std::vector<std::pair<Expr, Range>> ExportConstraints::Ranges(const ShapeEnv& env) const {
  std::vector<std::pair<Expr, Range>> ranges;
  for (const AskedSymbol& s : symbols_) {
    if (env.Simplify(s.expr) == s.expr) ranges.push_back({s.expr, env.RangeOf(s.expr)});
  }
  return ranges;
}

}  // namespace lathe
