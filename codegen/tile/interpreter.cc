#include <cstring>

#include "codegen/tile/execution.h"
#include "codegen/tile/stream_tile.h"
#include "ir/loops/streamed_results.h"

namespace lathe::tile {

int64_t Execution::FirstElement(const Affine& at) const {
  int64_t sum = slots_[at.constant];
  for (const Affine::Term& term : at.terms) sum += slots_[term.coefficient] * index_[term.axis];
  for (Operand scalar : at.scalars) sum += *reinterpret_cast<const int64_t*>(pointers_[scalar]);
  return sum;
}

Plane Execution::PlaneOf(const Access& access) const {
  return {rows_, cols_, slots_[access.row_step], slots_[access.col_step], FirstElement(access.at)};
}

// Whether the tile lies in memory as it would in a register, and ends where a group of elements
// does, so that whole groups may be read and written.
bool Execution::IsContiguous(const Plane& plane, int64_t bytes) const {
  if ((n_ * bytes) % 64 != 0) return false;
  if (cols_ == 1) return plane.row_stride == 1;
  return plane.col_stride == 1 && (rows_ == 1 || plane.row_stride == cols_);
}

bool Execution::IsStreamed(const Access& access) const {
  return streams_ && access.memory < program_.buffer_count &&
         slots_[program_.streamed_bytes[access.memory]] >= kStreamBytes;
}

void Execution::Load(const Instruction& i) {
  const Access& access = stage_->accesses[i.access];
  const Plane plane = PlaneOf(access);
  char* base = memory_[access.memory];
  if (access.layout.sub_bits == 0) {
    base += plane.first * access.layout.bytes;
    if (i.code == Code::kLoad && !access.always_copy && IsContiguous(plane, access.layout.bytes)) {
      pointers_[i.dst] = base;
      // Memory works on the next tile while this one is computed.
      if (streams_) FetchTile(base + n_ * access.layout.bytes, n_ * access.layout.bytes);
      return;
    }
  }
  char* home = Home(i.dst);
  pointers_[i.dst] = home;
  if (i.code == Code::kLoad) {
    LoadPlane(home, base, access.layout, plane);
  } else if (i.code == Code::kGather) {
    lathe::tile::Gather(home, base, access.layout, plane.first,
                        reinterpret_cast<const int64_t*>(pointers_[access.index]),
                        reinterpret_cast<const uint8_t*>(pointers_[i.c]), (i.scalars & 4) != 0, n_);
  } else {
    LoadPlaneMasked(home, base, access.layout, plane,
                    reinterpret_cast<const uint8_t*>(pointers_[i.c]), (i.scalars & 4) != 0);
  }
}

void Execution::LoadScalar(const Instruction& i) {
  char* dst = pointers_[i.dst];
  if (i.c != kNoOperand && *pointers_[i.c] == 0) {
    std::memset(dst, 0, kScalarBytes);
    return;
  }
  const Access& access = stage_->accesses[i.access];
  const int64_t first = FirstElement(access.at);
  const char* base = memory_[access.memory];
  if (access.layout.sub_bits == 0) base += first * access.layout.bytes;
  alignas(8) char element[8];
  LoadPlane(element, base, access.layout, {1, 1, 0, 0, first});
  Repeat(dst, element, access.layout.bytes, kScalarBytes / access.layout.bytes);
}

void Execution::Store(const Instruction& i, bool one) {
  const Access& access = stage_->accesses[i.access];
  Plane plane = PlaneOf(access);
  if (one) plane.rows = plane.cols = 1;
  char* base = memory_[access.memory];
  if (access.layout.sub_bits == 0) base += plane.first * access.layout.bytes;
  if (IsStreamed(access) && !one && (i.scalars & 1) == 0 &&
      IsContiguous(plane, access.layout.bytes)) {
    return StreamTile(base, pointers_[i.a], n_ * access.layout.bytes);
  }
  StorePlane(base, pointers_[i.a], one || (i.scalars & 1) != 0, access.layout, plane,
             reinterpret_cast<const uint8_t*>(pointers_[i.c]), one || (i.scalars & 4) != 0);
}

void Execution::Scatter(const Instruction& i) {
  const Access& access = stage_->accesses[i.access];
  const int64_t first = FirstElement(access.at);
  static constexpr int64_t kNoOffset = 0;
  const int64_t* index = access.index == kNoOperand
                             ? &kNoOffset
                             : reinterpret_cast<const int64_t*>(pointers_[access.index]);
  const int64_t n = i.scalar_n != 0 ? i.scalar_n : n_;
  const uint8_t* mask = reinterpret_cast<const uint8_t*>(pointers_[i.c]);
  const bool scalar = (i.scalars & 1) != 0, mask_is_scalar = (i.scalars & 4) != 0;
  char* base = memory_[access.memory];
  if (i.code == Code::kAtomicAdd) {
    AtomicAdd(base, pointers_[i.a], scalar, access.dtype, first, index, mask, mask_is_scalar, n);
    return;
  }
  if (access.layout.sub_bits == 0) base += first * access.layout.bytes;
  lathe::tile::Scatter(base, pointers_[i.a], scalar, access.layout, first, index, mask,
                       mask_is_scalar, n);
}

void Execution::PrepareStore(const Instruction& i) {
  const Access& access = stage_->accesses[i.access];
  const Plane plane = PlaneOf(access);
  pointers_[i.dst] = IsContiguous(plane, access.layout.bytes) && !IsStreamed(access)
                         ? memory_[access.memory] + plane.first * access.layout.bytes
                         : Home(i.dst);
}

bool Execution::RunSection(const std::vector<Instruction>& section) {
  char** p = pointers_;
  for (const Instruction& i : section) {
    const int64_t n = i.scalar_n != 0 ? i.scalar_n : n_;
    switch (i.code) {
      case Code::kCompute:
        i.function(p[i.dst], p[i.a], p[i.b], p[i.c], n, i.scalars);
        break;
      case Code::kConvert:
        ConvertTile(i.conversion, p[i.dst], i.bytes, p[i.a], (i.scalars & 1) != 0, n);
        break;
      case Code::kDivide:
        if (!i.division(p[i.dst], p[i.a], p[i.b], reinterpret_cast<const uint8_t*>(p[i.c]), n,
                        i.scalars)) {
          return Fail(i.error, 0);
        }
        break;
      case Code::kIndexMath:
        i.index_function(reinterpret_cast<int64_t*>(p[i.dst]),
                         reinterpret_cast<const int64_t*>(p[i.a]),
                         reinterpret_cast<const int64_t*>(p[i.b]), n, i.scalars);
        break;
      case Code::kCheckIndex: {
        int64_t bad = 0;
        if (!CheckIndices(
                reinterpret_cast<int64_t*>(p[i.dst]), reinterpret_cast<const int64_t*>(p[i.a]),
                reinterpret_cast<const uint8_t*>(p[i.c]), n, slots_[i.slot], i.scalars, &bad)) {
          return Fail(i.error, bad);
        }
        break;
      }
      case Code::kCheck:
        if (!CheckConditions(reinterpret_cast<const uint8_t*>(p[i.a]),
                             reinterpret_cast<const uint8_t*>(p[i.c]), n, i.scalars)) {
          return Fail(i.error, 0);
        }
        break;
      case Code::kRepeat:
        Repeat(p[i.dst], p[i.a], i.bytes, stage_->tile_elements);
        break;
      case Code::kCopyScalar:
        std::memcpy(p[i.dst], p[i.a], kScalarBytes);
        break;
      case Code::kSplat: {
        const int64_t value = FirstElement(stage_->accesses[i.access].at);
        Repeat(p[i.dst], &value, 8, kScalarBytes / 8);
        break;
      }
      case Code::kIota: {
        const Plane plane = PlaneOf(stage_->accesses[i.access]);
        FillIndices(reinterpret_cast<int64_t*>(p[i.dst]), plane.first, rows_, cols_,
                    plane.row_stride, plane.col_stride);
        break;
      }
      case Code::kLoadScalar:
        LoadScalar(i);
        break;
      case Code::kLoad:
      case Code::kLoadMasked:
      case Code::kGather:
        Load(i);
        break;
      case Code::kStore:
        Store(i, false);
        break;
      case Code::kStoreScalar:
        Store(i, true);
        break;
      case Code::kScatter:
      case Code::kAtomicAdd:
        Scatter(i);
        break;
      case Code::kPrepareStore:
        PrepareStore(i);
        break;
      case Code::kFinishStore:
        if (p[i.a] == Home(i.a)) Store(i, false);
        break;
    }
  }
  return true;
}

}  // namespace lathe::tile
