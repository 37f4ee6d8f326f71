#include "driver/claims.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dtypes/base/status.h"
#include "symbolic/explain.h"
#include "symbolic/parser.h"
#include "symbolic/shape_env.h"

namespace lathe::driver {
namespace {

// At the commas that stand outside parentheses.
std::vector<absl::string_view> SplitAssumptions(absl::string_view text) {
  std::vector<absl::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t k = 0; k <= text.size(); ++k) {
    if (k < text.size() && text[k] == '(') ++depth;
    if (k < text.size() && text[k] == ')') --depth;
    if (k < text.size() && (text[k] != ',' || depth > 0)) continue;
    absl::string_view part = absl::StripAsciiWhitespace(text.substr(begin, k - begin));
    if (!part.empty()) parts.push_back(part);
    begin = k + 1;
  }
  return parts;
}

// "column 3: ..." of a piece that begins after `before` characters of the line.
absl::Status WithColumnOfLine(const absl::Status& status, size_t before) {
  absl::string_view message = status.message();
  int64_t column = 0;
  const size_t colon = message.find(':');
  if (!absl::ConsumePrefix(&message, "column ") || colon == absl::string_view::npos ||
      !absl::SimpleAtoi(status.message().substr(7, colon - 7), &column)) {
    return status;
  }
  return absl::Status(status.code(), absl::StrCat("column ", before + static_cast<size_t>(column),
                                                  status.message().substr(colon)));
}

absl::StatusOr<Expr> ParseCondition(absl::string_view line, absl::string_view piece,
                                    ExprContext& context) {
  const size_t before = static_cast<size_t>(piece.data() - line.data());
  absl::StatusOr<Expr> e = symbolic::ParseExpr(piece, context);
  // Spelled as exporters do: "Eq(Mod(s0, 8), 0)".
  if (absl::StatusOr<Expr> sympy = e.ok() ? e : symbolic::ParseSympy(piece, context); sympy.ok()) {
    e = std::move(sympy);
  }
  if (!e.ok()) return WithColumnOfLine(e.status(), before);
  if (e->type() == symbolic::ExprType::kBool && !e->IsOverflow()) return e;
  const char* what = e->IsOverflow() ? "overflows 64 bits or divides by zero" : "is no condition";
  return InvalidArgument("column ", before + 1, ": '", piece.substr(0, 80), "' ", what);
}

}  // namespace

absl::StatusOr<ClaimResult> DecideClaim(absl::string_view line, bool why) {
  size_t turnstile = line.find("|-");
  if (turnstile == absl::string_view::npos) {
    return InvalidArgument("column ", line.size() + 1, ": expected '|-'");
  }
  absl::string_view rest = line.substr(turnstile + 2);
  ClaimResult result;
  if (size_t arrow = rest.rfind("=>"); arrow != absl::string_view::npos) {
    result.expected = std::string(absl::StripAsciiWhitespace(rest.substr(arrow + 2)));
    rest = rest.substr(0, arrow);
  }
  ShapeEnv env(std::make_shared<ExprContext>());
  for (absl::string_view text : SplitAssumptions(line.substr(0, turnstile))) {
    LATHE_ASSIGN_OR_RETURN(Expr fact, ParseCondition(line, text, env.context()));
    LATHE_RETURN_IF_ERROR(env.AddFact(fact));
  }
  LATHE_ASSIGN_OR_RETURN(Expr claim,
                         ParseCondition(line, absl::StripAsciiWhitespace(rest), env.context()));
  result.answer = env.IsKnownTrue(claim) ? "true" : env.IsKnownFalse(claim) ? "false" : "unknown";
  if (why) {
    for (const symbolic::KnownFact& fact : symbolic::Explain(env, claim).reasons) {
      result.reasons.push_back(symbolic::ToString(fact.condition));
    }
  }
  result.simplified = symbolic::ToString(env.Simplify(claim));
  return result;
}

}  // namespace lathe::driver
