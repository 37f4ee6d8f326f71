#ifndef LATHE_IR_LOOPS_OPS_HANDLER_H_
#define LATHE_IR_LOOPS_OPS_HANDLER_H_

// The interface that a lowering's body calls, one method a scalar operation. The Recorder
// (recorder.h) writes a LoopBody; other handlers give the operations other meanings.
//
//   OpsValue Body(OpsHandler& ops, absl::Span<const Expr> index) {
//     OpsValue x = ops.Load(buffer, index[0] * 64 + index[1], DType::kF32);
//     return ops.Mul(x, ops.Sigmoid(x));
//   }

#include <cstdint>

#include "absl/types/span.h"
#include "dtypes/dtype.h"
#include "dtypes/scalar.h"
#include "ir/loops/loop_body.h"
#include "symbolic/expr.h"

namespace lathe {

struct OpsValue {
  int32_t id = kNoValue;  // index into the handler's own storage
  bool is_valid() const { return id != kNoValue; }
};

class OpsHandler {
 public:
  virtual ~OpsHandler();

  virtual DType dtype(OpsValue value) const = 0;

  virtual OpsValue Constant(const Scalar& value, DType dtype) = 0;
  virtual OpsValue IndexExpr(const Expr& index, DType dtype) = 0;
  // Element `index` of a buffer in the buffer's own dtype. Masks in force (PushMask) apply.
  virtual OpsValue Load(BufferId buffer, const Expr& index, DType dtype) = 0;
  virtual void Store(BufferId buffer, const Expr& index, OpsValue value,
                     StoreMode mode = StoreMode::kPlain) = 0;
  virtual OpsValue LoadLocal(BufferId local, DType dtype) = 0;
  virtual void StoreLocal(BufferId local, OpsValue value) = 0;
  // An integer value as an index in [-size, size), negative wrapped once; fails outside. Returns
  // an index symbol to use in index expressions.
  virtual Expr Indirect(OpsValue value, const Expr& size) = 0;
  // Fails at run time with `message` where `condition` is false.
  virtual void Check(OpsValue condition, absl::string_view message) = 0;
  virtual OpsValue Cast(OpsValue value, DType dtype) = 0;
  virtual OpsValue BitCast(OpsValue value, DType dtype) = 0;
  // `index` only for kArgMax and kArgMin: the i64 position to report.
  virtual OpsValue Reduce(ReduceKind kind, OpsValue value, OpsValue index = {}) = 0;

  // Between PushMask and PopMask, loads and checks happen only where `mask` (bool) is true. Nested
  // masks are anded. Masked() does both and selects `other` elsewhere.
  virtual void PushMask(OpsValue mask) = 0;
  virtual void PopMask() = 0;
  template <typename Body>
  OpsValue Masked(OpsValue mask, Body body, const Scalar& other) {
    PushMask(mask);
    OpsValue inside = body();
    PopMask();
    return Where(mask, inside, Constant(other, dtype(inside)));
  }

#define LATHE_UNARY(Name, text) virtual OpsValue Name(OpsValue x);
#define LATHE_BINARY(Name, text) virtual OpsValue Name(OpsValue a, OpsValue b);
#define LATHE_TERNARY(Name, text) virtual OpsValue Name(OpsValue a, OpsValue b, OpsValue c);
#include "ir/loops/ops_list.inc"

  // The arithmetic operation `kind` on operands; what the named methods call.
  virtual OpsValue Apply(OpKind kind, absl::Span<const OpsValue> operands) = 0;
};

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_OPS_HANDLER_H_
