#include "runtime/abi/memory_packing.h"

#include <algorithm>
#include <vector>

namespace lathe {
namespace {

constexpr int64_t kAlignment = 64;

int64_t RoundUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool LiveTogether(const PackedPiece& a, const PackedPiece& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

}  // namespace

int64_t PackMemory(absl::Span<PackedPiece> pieces) {
  std::vector<PackedPiece*> order;
  for (PackedPiece& piece : pieces) order.push_back(&piece);
  std::stable_sort(order.begin(), order.end(), [](const PackedPiece* a, const PackedPiece* b) {
    return a->size_bytes > b->size_bytes;
  });
  int64_t total = 0;
  std::vector<const PackedPiece*> placed;  // sorted by offset
  for (PackedPiece* piece : order) {
    const int64_t size = RoundUp(piece->size_bytes);
    int64_t offset = 0;
    for (const PackedPiece* other : placed) {
      if (!LiveTogether(*piece, *other)) continue;
      if (offset + size <= other->offset_bytes) break;
      offset = std::max(offset, other->offset_bytes + RoundUp(other->size_bytes));
    }
    piece->offset_bytes = offset;
    total = std::max(total, offset + size);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), piece,
                                   [](const PackedPiece* a, const PackedPiece* b) {
                                     return a->offset_bytes < b->offset_bytes;
                                   }),
                  piece);
  }
  return total;
}

int64_t PeakLiveBytes(absl::Span<const PackedPiece> pieces) {
  std::vector<std::pair<int32_t, int64_t>> changes;
  for (const PackedPiece& piece : pieces) {
    changes.push_back({piece.first_step, RoundUp(piece.size_bytes)});
    changes.push_back({piece.last_step + 1, -RoundUp(piece.size_bytes)});
  }
  std::sort(changes.begin(), changes.end());  // at one step, releases (negative) come first
  int64_t live = 0, peak = 0;
  for (const auto& [step, bytes] : changes) peak = std::max(peak, live += bytes);
  return peak;
}

}  // namespace lathe
