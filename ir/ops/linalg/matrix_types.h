#ifndef LATHE_IR_OPS_LINALG_MATRIX_TYPES_H_
#define LATHE_IR_OPS_LINALG_MATRIX_TYPES_H_

// The types of arguments and results that are batches of matrices.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/ops/op_row.h"

namespace lathe::linalg {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Results = absl::StatusOr<std::vector<HostValue>>;

// Dense, the last two dimensions column by column: what LAPACK leaves behind.
TensorType ColumnMajor(DType dtype, std::vector<Expr> sizes, Device device);
// All dimensions but the last `n`.
std::vector<Expr> LeadingSizes(const TensorType& type, int n);
// `leading` and more.
std::vector<Expr> Extended(std::vector<Expr> leading, std::vector<Expr> more);

// InvalidArgument unless argument `i` is a batch of matrices of f32, f64 or complex numbers.
absl::Status CheckMatrix(const InferContext& c, int i);
// ... and these are square.
absl::Status CheckSquare(const InferContext& c, int i);

// f64 for f64 and c128, f32 for f32 and c64.
DType RealType(DType dtype);

// The rows of the files of this folder.
std::vector<OpRow> FactorRows();
std::vector<OpRow> SpectrumRows();
std::vector<OpRow> IndefiniteRows();
std::vector<OpRow> SolveRows();
std::vector<OpRow> ComposedRows();
std::vector<OpRow> CompositeRows();
std::vector<OpRow> CrossRows();
std::vector<OpRow> NormRows();
std::vector<OpRow> OlderRows();

}  // namespace lathe::linalg

#endif  // LATHE_IR_OPS_LINALG_MATRIX_TYPES_H_
