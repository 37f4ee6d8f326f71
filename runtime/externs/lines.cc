#include "runtime/externs/lines.h"

#include "absl/strings/numbers.h"
#include "dtypes/base/status.h"

namespace lathe {
namespace {

// Elements a worker takes at least.
constexpr int64_t kGrain = 4096;

const std::string* Find(const ExternCall& call, const char* key) {
  if (call.attributes == nullptr) return nullptr;
  const auto found = call.attributes->find(key);
  return found == call.attributes->end() ? nullptr : &found->second;
}

}  // namespace

absl::StatusOr<Lines> LinesOf(const Tensor& t, int64_t dim) {
  const int64_t rank = t.rank();
  const int64_t places = rank == 0 ? 1 : rank;
  if (dim < -places || dim >= places) {
    return OutOfRange("dimension ", dim, " of a tensor of rank ", rank);
  }
  Lines lines;
  lines.sizes = t.sizes();
  lines.dim = static_cast<size_t>(dim < 0 ? dim + places : dim);
  if (rank > 0) lines.length = t.sizes()[lines.dim];
  lines.count = 1;
  for (size_t d = 0; d < t.sizes().size(); ++d) lines.count *= d == lines.dim ? 1 : t.sizes()[d];
  return lines;
}

absl::StatusOr<int64_t> IntAttribute(const ExternCall& call, const char* key, int64_t otherwise) {
  const std::string* text = Find(call, key);
  int64_t value = otherwise;
  if (text != nullptr && !absl::SimpleAtoi(*text, &value)) {
    return InvalidArgument(key, "=", *text, " is not a number");
  }
  return value;
}

absl::StatusOr<bool> BoolAttribute(const ExternCall& call, const char* key, bool otherwise) {
  const std::string* text = Find(call, key);
  bool value = otherwise;
  if (text != nullptr && !absl::SimpleAtob(*text, &value)) {
    return InvalidArgument(key, "=", *text, " is neither true nor false");
  }
  return value;
}

int64_t LineStart(const Lines& lines, const Dims& strides, int64_t k) {
  int64_t position = 0;
  for (size_t d = lines.sizes.size(); d-- > 0;) {
    if (d == lines.dim) continue;
    position += k % lines.sizes[d] * strides[d];
    k /= lines.sizes[d];
  }
  return position;
}

int64_t LineStep(const Lines& lines, const Dims& strides) {
  return strides.empty() ? 1 : strides[lines.dim];
}

absl::Status CheckResult(const char* name, const Tensor& t, DType dtype, const Lines& lines,
                         int64_t length) {
  Dims sizes = lines.sizes;
  if (!sizes.empty()) sizes[lines.dim] = length;
  if (!t.is_defined() || t.dtype() != dtype || !(t.sizes() == sizes)) {
    return InvalidArgument(name, ": a result is ", t.is_defined() ? TypeString(t) : "absent",
                           ", which does not fit");
  }
  return absl::OkStatus();
}

Tensor Widened(const Tensor& t) {
  if (!IsSubByte(t.dtype())) return t;
  return t.To(IsUnsigned(t.dtype()) ? DType::kU8 : DType::kI8);
}

void ForEachLine(const ExternCall& call, const Lines& lines,
                 const std::function<void(int64_t, int64_t)>& body) {
  if (lines.count == 0) return;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(lines.length, 1));
  if (call.pool == nullptr || lines.count <= grain) return body(0, lines.count);
  call.pool->ParallelFor(lines.count, grain,
                         [&](int64_t begin, int64_t end, int) { body(begin, end); });
}

}  // namespace lathe
