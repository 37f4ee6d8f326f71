#include "runtime/executor/bind_inputs.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "dtypes/base/status.h"

namespace lathe::executor {
namespace {

template <typename... Parts>
absl::Status Refuse(const PlanInput& input, const Parts&... parts) {
  return InvalidArgument(input.is_weight ? "weight '" : "input '", input.name, "': ", parts...);
}

// Bits that a tensor's elements lie in, from the start of its storage.
std::pair<int64_t, int64_t> BitRange(const Tensor& t) {
  int64_t low = t.offset(), high = t.offset();
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    const int64_t reach = (t.sizes()[d] - 1) * t.strides()[d];
    (reach < 0 ? low : high) += reach;
  }
  const int64_t bits = BitWidth(t.dtype());
  return {low * bits, (high + 1) * bits};
}

// Sorted by stride, each dimension must step past all that the smaller ones reach. Refuses a few
// layouts that do not overlap, which no program makes.
bool MayOverlapItself(const Tensor& t) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    if (t.sizes()[d] == 0) return false;
    if (t.sizes()[d] > 1) dims.emplace_back(std::abs(t.strides()[d]), t.sizes()[d]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

// Two tensors whose ranges of memory meet, but that lie between one another's elements (x[::2] and
// x[1::2]), do not overlap: all positions of either are the same modulo a common divisor.
bool Interleaved(const Tensor& a, const Tensor& b, int64_t distance_bits) {
  int64_t divisor = 0;
  for (const Tensor* t : {&a, &b}) {
    for (size_t d = 0; d < t->sizes().size(); ++d) {
      if (t->sizes()[d] > 1) divisor = std::gcd(divisor, t->strides()[d] * BitWidth(t->dtype()));
    }
  }
  if (divisor == 0) return false;
  const int64_t rest = (distance_bits % divisor + divisor) % divisor;
  return rest >= BitWidth(a.dtype()) && rest + BitWidth(b.dtype()) <= divisor;
}

bool MayOverlap(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0) return false;
  const auto bits_from = [&](const Tensor& t) {
    return (reinterpret_cast<intptr_t>(t.storage()->data()) -
            reinterpret_cast<intptr_t>(a.storage()->data())) *
           8;
  };
  const auto [a_low, a_high] = BitRange(a);
  auto [b_low, b_high] = BitRange(b);
  const int64_t shift = bits_from(b);
  b_low += shift;
  b_high += shift;
  if (a_high <= b_low || b_high <= a_low) return false;
  const int64_t distance =
      b.offset() * BitWidth(b.dtype()) + shift - a.offset() * BitWidth(a.dtype());
  return !Interleaved(a, b, distance);
}

// Strides of elements that lie dense in the input's order of dimensions. Strides of dimensions with
// one element do not matter.
Dims DenseStrides(const PlanInput& input, const Tensor& tensor) {
  Dims strides(tensor.sizes().size(), 1);
  int64_t step = 1;
  for (auto d = input.memory_order.rbegin(); d != input.memory_order.rend(); ++d) {
    strides[*d] = step;
    step *= std::max<int64_t>(tensor.sizes()[*d], 1);
  }
  return strides;
}

bool IsDense(const PlanInput& input, const Tensor& tensor) {
  if (input.memory_order.empty()) return tensor.is_contiguous();
  if (tensor.numel() == 0) return true;
  const Dims dense = DenseStrides(input, tensor);
  for (size_t d = 0; d < dense.size(); ++d) {
    if (tensor.sizes()[d] > 1 && tensor.strides()[d] != dense[d]) return false;
  }
  return true;
}

}  // namespace

