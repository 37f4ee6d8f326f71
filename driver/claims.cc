#include "driver/claims.h"

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dtypes/base/status.h"
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

absl::StatusOr<Expr> ParseCondition(absl::string_view text, ExprContext& context) {
  absl::StatusOr<Expr> e = symbolic::ParseExpr(text, context);
  if (!e.ok()) return Annotate(e.status(), text);
  if (e->type() == symbolic::ExprType::kBool && !e->IsOverflow()) return e;
  return InvalidArgument(text, ": not a condition");
}

}  // namespace

absl::StatusOr<ClaimResult> DecideClaim(absl::string_view line) {
  size_t turnstile = line.find("|-");
  if (turnstile == absl::string_view::npos) return InvalidArgument("expected '|-'");
  absl::string_view rest = line.substr(turnstile + 2);
  ClaimResult result;
  if (size_t arrow = rest.rfind("=>"); arrow != absl::string_view::npos) {
    result.expected = std::string(absl::StripAsciiWhitespace(rest.substr(arrow + 2)));
    rest = rest.substr(0, arrow);
  }
  ShapeEnv env(std::make_shared<ExprContext>());
  for (absl::string_view text : SplitAssumptions(line.substr(0, turnstile))) {
    LATHE_ASSIGN_OR_RETURN(Expr fact, ParseCondition(text, env.context()));
    LATHE_RETURN_IF_ERROR(env.AddFact(fact));
  }
  LATHE_ASSIGN_OR_RETURN(Expr claim,
                         ParseCondition(absl::StripAsciiWhitespace(rest), env.context()));
  result.answer = env.IsKnownTrue(claim) ? "true" : env.IsKnownFalse(claim) ? "false" : "unknown";
  result.simplified = symbolic::ToString(env.Simplify(claim));
  return result;
}

}  // namespace lathe::driver
