#ifndef LATHE_IR_OPS_SORT_LINES_H_
#define LATHE_IR_OPS_SORT_LINES_H_

// Lines of a host tensor along one dimension, for the reference evaluation of sorts and scans.

#include <cstdint>
#include <functional>
#include <vector>

#include "dtypes/scalar.h"
#include "runtime/tensor/tensor.h"

namespace lathe {

// The storage position of element k of the line with number `line` (lines in row-major order of the
// other dimensions). A 0-dim tensor is one line of one element.
class Lines {
 public:
  Lines(const Tensor& tensor, int dim);
  int64_t count() const { return count_; }
  int64_t length() const { return length_; }
  Scalar Get(int64_t line, int64_t k) const;
  void Set(int64_t line, int64_t k, const Scalar& value) const;

 private:
  int64_t Linear(int64_t line, int64_t k) const {
    return (line / inner_ * length_ + k) * inner_ + line % inner_;
  }
  const Tensor tensor_;
  int64_t count_ = 1, length_ = 1, inner_ = 1;
};

// True when `a` comes before `b` in ascending order: NaN is the largest, -0.0 equals 0.0.
bool ComesBefore(const Scalar& a, const Scalar& b);

// Positions of a line's elements in stable ascending or descending order.
std::vector<int64_t> StableOrder(const Lines& lines, int64_t line, bool descending);

}  // namespace lathe

#endif  // LATHE_IR_OPS_SORT_LINES_H_
