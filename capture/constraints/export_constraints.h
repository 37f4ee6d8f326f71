#ifndef LATHE_CAPTURE_CONSTRAINTS_EXPORT_CONSTRAINTS_H_
#define LATHE_CAPTURE_CONSTRAINTS_EXPORT_CONSTRAINTS_H_

// A user's specification of sizes against what capturing the program needed.
//
//   absl::StatusOr<ExportConstraints> asked =
//       ExportConstraints::Declare(*ParseSpecification("dim batch = 2..64\nx: [batch, 4]\n"),
//                                  {{8, 4}}, env);
//   ... capture the program with the sizes asked->sizes()[0]; what it needs become guards of env
//   absl::Status status = asked->Verify(env);
//
// A violation says what was asked, what the program needs, which lines need it, and prints a
// specification that holds.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "capture/constraints/specification.h"
#include "symbolic/shape_env.h"

namespace lathe {

struct ConstraintViolation {
  std::string dim;                   // "batch (size 0 of x)"
  std::string asked;                 // "2..64"
  std::string needed;                // "6", "2..32", "a multiple of 8", "batch == seq", "s != 3"
  std::vector<std::string> reasons;  // the facts that need it
};

class ExportConstraints {
 public:
  // Makes symbols and bindings in `env`. `examples`: the sizes of each input, or the integer.
  // InvalidArgument names the input and dimension where an example does not fit.
  static absl::StatusOr<ExportConstraints> Declare(Specification specification,
                                                   absl::Span<const std::vector<int64_t>> examples,
                                                   symbolic::ShapeEnv& env);

  const std::vector<std::vector<symbolic::Expr>>& sizes() const { return sizes_; }

  std::vector<ConstraintViolation> Violations(const symbolic::ShapeEnv& env) const;
  // OK, or FailedPrecondition with all violations and the corrected specification.
  absl::Status Verify(const symbolic::ShapeEnv& env) const;
  // The specification under which the program holds: what was asked, where that is right.
  Specification Corrected(const symbolic::ShapeEnv& env) const;
  // The ranges of the dynamic symbols, as an archive records them.
  std::vector<std::pair<symbolic::Expr, symbolic::Range>> Ranges(
      const symbolic::ShapeEnv& env) const;

 private:
  struct Symbol {
    symbolic::Expr expr;
    std::string asked_name;  // of a named dim; "" for auto and dynamic
    DimSpec::Kind kind = DimSpec::Kind::kNamed;
    symbolic::Range asked;
    std::vector<int64_t> allowed;
    std::string place;  // "size 0 of x"
    size_t input = 0, dim = 0;
  };

  absl::Status DeclareInput(size_t i, absl::Span<const int64_t> example, symbolic::ShapeEnv& env);
  absl::StatusOr<symbolic::Expr> DeclareDim(size_t i, size_t d, int64_t example,
                                            symbolic::ShapeEnv& env);
  absl::StatusOr<symbolic::Expr> DeclareNamed(const DimSpec& dim, const Symbol& like,
                                              symbolic::Source source, int64_t example,
                                              symbolic::ShapeEnv& env);
  const Symbol* Find(const symbolic::Expr& e) const;
  std::string NameOf(const Symbol& s) const;
  void CheckSymbol(const symbolic::ShapeEnv& env, const Symbol& s,
                   std::vector<ConstraintViolation>& out) const;
  void CheckAllowed(const symbolic::ShapeEnv& env, const Symbol& s,
                    std::vector<ConstraintViolation>& out) const;
  void CheckRelations(const symbolic::ShapeEnv& env, std::vector<ConstraintViolation>& out) const;
  std::vector<int64_t> AllowedThatHold(const symbolic::ShapeEnv& env, const Symbol& s) const;

  Specification specification_;
  std::vector<Symbol> symbols_;
  std::vector<std::vector<symbolic::Expr>> sizes_;
};

}  // namespace lathe

#endif  // LATHE_CAPTURE_CONSTRAINTS_EXPORT_CONSTRAINTS_H_
