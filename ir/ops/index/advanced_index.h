#ifndef LATHE_IR_OPS_INDEX_ADVANCED_INDEX_H_
#define LATHE_IR_OPS_INDEX_ADVANCED_INDEX_H_

// self[i, :, j]: integer tensors that broadcast together take the place of the dimensions that they
// index; where they are not next to each other their dimensions come first.

#include <vector>

#include "absl/status/statusor.h"
#include "ir/ops/op_row.h"

namespace lathe {

struct AdvancedIndex {
  std::vector<Value*> indices;    // one a dimension of self, nullptr where not indexed
  std::vector<Expr> index_sizes;  // the broadcast sizes of all indices
  int first = 0;                  // where these sizes stand in the result
  std::vector<Expr> sizes;        // of the result

  // Where dimension d of self reads from: the result index without the index dimensions, in order.
  std::vector<int> rest;  // dimensions of self that are not indexed

  // The part of a result index that runs over the indices.
  std::vector<Expr> IndexPart(Index result) const;
  // The index into self for a result index: loads and checks the indices.
  std::vector<Expr> Place(OpsHandler& ops, TensorReader& in, const std::vector<Expr>& self_sizes,
                          Index result) const;
};

// Indices of bool are refused (they are resolved before). InvalidArgument when there are more
// indices than dimensions or they do not broadcast.
absl::StatusOr<AdvancedIndex> AdvancedIndexOf(const std::string& op, const TensorType& self,
                                              const std::vector<Value*>& indices,
                                              const ShapeEnv& shapes);

// For each result element in row-major order the row-major number in self; OutOfRange for an index
// outside. `sizes` becomes the result's sizes.
absl::StatusOr<std::vector<int64_t>> HostPlaces(const Tensor& self,
                                                const std::vector<Tensor>& indices, Dims& sizes);

}  // namespace lathe

#endif  // LATHE_IR_OPS_INDEX_ADVANCED_INDEX_H_
