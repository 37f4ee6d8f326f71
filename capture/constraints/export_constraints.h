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
// specification that holds. Ranges, remainders, equal dims and sets become dims; what else the
// program needs of them becomes a condition (`where a < b`).
//
// A named dim is asked for all of its values: for each the other sizes must have some that the
// program is right for. Automatic and dynamic dims are made as narrow as the program needs.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "capture/constraints/needs.h"
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
  // The specification under which the program holds: what was asked, where that is right. The
  // program made for it needs nothing else; where none is found that says all, Verify says so.
  Specification Corrected(const symbolic::ShapeEnv& env) const;
  // The ranges of the dynamic symbols, as an archive records them.
  std::vector<std::pair<symbolic::Expr, symbolic::Range>> Ranges(
      const symbolic::ShapeEnv& env) const;

 private:
  struct Correction {
    Specification specification;
    std::vector<std::string> left;  // what it does not say
  };

  absl::Status DeclareInput(size_t i, absl::Span<const int64_t> example, symbolic::ShapeEnv& env);
  absl::StatusOr<symbolic::Expr> DeclareDim(size_t i, size_t d, int64_t example,
                                            symbolic::ShapeEnv& env);
  absl::StatusOr<symbolic::Expr> DeclareNamed(const DimSpec& dim, const AskedSymbol& like,
                                              symbolic::Source source, int64_t example,
                                              symbolic::ShapeEnv& env);
  absl::Status DeclareConditions(symbolic::ShapeEnv& env);
  bool IsSize(absl::string_view dim) const;

  std::string NameOf(const AskedSymbol& s) const;
  std::string AskedText(const AskedSymbol& s) const;
  const AskedSymbol* Find(const symbolic::Expr& e) const;

  Correction Correct(const symbolic::ShapeEnv& env) const;
  Specification CorrectOnce(const symbolic::ShapeEnv& env) const;
  // This program's facts and guards, asked of a program made for `specification`.
  absl::StatusOr<ExportConstraints> Replay(const symbolic::ShapeEnv& env,
                                           const Specification& specification,
                                           symbolic::ShapeEnv& other) const;

  Specification specification_;
  std::vector<AskedSymbol> symbols_;
  std::vector<symbolic::Expr> conditions_;
  std::vector<std::vector<symbolic::Expr>> sizes_;
};

}  // namespace lathe

#endif  // LATHE_CAPTURE_CONSTRAINTS_EXPORT_CONSTRAINTS_H_
