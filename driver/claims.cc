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

// At the commas that stand outside parentheses: nothing at all, or no empty piece.
absl::StatusOr<std::vector<absl::string_view>> SplitAssumptions(absl::string_view text) {
  std::vector<absl::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t k = 0; k <= text.size(); ++k) {
    if (k < text.size() && text[k] == '(') ++depth;
    if (k < text.size() && text[k] == ')') --depth;
    if (k < text.size() && (text[k] != ',' || depth > 0)) continue;
    absl::string_view part = absl::StripAsciiWhitespace(text.substr(begin, k - begin));
    if (part.empty() && (k < text.size() || !parts.empty())) {
      return InvalidArgument("column ", k + 1, ": expected an assumption");
    }
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
  size_t undefined = 1;
  absl::StatusOr<Expr> e = symbolic::ParseExpr(piece, context, &undefined);
  // Spelled as exporters do: "Eq(Mod(s0, 8), 0)".
  if (!e.ok()) {
    absl::StatusOr<Expr> sympy = symbolic::ParseSympy(piece, context, &undefined);
    if (sympy.ok()) e = std::move(sympy);
  }
  if (!e.ok()) return WithColumnOfLine(e.status(), before);
  if (e->IsOverflow()) {
    return InvalidArgument("column ", before + undefined,
                           ": this overflows 64 bits or divides by zero");
  }
  if (e->type() == symbolic::ExprType::kBool) return e;
  return InvalidArgument("column ", before + 1, ": '", piece.substr(0, 80), "' is no condition");
}

absl::Status AddFact(ShapeEnv& env, absl::string_view line, absl::string_view text) {
  LATHE_ASSIGN_OR_RETURN(const Expr fact, ParseCondition(line, text, env.context()));
  const size_t column = static_cast<size_t>(text.data() - line.data()) + 1;
  if (fact.AsBool() == false) {
    return OutOfRange("column ", column, ": '", text.substr(0, 80), "' never holds");
  }
  const absl::Status added = env.AddFact(fact);
  return added.ok() ? added : Annotate(added, absl::StrCat("column ", column));
}

absl::StatusOr<std::string> ExpectedAnswer(absl::string_view line, absl::string_view text) {
  const absl::string_view answer = absl::StripAsciiWhitespace(text);
  for (const absl::string_view known : {"true", "false", "unknown"}) {
    if (answer == known) return std::string(answer);
  }
  return InvalidArgument("column ", answer.data() - line.data() + 1,
                         ": expected true, false or unknown");
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
    LATHE_ASSIGN_OR_RETURN(result.expected, ExpectedAnswer(line, rest.substr(arrow + 2)));
    rest = rest.substr(0, arrow);
  }
  ShapeEnv env(std::make_shared<ExprContext>());
  if (const size_t second = rest.find("|-"); second != absl::string_view::npos) {
    return InvalidArgument("column ", turnstile + 3 + second, ": a second '|-'");
  }
  LATHE_ASSIGN_OR_RETURN(const std::vector<absl::string_view> assumptions,
                         SplitAssumptions(line.substr(0, turnstile)));
  for (absl::string_view text : assumptions) {
    LATHE_RETURN_IF_ERROR(AddFact(env, line, text));
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
