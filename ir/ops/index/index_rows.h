#ifndef LATHE_IR_OPS_INDEX_INDEX_ROWS_H_
#define LATHE_IR_OPS_INDEX_INDEX_ROWS_H_

// The groups of rows of this family; index_rows.cc joins them.

#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

std::vector<OpRow> AdvancedIndexRows();  // index, index_put, masked_select...
std::vector<OpRow> GatherRows();         // gather, index_select, take, embedding
std::vector<OpRow> ScatterRows();        // scatter, scatter_add, index_add...
std::vector<OpRow> JoinRows();           // cat, stack, block_diag
std::vector<OpRow> RearrangeRows();      // flip, roll, repeat, pixel_shuffle...
std::vector<OpRow> GridRows();           // cartesian_prod, diag, pad_sequence, col2im
std::vector<OpRow> TriangleRows();       // tril, triu, diag_embed
std::vector<OpRow> NonzeroRows();        // nonzero, where.default
std::vector<OpRow> SearchRows();         // bucketize, searchsorted
std::vector<OpRow> PaddingRows();        // constant_pad_nd, reflection_pad..., pad
std::vector<OpRow> CountRows();          // bincount, histc and other rare ones
std::vector<OpRow> HistogramRows();      // histogram, of several dimensions too
std::vector<OpRow> SegmentRows();        // segment_reduce, hash_tensor
std::vector<OpRow> BagRows();            // embedding_bag

}  // namespace lathe

#endif  // LATHE_IR_OPS_INDEX_INDEX_ROWS_H_
