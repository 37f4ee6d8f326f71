#ifndef LATHE_CODEGEN_PLAN_REGISTER_FILE_H_
#define LATHE_CODEGEN_PLAN_REGISTER_FILE_H_

// Expressions to registers of a Plan: every distinct expression is computed once a segment.

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "runtime/abi/plan.h"
#include "runtime/abi/size_program.h"
#include "symbolic/expr.h"

namespace lathe {

class RegisterFile {
 public:
  Register New() { return count_++; }
  int32_t count() const { return count_; }
  // From now on `symbol` is in `reg` (an input's size, a data-dependent size).
  void Bind(const Expr& symbol, Register reg) { of_[symbol] = reg; }
  bool IsBound(const Expr& symbol) const { return of_.contains(symbol); }
  // The register that holds `e`; missing parts are appended to `program`. FailedPrecondition naming
  // a symbol that is not bound yet.
  absl::StatusOr<Register> Of(const Expr& e, SizeProgram& program);

 private:
  absl::Status Emit(const Expr& e, SizeProgram& program);
  Register Append(SizeProgram& program, SizeOp op, Register a, Register b = 0, Register c = 0);
  int32_t count_ = 0;
  absl::flat_hash_map<Expr, Register> of_;
};

}  // namespace lathe

#endif  // LATHE_CODEGEN_PLAN_REGISTER_FILE_H_
