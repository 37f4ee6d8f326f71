#ifndef LATHE_RUNTIME_TENSOR_DIMS_H_
#define LATHE_RUNTIME_TENSOR_DIMS_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace lathe {

// Sizes or strides of a tensor: up to six without allocation (a call of a compiled function makes
// none but its outputs' storage), any number beyond. absl::InlinedVector would do, at 0.9 s of
// header for every file.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> v) { Assign(v.begin(), v.size()); }
  Dims(const std::vector<int64_t>& v) { Assign(v.data(), v.size()); }  // NOLINT: same thing
  Dims(const int64_t* data, size_t n) { Assign(data, n); }
  Dims(size_t n, int64_t value) { resize(n, value); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return size_ <= kInline ? inline_ : heap_.data(); }
  const int64_t* data() const { return size_ <= kInline ? inline_ : heap_.data(); }
  int64_t& operator[](size_t i) { return data()[i]; }
  int64_t operator[](size_t i) const { return data()[i]; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  int64_t back() const { return data()[size_ - 1]; }
  void resize(size_t n, int64_t value = 0) {
    std::vector<int64_t> v(begin(), end());
    v.resize(n, value);
    Assign(v.data(), n);
  }
  void push_back(int64_t v) { resize(size_ + 1, v); }
  std::vector<int64_t> ToVector() const { return {begin(), end()}; }
  friend bool operator==(const Dims& a, const Dims& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static constexpr size_t kInline = 6;
  void Assign(const int64_t* data, size_t n) {
    size_ = n;
    if (n <= kInline) {
      heap_.clear();
      std::copy(data, data + n, inline_);
    } else {
      heap_.assign(data, data + n);
    }
  }
  size_t size_ = 0;
  int64_t inline_[kInline] = {};
  std::vector<int64_t> heap_;
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_TENSOR_DIMS_H_
