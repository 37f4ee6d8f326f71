#ifndef LATHE_IR_OPS_COLUMNS_COLUMN_HANDLER_H_
#define LATHE_IR_OPS_COLUMNS_COLUMN_HANDLER_H_

// The reference meaning of scalar operations: computes columns of elements at once, slowly and
// plainly. Floats are computed in double and rounded when they leave (f32 first, then a narrower
// result), so a formula of many steps is as exact as its mathematics; complex numbers are computed
// too.
//
//   ColumnHandler ops(256);
//   OpsValue y = ops.Mul(ops.Input(column), ops.Constant(2.0, DType::kF32));
//   ops.Take(y);

#include <complex>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "dtypes/dtype.h"
#include "ir/loops/ops_handler.h"
#include "runtime/tensor/tensor.h"

namespace lathe {

// Elements of one dtype in the widest type of their kind; u64 as its bits.
struct Column {
  DType dtype = DType::kF32;
  std::vector<double> floats;
  std::vector<int64_t> integers;
  std::vector<std::complex<double>> complexes;
};

// Elements [begin, end) of a contiguous tensor, in the dtype that Load gives (lowering.h).
Column ReadColumn(const Tensor& tensor, int64_t begin, int64_t end);
// Elements at given storage positions (relative to the tensor's first element).
Column GatherColumn(const Tensor& tensor, absl::Span<const int64_t> positions);
// Writes a column, converted to the tensor's dtype, to elements [begin, ...) of a contiguous one.
void WriteColumn(const Column& column, const Tensor& tensor, int64_t begin);
// Converted as dtypes' Convert does.
Column CastColumn(const Column& column, DType dtype);

class ColumnHandler final : public OpsHandler {
 public:
  explicit ColumnHandler(int64_t length) : length_(length) {}

  OpsValue Input(Column column);
  const Column& column(OpsValue value) const { return columns_[value.id]; }
  // The first failure: a division by zero, a failed check, an operation that has no such dtype.
  const absl::Status& status() const { return status_; }

  DType dtype(OpsValue value) const override { return columns_[value.id].dtype; }
  OpsValue Constant(const Scalar& value, DType dtype) override;
  OpsValue IndexExpr(const Expr& index, DType dtype) override;  // constants alone
  OpsValue Load(BufferId buffer, const Expr& index, DType dtype) override;
  void Store(BufferId buffer, const Expr& index, OpsValue value, StoreMode mode) override;
  OpsValue LoadLocal(BufferId local, DType dtype) override;
  void StoreLocal(BufferId local, OpsValue value) override;
  Expr Indirect(OpsValue value, const Expr& size) override;
  void Check(OpsValue condition, absl::string_view message) override;
  OpsValue Cast(OpsValue value, DType dtype) override;
  OpsValue BitCast(OpsValue value, DType dtype) override;
  OpsValue Reduce(ReduceKind kind, OpsValue value, OpsValue index) override;
  void PushMask(OpsValue) override {}
  void PopMask() override {}
  OpsValue Apply(OpKind kind, absl::Span<const OpsValue> operands) override;

 private:
  OpsValue Push(Column column);
  OpsValue Fail(absl::Status status, DType dtype);
  OpsValue ApplyWhere(const Column& condition, const Column& a, const Column& b);
  OpsValue ApplyFloat(OpKind kind, absl::Span<const OpsValue> operands);
  OpsValue ApplyInteger(OpKind kind, absl::Span<const OpsValue> operands);
  OpsValue ApplyComplex(OpKind kind, absl::Span<const OpsValue> operands);

  int64_t length_;
  std::vector<Column> columns_;
  absl::Status status_;
};

}  // namespace lathe

#endif  // LATHE_IR_OPS_COLUMNS_COLUMN_HANDLER_H_
