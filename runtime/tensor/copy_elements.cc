#include "runtime/tensor/copy_elements.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "dtypes/base/check.h"
#include "dtypes/packing.h"
#include "dtypes/sub_byte.h"

namespace lathe {
namespace {

struct Axis {
  int64_t size, target, source;  // strides in elements
};

// Axes of more than one element, in descending order of the target's stride (writes then go
// forward), neighbours merged where both sides step as one axis. Empty sizes give one axis of 0.
std::vector<Axis> MergedAxes(const Dims& sizes, const Dims& target, const Dims& source) {
  std::vector<Axis> axes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return {{0, 0, 0}};
    if (sizes[d] != 1) axes.push_back({sizes[d], target[d], source[d]});
  }
  std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
    return std::abs(a.target) > std::abs(b.target);
  });
  std::vector<Axis> merged;
  for (const Axis& axis : axes) {
    if (!merged.empty() && merged.back().target == axis.target * axis.size &&
        merged.back().source == axis.source * axis.size) {
      merged.back() = {merged.back().size * axis.size, axis.target, axis.source};
    } else {
      merged.push_back(axis);
    }
  }
  return merged;
}

// Calls row(target position, source position) for every index of all axes but the last.
template <typename Row>
void ForEachRow(const std::vector<Axis>& axes, int64_t target, int64_t source, const Row& row) {
  const int outer = static_cast<int>(axes.size()) - 1;
  std::vector<int64_t> index(outer, 0);
  while (true) {
    row(target, source);
    int d = outer - 1;
    for (; d >= 0; --d) {
      target += axes[d].target;
      source += axes[d].source;
      if (++index[d] < axes[d].size) break;
      target -= axes[d].target * axes[d].size;
      source -= axes[d].source * axes[d].size;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

template <typename T>
void CopyStridedRow(T* target, int64_t target_stride, const T* source, int64_t source_stride,
                    int64_t n) {
  for (int64_t i = 0; i < n; ++i) target[i * target_stride] = source[i * source_stride];
}

struct alignas(8) Bytes16 {
  uint64_t low, high;
};

template <typename T>
void CopyPlain(const std::vector<Axis>& axes, const StridedBytes& target,
               const StridedBytes& source) {
  T* to = static_cast<T*>(target.base);
  const T* from = static_cast<const T*>(source.base);
  const Axis inner = axes.back();
  if (inner.target == 1 && inner.source == 1) {
    ForEachRow(axes, target.offset, source.offset, [&](int64_t t, int64_t s) {
      std::memcpy(to + t, from + s, inner.size * sizeof(T));
    });
    return;
  }
  // A transposed source: rows of the target walk far apart in the source. Tiles of 16 rows keep
  // the source's cache lines in use.
  if (axes.size() == 2 && inner.source != 1 && axes[0].source == 1) {
    constexpr int64_t kTile = 16;
    for (int64_t r = 0; r < axes[0].size; r += kTile) {
      const int64_t rows = std::min(kTile, axes[0].size - r);
      for (int64_t c = 0; c < inner.size; c += kTile) {
        const int64_t columns = std::min(kTile, inner.size - c);
        for (int64_t i = r; i < r + rows; ++i) {
          CopyStridedRow(to + target.offset + i * axes[0].target + c * inner.target, inner.target,
                         from + source.offset + i + c * inner.source, inner.source, columns);
        }
      }
    }
    return;
  }
  ForEachRow(axes, target.offset, source.offset, [&](int64_t t, int64_t s) {
    CopyStridedRow(to + t, inner.target, from + s, inner.source, inner.size);
  });
}

// Through bytes, since the two rows may start at different bits.
void CopyPackedRow(DType dtype, void* target, int64_t first, const void* source,
                   int64_t source_first, int64_t n) {
  constexpr int64_t kBlock = 1024;
  uint8_t bytes[kBlock];
  for (int64_t k = 0; k < n; k += kBlock) {
    const int64_t count = std::min(kBlock, n - k);
    UnpackElements(source, dtype, source_first + k, bytes, count);
    PackElements(bytes, target, dtype, first + k, count);
  }
}

void CopySubByte(int width, const std::vector<Axis>& axes, const StridedBytes& target,
                 const StridedBytes& source) {
  const DType dtype = static_cast<DType>(static_cast<int>(DType::kU1) + width - 1);
  const Axis inner = axes.back();
  ForEachRow(axes, target.offset, source.offset, [&](int64_t t, int64_t s) {
    if (inner.target == 1 && inner.source == 1) {
      return CopyPackedRow(dtype, target.base, t, source.base, s, inner.size);
    }
    for (int64_t i = 0; i < inner.size; ++i) {
      StoreBits(target.base, width, t + i * inner.target,
                LoadBits(source.base, width, s + i * inner.source));
    }
  });
}

}  // namespace

void CopyElements(int bit_width, const Dims& sizes, const StridedBytes& target,
                  const StridedBytes& source) {
  std::vector<Axis> axes = MergedAxes(sizes, target.strides, source.strides);
  if (axes.empty()) axes.push_back({1, 1, 1});
  if (axes[0].size == 0) return;
  switch (bit_width) {
    case 8:
      return CopyPlain<uint8_t>(axes, target, source);
    case 16:
      return CopyPlain<uint16_t>(axes, target, source);
    case 32:
      return CopyPlain<uint32_t>(axes, target, source);
    case 64:
      return CopyPlain<uint64_t>(axes, target, source);
    case 128:
      return CopyPlain<Bytes16>(axes, target, source);
    default:
      LATHE_CHECK(bit_width < 8) << "element of " << bit_width << " bits";
  }
  CopySubByte(bit_width, axes, target, source);
}

}  // namespace lathe