absl::Status CheckTensor(const PlanInput& input, const Tensor& tensor) {
  if (__builtin_expect(!tensor.is_defined(), 0)) return Refuse(input, "the tensor is undefined");
  if (__builtin_expect(tensor.dtype() != input.dtype, 0)) {
    return Refuse(input, "dtype must be ", Name(input.dtype), ", given ", TypeString(tensor));
  }
  if (__builtin_expect(tensor.rank() != input.rank, 0)) {
    return Refuse(input, "rank must be ", input.rank, ", given ", TypeString(tensor));
  }
  for (size_t d = 0; d < input.expected_sizes.size(); ++d) {
    const int64_t expected = input.expected_sizes[d];
    if (__builtin_expect(expected >= 0 && tensor.sizes()[d] != expected, 0)) {
      return Refuse(input, "size ", d, " must be ", expected, ", given ", tensor.sizes()[d], " (",
                    TypeString(tensor), ")");
    }
  }
  if (__builtin_expect(tensor.device() != Device::Cpu(), 0)) {
    return Refuse(input, "the program runs on cpu, given ", TypeString(tensor));
  }
  return absl::OkStatus();
}

bool NeedsCopy(const PlanInput& input, const Tensor& tensor) {
  // Kernels count packed elements from a whole byte.
  if (IsSubByte(tensor.dtype()) && tensor.offset() * BitWidth(tensor.dtype()) % 8 != 0) return true;
  return input.needs_contiguous && !IsDense(input, tensor);
}

Tensor CopyToBind(const PlanInput& input, const Tensor& tensor) {
  if (input.needs_contiguous && input.memory_order.empty()) return tensor.Clone();
  // Otherwise the program was compiled for the tensor's own strides.
  const Tensor copy =
      Tensor::EmptyStrided(tensor.dtype(), tensor.sizes(),
                           input.needs_contiguous ? DenseStrides(input, tensor) : tensor.strides());
  copy.CopyFrom(tensor);
  return copy;
}

void BindTensor(const PlanInput& input, const Tensor& tensor, Frame& frame) {
  frame.SetTensor(input.tensor, tensor, tensor.offset() - input.expected_offset);
  for (size_t d = 0; d < input.size_registers.size(); ++d) {
    if (input.size_registers[d] >= 0) frame.SetRegister(input.size_registers[d], tensor.sizes()[d]);
  }
  for (size_t d = 0; d < input.stride_registers.size(); ++d) {
    if (input.stride_registers[d] >= 0) {
      frame.SetRegister(input.stride_registers[d], tensor.strides()[d]);
    }
  }
  if (input.offset_register >= 0) frame.SetRegister(input.offset_register, tensor.offset());
}

absl::Status BindScalar(const PlanInput& input, const Scalar& value, Frame& frame) {
  if (value.is_complex() || (value.is_float() && !IsFloat(input.dtype))) {
    return Refuse(input, "must be ", IsBool(input.dtype) ? "a bool" : "an integer", ", given ",
                  value.ToString());
  }
  if (IsFloat(input.dtype)) {
    frame.SetRegister(input.scalar, std::bit_cast<int64_t>(value.ToDouble()));
  } else if (IsBool(input.dtype)) {
    frame.SetRegister(input.scalar, value.ToBool());
  } else if (value.kind() == Scalar::Kind::kUInt) {
    return Refuse(input, value.ToString(), " is more than 64 bits hold");
  } else {
    frame.SetRegister(input.scalar, value.ToInt());
  }
  return absl::OkStatus();
}

absl::Status CheckOverlap(absl::Span<const PlanInput> inputs,
                          absl::Span<const Tensor* const> tensors, bool weights) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!inputs[k].is_mutated || tensors[k] == nullptr) continue;
    if (inputs[k].is_weight == weights && MayOverlapItself(*tensors[k])) {
      return Refuse(inputs[k], "is changed by the program, but its own elements overlap: ",
                    TypeString(*tensors[k]));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (i == k || tensors[i] == nullptr || (inputs[i].is_mutated && i < k)) continue;
      if ((inputs[k].is_weight && inputs[i].is_weight) != weights) continue;
      if (MayOverlap(*tensors[k], *tensors[i])) {
        return Refuse(inputs[k], "is changed by the program, but shares memory with ",
                      inputs[i].is_weight ? "weight '" : "input '", inputs[i].name, "'");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace lathe::executor
