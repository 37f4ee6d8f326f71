#ifndef LATHE_IR_OPS_LOWERING_H_
#define LATHE_IR_OPS_LOWERING_H_

// How a row describes its result as loops. The scheduler decides what becomes a buffer and what is
// computed where it is used; a row only says how one element comes about.

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/loops/loop_body.h"
#include "ir/loops/ops_handler.h"
#include "ir/ops/op_args.h"
#include "symbolic/shape_env.h"

namespace lathe {

using Index = absl::Span<const Expr>;

// Reads elements of the call's tensors while a body runs: the scheduler inlines the producer or
// loads its buffer.
class TensorReader {
 public:
  virtual ~TensorReader() = default;
  // The element of `tensor` at a logical index, as a value of the tensor's compute dtype: f32 for
  // f16, bf16 and f8; u8 or i8 for sub-byte integers; the dtype itself otherwise.
  virtual OpsValue Load(OpsHandler& ops, Value* tensor, Index index) = 0;
};

// The dtype that Load gives.
DType LoadedDType(DType storage);

// One element of the result at `index`. Whatever dtype it returns is cast to the result's.
using ElementBody = std::function<OpsValue(OpsHandler& ops, TensorReader& in, Index index)>;

// Every element by itself.
struct PointwiseLoops {
  ElementBody body;
};

// result[index] = finish(reduce over r of body(index, r)). `index` is over the result's sizes with
// reduced dimensions absent, so keepdim is a reshape of the caller (the result type's sizes are
// used for the store; `kept` maps kept axes to result dimensions).
struct ReductionLoops {
  std::vector<Expr> kept_sizes;
  std::vector<Expr> reduced_sizes;
  ReduceKind kind = ReduceKind::kSum;
  // The value to reduce at (kept index, reduced index), in the dtype to accumulate in.
  std::function<OpsValue(OpsHandler& ops, TensorReader& in, Index kept, Index reduced)> body;
  // For kArgMax and kArgMin: the position to report.
  std::function<Expr(Index kept, Index reduced)> position;
  // From the reduced value to the result's element; empty: as it is.
  std::function<OpsValue(OpsHandler& ops, TensorReader& in, OpsValue reduced, Index kept)> finish;
  // Result index -> kept index (drops the 1-sized dimensions of keepdim).
  std::function<std::vector<Expr>(Index result)> kept_of_result;
};

// The result is argument `input` seen through an index map; it shares storage when the input has
// one, with the strides of the inferred type.
struct ViewLoops {
  Value* input = nullptr;
  std::function<std::vector<Expr>(Index result)> map;
};

// A precompiled function (runtime/externs). Results are allocated with their inferred types unless
// the extern allocates (sizes known only afterwards).
struct ExternLoops {
  std::string id;
  std::string attributes;               // "key=value;..."
  std::vector<Value*> inputs;           // nullptr: absent
  std::vector<bool> contiguous_inputs;  // the extern needs input k contiguous; empty: none
  std::vector<Expr> integers;
  bool allocates = false;
  // Rows of result 0 (all dimensions but the last, flattened) are finished one range at a time, so
  // kernels over these rows can run while they are in cache.
  bool row_epilogue = false;
};

// target[indices...] (op)= source, as loops over the source: a copy of `base` is made first (or
// `base` is updated in place when nothing else reads it).
struct ScatterLoops {
  Value* base = nullptr;
  std::vector<Expr> sizes;  // of the loop
  StoreMode mode = StoreMode::kPlain;
  bool serial = false;  // repeated indexes are possible: the loop may not be cut
  // Where to store (logical index into base) and what.
  std::function<std::vector<Expr>(OpsHandler& ops, TensorReader& in, Index index)> where;
  ElementBody body;
};

// One result; rows with several results return one entry a result (an extern returns one entry in
// all).
using Lowered = std::variant<PointwiseLoops, ReductionLoops, ViewLoops, ExternLoops, ScatterLoops>;

struct LowerContext {
  const OpArgs& args;
  absl::Span<Value* const> results;  // with inferred types
  ShapeEnv& shapes;
  const TensorType& result(int k = 0) const { return results[k]->type.tensor(); }
};

using LowerFunction = std::function<absl::StatusOr<std::vector<Lowered>>(const LowerContext&)>;

}  // namespace lathe

#endif  // LATHE_IR_OPS_LOWERING_H_
