#ifndef LATHE_IR_REFERENCE_SCALAR_HANDLER_H_
#define LATHE_IR_REFERENCE_SCALAR_HANDLER_H_

// The loop language on single numbers: every operation is computed at once by ScalarApply. Operands
// must have the dtypes that the language asks for; the first misuse or failure is kept.

#include <vector>

#include "absl/status/status.h"
#include "ir/loops/ops_handler.h"

namespace lathe {

class ScalarHandler final : public OpsHandler {
 public:
  const absl::Status& status() const { return status_; }
  Scalar value(OpsValue v) const { return entries_[v.id].value; }
  // Whether loads and checks are off here.
  bool is_masked_off() const;
  void Reset() { entries_.clear(); }

  DType dtype(OpsValue v) const override { return entries_[v.id].dtype; }
  OpsValue Constant(const Scalar& value, DType dtype) override;
  OpsValue IndexExpr(const Expr& index, DType dtype) override;
  OpsValue Load(BufferId buffer, const Expr& index, DType dtype) override;
  void Store(BufferId buffer, const Expr& index, OpsValue value, StoreMode mode) override;
  OpsValue LoadLocal(BufferId local, DType dtype) override;
  void StoreLocal(BufferId local, OpsValue value) override;
  Expr Indirect(OpsValue value, const Expr& size) override;
  void Check(OpsValue condition, absl::string_view message) override;
  OpsValue Cast(OpsValue value, DType dtype) override;
  OpsValue BitCast(OpsValue value, DType dtype) override;
  OpsValue Reduce(ReduceKind kind, OpsValue value, OpsValue index) override;
  void PushMask(OpsValue mask) override;
  void PopMask() override;
  OpsValue Apply(OpKind kind, absl::Span<const OpsValue> operands) override;

 private:
  struct Entry {
    DType dtype;
    Scalar value;
  };
  OpsValue Push(DType dtype, Scalar value);
  void Fail(absl::Status status);

  std::vector<Entry> entries_;
  std::vector<bool> masks_;
  absl::Status status_;
};

}  // namespace lathe

#endif  // LATHE_IR_REFERENCE_SCALAR_HANDLER_H_
