#ifndef LATHE_CODEGEN_TILE_AFFINE_H_
#define LATHE_CODEGEN_TILE_AFFINE_H_

#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolic/expr.h"

namespace lathe::tile {

// An index expression as constant + sum of coefficient * axis + what is not linear in the axes.
// Coefficients and the constant hold sizes alone.
struct AffineForm {
  Expr constant = 0;
  std::map<int, Expr> coefficients;  // by axis; none is 0
  std::vector<Expr> rest;            // terms with axes or checked indices inside
};

// `axes`: the number of each axis symbol. Symbols that are neither axes nor in `sizes` (checked
// indices) make a term part of the rest.
class AffineSplitter {
 public:
  AffineSplitter(const std::vector<Expr>& sizes, const absl::flat_hash_map<Expr, int>& axes);
  AffineForm Split(const Expr& e) const;
  // Whether only sizes occur.
  bool IsSize(const Expr& e) const;

 private:
  void Add(const Expr& e, const Expr& scale, AffineForm& form) const;
  absl::flat_hash_map<Expr, int> axes_;
  absl::flat_hash_map<Expr, bool> sizes_;
};

}  // namespace lathe::tile

#endif  // LATHE_CODEGEN_TILE_AFFINE_H_
