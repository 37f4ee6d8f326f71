#include "codegen/tile/memory_kernels.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "dtypes/base/check.h"
#include "dtypes/packing.h"
#include "dtypes/sub_byte.h"
#include "dtypes/visit.h"

namespace lathe::tile {
namespace {

// Calls f with an unsigned type of that size.
template <typename F>
void WithSize(int bytes, F f) {
  switch (bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

DType DTypeOf(ElementLayout layout) {  // of a packed one
  const DType one = layout.is_signed ? DType::kI1 : DType::kU1;
  return static_cast<DType>(static_cast<int>(one) + layout.sub_bits - 1);
}

uint8_t LoadSubByte(const void* base, ElementLayout layout, int64_t at) {
  const uint32_t bits = LoadBits(base, layout.sub_bits, at);
  if (!layout.is_signed) return static_cast<uint8_t>(bits);
  const int unused = 32 - layout.sub_bits;
  return static_cast<uint8_t>(static_cast<int32_t>(bits << unused) >> unused);
}

// Rows of neighbours are unpacked and packed by vector code.
void LoadPackedRows(uint8_t* dst, const void* base, ElementLayout layout, const Plane& plane) {
  for (int64_t r = 0; r < plane.rows; ++r, dst += plane.cols) {
    UnpackElements(base, DTypeOf(layout), plane.first + r * plane.row_stride, dst, plane.cols);
  }
}
void StorePackedRows(void* base, const uint8_t* src, ElementLayout layout, const Plane& plane) {
  for (int64_t r = 0; r < plane.rows; ++r, src += plane.cols) {
    PackElements(src, base, DTypeOf(layout), plane.first + r * plane.row_stride, plane.cols);
  }
}

// f(element number in the tile, element number in memory) for every element of the plane.
template <typename F>
void ForPlane(const Plane& plane, F f) {
  int64_t i = 0;
  for (int64_t r = 0; r < plane.rows; ++r) {
    int64_t at = plane.first + r * plane.row_stride;
    for (int64_t c = 0; c < plane.cols; ++c, ++i, at += plane.col_stride) f(i, at);
  }
}

// Each of `rows` elements kCols or cols times.
template <int kCols, typename T>
void RepeatEach(T* dst, const T* base, int64_t row_stride, int64_t rows, int64_t cols) {
  if (kCols != 0) cols = kCols;
  for (int64_t r = 0; r < rows; ++r) {
    const T value = base[r * row_stride];
    for (int64_t c = 0; c < cols; ++c) dst[r * cols + c] = value;
  }
}

// One row again and again: what is there already doubles.
template <typename T>
void RepeatRow(T* dst, const T* row, int64_t rows, int64_t cols) {
  std::memcpy(dst, row, cols * sizeof(T));
  const int64_t all = rows * cols;
  for (int64_t done = cols; done < all; done *= 2) {
    std::memcpy(dst + done, dst, std::min(done, all - done) * sizeof(T));
  }
}

template <typename T>
void LoadRows(T* dst, const T* base, const Plane& plane) {
  const int64_t rows = plane.rows, cols = plane.cols, row_stride = plane.row_stride;
  if (plane.col_stride == 0) {
    switch (cols) {
      case 4:
        return RepeatEach<4>(dst, base, row_stride, rows, cols);
      case 8:
        return RepeatEach<8>(dst, base, row_stride, rows, cols);
      case 16:
        return RepeatEach<16>(dst, base, row_stride, rows, cols);
      default:
        return RepeatEach<0>(dst, base, row_stride, rows, cols);
    }
  }
  if (plane.col_stride == 1 && row_stride == 0) return RepeatRow(dst, base, rows, cols);
  for (int64_t r = 0; r < rows; ++r, dst += cols, base += row_stride) {
    if (plane.col_stride == 1) {
      std::memcpy(dst, base, cols * sizeof(T));
    } else {
      for (int64_t c = 0; c < cols; ++c) dst[c] = base[c * plane.col_stride];
    }
  }
}

template <typename T>
void StoreRows(T* base, const T* src, bool scalar, const Plane& plane) {
  for (int64_t r = 0; r < plane.rows; ++r, base += plane.row_stride) {
    if (scalar) {
      const T value = *src;
      for (int64_t c = 0; c < plane.cols; ++c) base[c * plane.col_stride] = value;
      continue;
    }
    if (plane.col_stride == 1) {
      std::memcpy(base, src, plane.cols * sizeof(T));
    } else {
      for (int64_t c = 0; c < plane.cols; ++c) base[c * plane.col_stride] = src[c];
    }
    src += plane.cols;
  }
}

template <typename T, typename U>
void AddAtomically(T* at, U value) {
  const std::atomic_ref<T> cell(*at);
  T old = cell.load(std::memory_order_relaxed);
  T wanted;
  do {
    if constexpr (requires { old.ToFloat(); }) {
      wanted = T::FromFloat(old.ToFloat() + value.ToFloat());
    } else if constexpr (std::is_same_v<T, bool>) {
      wanted = old || value;
    } else if constexpr (std::is_integral_v<T>) {
      wanted = static_cast<T>(static_cast<uint64_t>(old) + static_cast<uint64_t>(value));
    } else {
      wanted = old + value;
    }
  } while (!cell.compare_exchange_weak(old, wanted, std::memory_order_relaxed));
}

}  // namespace

ElementLayout LayoutOf(DType dtype) {
  if (IsSubByte(dtype)) return {1, static_cast<uint8_t>(BitWidth(dtype)), IsSigned(dtype)};
  return {static_cast<uint8_t>(BitWidth(dtype) / 8), 0, false};
}

void LoadPlane(void* dst, const void* base, ElementLayout layout, const Plane& plane) {
  if (layout.sub_bits != 0) {
    uint8_t* out = static_cast<uint8_t*>(dst);
    if (plane.col_stride == 1 && plane.cols > 1) return LoadPackedRows(out, base, layout, plane);
    return ForPlane(plane, [&](int64_t i, int64_t at) { out[i] = LoadSubByte(base, layout, at); });
  }
  WithSize(layout.bytes, [&]<typename T>(T) {
    LoadRows(static_cast<T*>(dst), static_cast<const T*>(base), plane);
  });
}

void LoadPlaneMasked(void* dst, const void* base, ElementLayout layout, const Plane& plane,
                     const uint8_t* mask, bool mask_is_scalar) {
  if (mask_is_scalar) {
    if (*mask != 0) return LoadPlane(dst, base, layout, plane);
    std::memset(dst, 0, plane.rows * plane.cols * layout.bytes);
    return;
  }
  if (layout.sub_bits != 0) {
    uint8_t* out = static_cast<uint8_t*>(dst);
    return ForPlane(plane, [&](int64_t i, int64_t at) {
      out[i] = mask[i] != 0 ? LoadSubByte(base, layout, at) : 0;
    });
  }
  Plane from_base = plane;
  from_base.first = 0;
  WithSize(layout.bytes, [&]<typename T>(T) {
    T* out = static_cast<T*>(dst);
    const T* from = static_cast<const T*>(base);
    ForPlane(from_base, [&](int64_t i, int64_t at) { out[i] = mask[i] != 0 ? from[at] : T{0}; });
  });
}

void Gather(void* dst, const void* base, ElementLayout layout, int64_t first, const int64_t* index,
            const uint8_t* mask, bool mask_is_scalar, int64_t n) {
  if (mask != nullptr && mask_is_scalar) {
    if (*mask == 0) {
      std::memset(dst, 0, n * layout.bytes);
      return;
    }
    mask = nullptr;
  }
  if (layout.sub_bits != 0) {
    uint8_t* out = static_cast<uint8_t*>(dst);
    for (int64_t i = 0; i < n; ++i) {
      const bool on = mask == nullptr || mask[i] != 0;
      out[i] = on ? LoadSubByte(base, layout, first + index[i]) : 0;
    }
    return;
  }
  WithSize(layout.bytes, [&]<typename T>(T) {
    T* out = static_cast<T*>(dst);
    const T* from = static_cast<const T*>(base);
    if (mask == nullptr) {
      for (int64_t i = 0; i < n; ++i) out[i] = from[index[i]];
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = mask[i] != 0 ? from[index[i]] : T{0};
    }
  });
}

void StorePlane(void* base, const void* src, bool scalar, ElementLayout layout, const Plane& plane,
                const uint8_t* mask, bool mask_is_scalar) {
  if (mask != nullptr && mask_is_scalar) {
    if (*mask == 0) return;
    mask = nullptr;
  }
  const int64_t step = scalar ? 0 : 1;
  if (layout.sub_bits != 0) {
    const uint8_t* from = static_cast<const uint8_t*>(src);
    if (plane.col_stride == 1 && mask == nullptr && !scalar) {
      return StorePackedRows(base, from, layout, plane);
    }
    return ForPlane(plane, [&](int64_t i, int64_t at) {
      if (mask == nullptr || mask[i] != 0) StoreBits(base, layout.sub_bits, at, from[i * step]);
    });
  }
  WithSize(layout.bytes, [&]<typename T>(T) {
    T* to = static_cast<T*>(base);
    const T* from = static_cast<const T*>(src);
    if (mask == nullptr) return StoreRows(to, from, scalar, plane);
    Plane from_base = plane;
    from_base.first = 0;
    ForPlane(from_base, [&](int64_t i, int64_t at) {
      if (mask[i] != 0) to[at] = from[i * step];
    });
  });
}

void Scatter(void* base, const void* src, bool scalar, ElementLayout layout, int64_t first,
             const int64_t* index, const uint8_t* mask, bool mask_is_scalar, int64_t n) {
  const int64_t step = scalar ? 0 : 1, mask_step = mask_is_scalar ? 0 : 1;
  WithSize(layout.bytes, [&]<typename T>(T) {
    T* to = static_cast<T*>(base);
    const T* from = static_cast<const T*>(src);
    for (int64_t i = 0; i < n; ++i) {
      if (mask != nullptr && mask[i * mask_step] == 0) continue;
      if (layout.sub_bits != 0) {
        StoreBits(base, layout.sub_bits, first + index[i], static_cast<uint32_t>(from[i * step]));
      } else {
        to[index[i]] = from[i * step];
      }
    }
  });
}

void AtomicAdd(void* base, const void* src, bool scalar, DType dtype, int64_t first,
               const int64_t* index, const uint8_t* mask, bool mask_is_scalar, int64_t n) {
  const int64_t step = scalar ? 0 : 1, mask_step = mask_is_scalar ? 0 : 1;
  const auto on = [&](int64_t i) { return mask == nullptr || mask[i * mask_step] != 0; };
  if (IsSubByte(dtype)) {  // bytes are shared: not for parallel writers
    const uint8_t* from = static_cast<const uint8_t*>(src);
    const int width = BitWidth(dtype);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = first + index[i];
      if (on(i)) StoreBits(base, width, at, LoadBits(base, width, at) + from[i * step]);
    }
    return;
  }
  VisitPlain(dtype, [&]<typename T>(TypeTag<T>) {
    if constexpr (!requires(T x) { x.real(); }) {
      T* to = static_cast<T*>(base) + first;
      const T* from = static_cast<const T*>(src);
      for (int64_t i = 0; i < n; ++i) {
        if (on(i)) AddAtomically(to + index[i], from[i * step]);
      }
    }
  });
}

void FillIndices(int64_t* dst, int64_t base, int64_t rows, int64_t cols, int64_t row_step,
                 int64_t col_step) {
  for (int64_t r = 0; r < rows; ++r, base += row_step, dst += cols) {
    for (int64_t c = 0; c < cols; ++c) dst[c] = base + c * col_step;
  }
}

void Repeat(void* dst, const void* src, int64_t bytes, int64_t n) {
  WithSize(static_cast<int>(bytes), [&]<typename T>(T) {
    const T value = *static_cast<const T*>(src);
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(dst)[i] = value;
  });
}

void ConvertTile(ConversionLoop loop, void* dst, int bytes, const void* src, bool scalar,
                 int64_t n) {
  if (!scalar) return loop(src, dst, n);
  alignas(8) char one[8];
  loop(src, one, 1);
  Repeat(dst, one, bytes, n);
}

}  // namespace lathe::tile
