// Columns from and to tensors.

#include "dtypes/element.h"
#include "dtypes/visit.h"
#include "dtypes/wide.h"
#include "ir/ops/columns/column_handler.h"
#include "ir/ops/lowering.h"

namespace lathe {
namespace {

// Calls `visit(k, storage position)` style reading through a typed pointer.
template <typename Position>
Column ReadAt(const Tensor& tensor, int64_t count, Position position) {
  Column column;
  column.dtype = LoadedDType(tensor.dtype());
  if (IsSubByte(tensor.dtype())) {
    for (int64_t k = 0; k < count; ++k) {
      int64_t element = tensor.offset() + position(k);
      column.integers.push_back(
          LoadElement(tensor.storage()->data(), tensor.dtype(), element).ToInt());
    }
    return column;
  }
  VisitPlain(tensor.dtype(), [&]<typename T>(TypeTag<T>) {
    const T* data = tensor.data_as<T>();
    using Wide = WideOf<T>;
    for (int64_t k = 0; k < count; ++k) {
      if constexpr (std::is_floating_point_v<Wide>) {
        column.floats.push_back(static_cast<double>(Widen(data[position(k)])));
      } else if constexpr (std::is_integral_v<Wide>) {
        column.integers.push_back(static_cast<int64_t>(Widen(data[position(k)])));
      } else {
        column.complexes.push_back(Widen(data[position(k)]));
      }
    }
  });
  return column;
}

}  // namespace

Column ReadColumn(const Tensor& tensor, int64_t begin, int64_t end) {
  return ReadAt(tensor, end - begin, [begin](int64_t k) { return begin + k; });
}

Column GatherColumn(const Tensor& tensor, absl::Span<const int64_t> positions) {
  return ReadAt(tensor, static_cast<int64_t>(positions.size()),
                [positions](int64_t k) { return positions[k]; });
}

void WriteColumn(const Column& column, const Tensor& tensor, int64_t begin) {
  const bool is_f32 = column.dtype == DType::kF32;
  if (IsSubByte(tensor.dtype())) {
    for (size_t k = 0; k < column.integers.size(); ++k) {
      StoreElement(tensor.storage()->data(), tensor.dtype(), tensor.offset() + begin + k,
                   Scalar(column.integers[k]));
    }
    for (size_t k = 0; k < column.floats.size(); ++k) {
      StoreElement(tensor.storage()->data(), tensor.dtype(), tensor.offset() + begin + k,
                   Scalar(column.floats[k]));
    }
    return;
  }
  VisitPlain(tensor.dtype(), [&]<typename T>(TypeTag<T>) {
    T* data = tensor.data_as<T>() + begin;
    for (size_t k = 0; k < column.floats.size(); ++k) {
      double value = column.floats[k];
      // A value of dtype f32 is rounded to it before it becomes anything else.
      data[k] = Narrow<T>(is_f32 ? static_cast<double>(static_cast<float>(value)) : value);
    }
    const bool is_u64 = column.dtype == DType::kU64;
    for (size_t k = 0; k < column.integers.size(); ++k) {
      data[k] = is_u64 ? Narrow<T>(static_cast<uint64_t>(column.integers[k]))
                       : Narrow<T>(column.integers[k]);
    }
    for (size_t k = 0; k < column.complexes.size(); ++k) data[k] = Narrow<T>(column.complexes[k]);
  });
}

namespace {

// An element after rounding to `dtype`, still in a double.
double RoundFloat(double value, DType dtype) {
  if (dtype == DType::kF64) return value;
  if (dtype == DType::kF32) return static_cast<float>(value);
  return Convert(Scalar(value), dtype).ToDouble();
}

void CastFloats(const Column& from, Column& to) {
  const bool from_f32 = from.dtype == DType::kF32;
  for (double value : from.floats) {
    double rounded = from_f32 ? static_cast<double>(static_cast<float>(value)) : value;
    if (IsFloat(to.dtype)) {
      to.floats.push_back(RoundFloat(rounded, to.dtype));
    } else if (IsComplex(to.dtype)) {
      to.complexes.push_back(value);
    } else {
      to.integers.push_back(FloatToIntWrap(rounded, to.dtype));
    }
  }
}

void CastIntegers(const Column& from, Column& to) {
  const bool is_u64 = from.dtype == DType::kU64;
  for (int64_t value : from.integers) {
    if (IsIntegral(to.dtype)) {
      to.integers.push_back(WrapInt(value, to.dtype));
      continue;
    }
    double wide =
        is_u64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
    if (to.dtype == DType::kF32) {
      wide = is_u64 ? static_cast<float>(static_cast<uint64_t>(value)) : static_cast<float>(value);
    } else if (IsFloat(to.dtype)) {
      wide = RoundFloat(wide, to.dtype);
    }
    if (IsFloat(to.dtype)) to.floats.push_back(wide);
    if (IsComplex(to.dtype)) to.complexes.push_back(wide);
  }
}

}  // namespace

Column CastColumn(const Column& from, DType dtype) {
  if (from.dtype == dtype) return from;
  Column to;
  to.dtype = dtype;
  CastFloats(from, to);
  CastIntegers(from, to);
  for (const std::complex<double>& value : from.complexes) {
    if (IsComplex(dtype)) {
      to.complexes.push_back(value);
    } else if (IsFloat(dtype)) {
      to.floats.push_back(RoundFloat(value.real(), dtype));
    } else if (IsBool(dtype)) {
      to.integers.push_back(value != std::complex<double>());
    } else {
      to.integers.push_back(FloatToIntWrap(value.real(), dtype));
    }
  }
  return to;
}

}  // namespace lathe
