// "nonzero": makes outputs[0], i64 [n, rank]: the indexes of the elements of inputs[0] that are not
// zero (NaN is not), in row-major order. Its columns are contiguous, as eager lays them out.

#include <complex>
#include <vector>

#include "dtypes/base/status.h"
#include "dtypes/visit.h"
#include "runtime/externs/builtin.h"
#include "runtime/externs/lines.h"
#include "runtime/memory/pool.h"

namespace lathe {
namespace {

template <typename T>
bool IsNonzero(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return value != T{};
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    return value.real() != 0 || value.imag() != 0;
  } else {
    return value.ToFloat() != 0;
  }
}

// Calls body(position along the line) for the elements of line k that are not zero.
template <typename T, typename Body>
void ForEachNonzero(const Tensor& x, const Lines& lines, int64_t k, Body body) {
  const T* from = x.data_as<T>() + LineStart(lines, x.strides(), k);
  const int64_t step = LineStep(lines, x.strides());
  for (int64_t i = 0; i < lines.length; ++i) {
    if (IsNonzero(from[i * step])) body(i);
  }
}

template <typename T>
absl::StatusOr<Tensor> Nonzero(const ExternCall& call, const Tensor& x, const Lines& lines) {
  // First how many each line has, so that each knows where its indexes go.
  std::vector<int64_t> first(static_cast<size_t>(lines.count) + 1, 0);
  ForEachLine(call, lines, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      int64_t count = 0;
      ForEachNonzero<T>(x, lines, k, [&](int64_t) { ++count; });
      first[static_cast<size_t>(k) + 1] = count;
    }
  });
  for (size_t k = 1; k < first.size(); ++k) first[k] += first[k - 1];
  const int64_t rank = x.rank();
  const Dims sizes{first.back(), rank};
  std::shared_ptr<Storage> storage = PoolAllocate(first.back() * rank * 8);
  if (storage == nullptr) return ResourceExhausted("nonzero: no memory for the result");
  const int64_t n = first.back();
  const Tensor result(DType::kI64, sizes, Dims{1, n}, 0, std::move(storage));
  if (rank == 0) return result;
  ForEachLine(call, lines, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      int64_t* row = result.data_as<int64_t>() + first[static_cast<size_t>(k)];
      ForEachNonzero<T>(x, lines, k, [&](int64_t i) {
        row[(rank - 1) * n] = i;
        int64_t rest = k;
        for (int64_t d = rank - 2; d >= 0; --d) {
          row[d * n] = rest % x.sizes()[static_cast<size_t>(d)];
          rest /= x.sizes()[static_cast<size_t>(d)];
        }
        ++row;
      });
    }
  });
  return result;
}

class NonzeroOf final : public Extern {
 public:
  absl::string_view id() const override { return "nonzero"; }
  absl::Status Run(const ExternCall& call) const override {
    if (call.inputs.size() != 1 || call.outputs.size() != 1 || !call.inputs[0].is_defined()) {
      return InvalidArgument("nonzero: takes one tensor and makes one");
    }
    if (IsStorageOnly(call.inputs[0].dtype())) {
      return Unimplemented("nonzero: ", Name(call.inputs[0].dtype()));
    }
    const Tensor x = Widened(call.inputs[0]);
    LATHE_ASSIGN_OR_RETURN(const Lines lines, LinesOf(x, -1));
    absl::StatusOr<Tensor> result =
        VisitPlain(x.dtype(), [&]<typename T>(TypeTag<T>) { return Nonzero<T>(call, x, lines); });
    LATHE_RETURN_IF_ERROR(result.status());
    call.outputs[0] = *std::move(result);
    return absl::OkStatus();
  }
};

}  // namespace

const Extern* NonzeroExtern() {
  static const NonzeroOf nonzero;
  return &nonzero;
}

}  // namespace lathe
