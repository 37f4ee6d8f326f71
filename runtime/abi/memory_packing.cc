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

// Pieces by life: level k holds those that live 2^k to 2^(k+1) - 1 steps, in buckets of 2^k steps
// by their first one. So who lives at the same time as a piece is found without asking everybody:
// programs of 100 000 buffers are packed at every change of a size.
class PlacedPieces {
 public:
  explicit PlacedPieces(absl::Span<const PackedPiece> pieces) {
    for (const PackedPiece& piece : pieces) {
      origin_ = std::min<int64_t>(origin_, piece.first_step);
      end_ = std::max<int64_t>(end_, piece.first_step);
    }
    end_ = std::max<int64_t>(end_ - origin_, 0);
  }

  void Add(const PackedPiece* piece) {
    const size_t level = LevelOf(*piece);
    while (levels_.size() <= level) {
      levels_.emplace_back((end_ >> levels_.size()) + 1);
    }
    levels_[level][(piece->first_step - origin_) >> level].push_back(piece);
  }

  // Sorted by offset.
  const std::vector<const PackedPiece*>& LivingWith(const PackedPiece& piece) {
    found_.clear();
    for (size_t level = 0; level < levels_.size(); ++level) {
      // A life is shorter than two buckets: it began at most two before.
      const int64_t first = std::max<int64_t>(((piece.first_step - origin_) >> level) - 2, 0);
      const int64_t last = std::min((piece.last_step - origin_) >> level, end_ >> level);
      for (int64_t bucket = first; bucket <= last; ++bucket) {
        for (const PackedPiece* other : levels_[level][bucket]) {
          if (LiveTogether(piece, *other)) found_.push_back(other);
        }
      }
    }
    std::sort(found_.begin(), found_.end(), [](const PackedPiece* a, const PackedPiece* b) {
      return a->offset_bytes < b->offset_bytes;
    });
    return found_;
  }

 private:
  static size_t LevelOf(const PackedPiece& piece) {
    size_t level = 0;
    for (int64_t life = int64_t{piece.last_step} - piece.first_step + 1; life > 1; life >>= 1) {
      ++level;
    }
    return level;
  }

  int64_t origin_ = INT32_MAX, end_ = 0;  // the first of all steps; the last first step, from there
  std::vector<std::vector<std::vector<const PackedPiece*>>> levels_;
  std::vector<const PackedPiece*> found_;
};

}  // namespace

int64_t PackMemory(absl::Span<PackedPiece> pieces) {
  std::vector<PackedPiece*> order;
  order.reserve(pieces.size());
  for (PackedPiece& piece : pieces) order.push_back(&piece);
  std::stable_sort(order.begin(), order.end(), [](const PackedPiece* a, const PackedPiece* b) {
    return a->size_bytes > b->size_bytes;
  });
  int64_t total = 0;
  PlacedPieces placed(pieces);
  for (PackedPiece* piece : order) {
    const int64_t size = RoundUp(piece->size_bytes);
    int64_t offset = 0;
    for (const PackedPiece* other : placed.LivingWith(*piece)) {
      if (offset + size <= other->offset_bytes) break;
      offset = std::max(offset, other->offset_bytes + RoundUp(other->size_bytes));
    }
    piece->offset_bytes = offset;
    total = std::max(total, offset + size);
    placed.Add(piece);
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
