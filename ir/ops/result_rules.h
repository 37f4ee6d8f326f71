#ifndef LATHE_IR_OPS_RESULT_RULES_H_
#define LATHE_IR_OPS_RESULT_RULES_H_

// What `infer` functions share: broadcasting, promotion, and the strides that eager gives results.
// No rule here makes a guard. Where sizes are symbols, questions of layout (which of two strides is
// larger) are decided as for generic sizes above 1; any answer is a valid layout.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dtypes/promotion.h"
#include "ir/graph/type.h"
#include "ir/ops/lowering.h"
#include "ir/ops/op_row.h"
#include "symbolic/shape_env.h"

namespace lathe {

// The broadcast of these sizes. Sizes not known to differ are taken as equal; of a symbol and a
// constant other than 1 the constant is taken. InvalidArgument in eager's words when constants (or
// known values) differ.
//   [s0, 1], [4]  ->  [s0, 4]
absl::StatusOr<std::vector<Expr>> BroadcastSizes(absl::Span<const std::vector<Expr>> sizes,
                                                 const ShapeEnv& shapes);
absl::StatusOr<std::vector<Expr>> BroadcastSizes(absl::Span<const TensorType> inputs,
                                                 const ShapeEnv& shapes);

// The index into `input` for a result index, where input was broadcast to the result: leading
// dimensions dropped, 0 along sizes of 1 that were expanded.
std::vector<Expr> BroadcastIndex(const TensorType& input, const std::vector<Expr>& result_sizes,
                                 Index index);

// The result type of an elementwise op over `inputs` (TensorIterator): strides follow the inputs'
// common permutation when they are dense, contiguous when ambiguous.
TensorType ElementwiseType(DType dtype, std::vector<Expr> sizes,
                           absl::Span<const TensorType> inputs, const ShapeEnv& shapes);

// Strides of empty_like, clone and to with preserve_format: the tensor's own when dense and
// non-overlapping, else dense in its order.
std::vector<Expr> PreservedStrides(const TensorType& type, const ShapeEnv& shapes);

// The type of a copy of the whole storage of `type`, seen as `type` sees it: gaps and offset stay.
// Elements that meet one place can't be written apart; they are spread as PreservedStrides does.
TensorType WithStorageKept(TensorType type, const ShapeEnv& shapes);
// Strides of a memory format for these sizes. InvalidArgument for channels_last on a wrong rank.
absl::StatusOr<std::vector<Expr>> FormatStrides(MemoryFormat format, const TensorType& type,
                                                const ShapeEnv& shapes);
// As Tensor.is_contiguous(memory_format) says; preserve counts as true.
bool IsContiguousIn(MemoryFormat format, const TensorType& type, const ShapeEnv& shapes);

// torch.result_type over tensors and Scalars among the call's arguments `operands` (indexes).
// Absent ones are passed over.
absl::StatusOr<DType> PromotedType(const OpArgs& args, absl::Span<const int> operands);
// The DType that a number argument promotes with.
DType NumberType(const OpArgs& args, int i);

// The first tensor's device, CUDA before CPU (0-dim CPU tensors mix with CUDA ones).
Device CommonDevice(absl::Span<const TensorType> inputs);

// Dimensions as eager reads them: empty or absent `dims` means all; wrapped, sorted, no duplicates.
absl::StatusOr<std::vector<int>> ReducedDims(const std::vector<int64_t>& dims, int rank);
// Sizes after reducing `dims` (sorted).
std::vector<Expr> ReducedSizes(const std::vector<Expr>& sizes, absl::Span<const int> dims,
                               bool keepdim);

// infer: result 0 is exactly argument `i`'s type.
InferFunction SameTypeAs(int i);

}  // namespace lathe

#endif  // LATHE_IR_OPS_RESULT_RULES_H_
