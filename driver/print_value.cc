#include "driver/print_value.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace lathe::driver {
namespace {

constexpr int64_t kShown = 1000;

class ElementPrinter {
 public:
  explicit ElementPrinter(const Tensor& tensor)
      : tensor_(tensor.Contiguous()), count_(tensor_.numel()) {}

  std::string Print() {
    if (count_ == 0 && HasManyEmptyLists()) return "[]";
    AppendFrom(0);
    return std::move(text_);
  }

 private:
  // An empty tensor's brackets: the sizes before the first 0.
  bool HasManyEmptyLists() const {
    int64_t lists = 1;
    for (int64_t size : tensor_.sizes()) {
      if (size == 0) return false;
      lists *= std::min(size, kShown + 1);
      if (lists > kShown) return true;
    }
    return false;
  }

  bool IsLeftOut(int64_t k) const {
    return count_ > kShown && k >= kShown / 2 && k < count_ - kShown / 2;
  }

  // The elements below one index of `dimension`, starting at element next_.
  void AppendFrom(size_t dimension) {
    if (dimension == static_cast<size_t>(tensor_.rank())) {
      text_ += FormatElement(tensor_.AtLinear(next_++), tensor_.dtype());
      return;
    }
    int64_t below = count_ == 0 ? 0 : 1;
    for (size_t d = dimension + 1; below > 0 && d < tensor_.sizes().size(); ++d) {
      below *= tensor_.sizes()[d];
    }
    text_ += '[';
    for (int64_t i = 0; i < tensor_.sizes()[dimension]; ++i) {
      bool all_left_out = below > 0 && IsLeftOut(next_) && IsLeftOut(next_ + below - 1);
      if (all_left_out) {
        // Says so once, however many rows are skipped.
        if (!gap_shown_) absl::StrAppend(&text_, i > 0 ? ", " : "", "...");
        gap_shown_ = true;
        next_ += below;
        continue;
      }
      if (i > 0) text_ += ", ";
      AppendFrom(dimension + 1);
    }
    text_ += ']';
  }

  Tensor tensor_;
  int64_t count_;
  int64_t next_ = 0;
  bool gap_shown_ = false;
  std::string text_;
};

}  // namespace

std::string TypeOf(const Value& value) {
  if (const Scalar* number = std::get_if<Scalar>(&value)) {
    return number->is_bool() ? "bool" : number->is_float() ? "float" : "int";
  }
  const Tensor& tensor = std::get<Tensor>(value);
  if (!tensor.is_defined()) return "none";
  return absl::StrCat(Name(tensor.dtype()), "[", absl::StrJoin(tensor.sizes(), ", "), "]");
}

std::string PrintValue(const Value& value) {
  if (const Scalar* number = std::get_if<Scalar>(&value)) return number->ToString();
  const Tensor& tensor = std::get<Tensor>(value);
  if (!tensor.is_defined()) return "none";
  return absl::StrCat(TypeOf(value), " ", ElementPrinter(tensor).Print());
}

}  // namespace lathe::driver
