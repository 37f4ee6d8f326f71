#ifndef LATHE_IR_LOOPS_RECORDER_H_
#define LATHE_IR_LOOPS_RECORDER_H_

// The handler that writes a LoopBody: every operation is hash-consed over (kind, dtype, operands,
// mask, index), so writing an expression twice records it once. Stores are never merged.
// Constants fold (through ScalarApply), Where on equal branches, Cast to the same dtype; nothing
// that could change a float's bits (x*0, x+0) is simplified.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/loops/loop_body.h"
#include "ir/loops/ops_handler.h"

namespace lathe {

class Recorder final : public OpsHandler {
 public:
  // Index symbols made by Indirect are named "t0", "t1"... and belong to `context`.
  Recorder(ExprContext& context, std::vector<Expr> axes, std::vector<Expr> extents);
  ~Recorder() override;

  DType dtype(OpsValue value) const override;
  OpsValue Constant(const Scalar& value, DType dtype) override;
  OpsValue IndexExpr(const Expr& index, DType dtype) override;
  OpsValue Load(BufferId buffer, const Expr& index, DType dtype) override;
  void Store(BufferId buffer, const Expr& index, OpsValue value,
             StoreMode mode = StoreMode::kPlain) override;
  OpsValue LoadLocal(BufferId local, DType dtype) override;
  void StoreLocal(BufferId local, OpsValue value) override;
  Expr Indirect(OpsValue value, const Expr& size) override;
  void Check(OpsValue condition, absl::string_view message) override;
  OpsValue Cast(OpsValue value, DType dtype) override;
  OpsValue BitCast(OpsValue value, DType dtype) override;
  OpsValue Reduce(ReduceKind kind, OpsValue value, OpsValue index = {}) override;
  void PushMask(OpsValue mask) override;
  void PopMask() override;
  // The conjunction of the masks in force; an invalid value when there is none.
  OpsValue CurrentMask() const;
  OpsValue Apply(OpKind kind, absl::Span<const OpsValue> operands) override;

  // Messages of Check, by LoopOp::error.
  const std::vector<std::string>& errors() const;
  // The first misuse by a lowering (operands of different dtypes...), with the operation.
  absl::Status status() const;
  // The body recorded so far, without operations that no store, check or reduction reaches.
  LoopBody Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Replays `body` into another handler: loads, stores, locals and reductions go through `hooks` when
// set, index expressions are rewritten by `rewrite_index` (axes replaced). Returns the value of
// each operation. This is how bodies are inlined into one another.
struct ReplayHooks {
  std::function<OpsValue(const LoopOp& op, const Expr& index)> load;         // default: ops.Load
  std::function<void(const LoopOp& op, const Expr& index, OpsValue)> store;  // default: ops.Store
  std::function<OpsValue(const LoopOp& op, OpsValue value, OpsValue index)> reduce;
  std::function<OpsValue(const LoopOp& op)> load_local;
  std::function<void(const LoopOp& op, OpsValue value)> store_local;
};
std::vector<OpsValue> Replay(const LoopBody& body, OpsHandler& ops,
                             const std::function<Expr(const Expr&)>& rewrite_index,
                             absl::Span<const std::string> errors, const ReplayHooks& hooks = {});

// The meaning of an arithmetic kind on scalars, the one that every tier must agree with (floats:
// within the stated ULP of vector math). `dtype` is the operands' dtype (of operand 1 for Where).
// InvalidArgument for integer division by zero.
absl::StatusOr<Scalar> ScalarApply(OpKind kind, DType dtype, absl::Span<const Scalar> operands);

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_RECORDER_H_
