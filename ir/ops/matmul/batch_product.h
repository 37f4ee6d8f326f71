#ifndef LATHE_IR_OPS_MATMUL_BATCH_PRODUCT_H_
#define LATHE_IR_OPS_MATMUL_BATCH_PRODUCT_H_

#include <vector>

#include "ir/ops/builder.h"

namespace lathe {

// The most batch dimensions of one product.
inline constexpr int kMaxBatchRank = 6;

// x[..., m, k] times y[..., k, n] as [batch..., m, n] of type `out`. Batch dimensions are broadcast
// to `batch` by views: nothing is copied for up to kMaxBatchRank of them. `order`, when not empty,
// is the order of the result's dimensions in memory, outermost first.
Value* BatchProduct(Builder& b, Value* x, Value* y, const std::vector<Expr>& batch, DType out,
                    const std::vector<Expr>& order = {});

}  // namespace lathe

#endif  // LATHE_IR_OPS_MATMUL_BATCH_PRODUCT_H_
