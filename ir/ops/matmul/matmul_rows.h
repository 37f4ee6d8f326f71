#ifndef LATHE_IR_OPS_MATMUL_MATMUL_ROWS_H_
#define LATHE_IR_OPS_MATMUL_MATMUL_ROWS_H_

// The groups of rows of this family; matmul_rows.cc joins them.

#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

std::vector<OpRow> ProductRows();         // mm, bmm and lathe.mm, lathe.bmm: what the GEMM runs
std::vector<OpRow> AddedRows();           // addmm, baddbmm, addmv, mv, dot...
std::vector<OpRow> MatmulOpRows();        // matmul, linear: any rank
std::vector<OpRow> ContractionRows();     // inner, tensordot, kron, diff, cosine_similarity
std::vector<OpRow> EinsumRows();          // einsum
std::vector<OpRow> AttentionRows();       // scaled_dot_product_attention
std::vector<OpRow> FusedAttentionRows();  // its kernels by name, bilinear

}  // namespace lathe

#endif  // LATHE_IR_OPS_MATMUL_MATMUL_ROWS_H_
