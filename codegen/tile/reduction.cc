#include <algorithm>
#include <cstring>

#include "codegen/tile/execution.h"
#include "ir/loops/kernel_spec.h"

// Reductions of a stage, level by level: level 0 is the outermost reduce axis. At each level the
// iterations accumulate into blocks, and the blocks fold pairwise (ir/loops/kernel_spec.h). A
// partial is as wide as the tile's columns when those run along a parallel axis, else one element.

namespace lathe::tile {

namespace {

// Reduce axes that are levels of their own.
int LoopLevels(const StageProgram& stage) {
  return static_cast<int>(stage.reduce.size()) - (stage.in_line ? 1 : 0);
}

}  // namespace

int Execution::LevelCount() const {
  const bool inner = stage_->col_reduces || stage_->row_reduces;
  return LoopLevels(*stage_) + (inner ? 1 : 0);
}

int64_t Execution::ExtentOfLevel(int d) const {
  const int16_t axis = d < LoopLevels(*stage_) ? stage_->reduce[d]
                       : stage_->col_reduces   ? stage_->col_axis
                                               : stage_->row_axis;
  const int64_t groups = d < LoopLevels(*stage_) ? 1 : Groups(*stage_);
  return (high_[axis] - low_[axis]) * groups;
}

// Pieces of a row that the reduce axis before the columns counts.
int64_t Execution::Groups(const StageProgram& stage) const {
  return stage.in_line ? high_[stage.reduce.back()] - low_[stage.reduce.back()] : 1;
}

int64_t Execution::BlockOfLevel(int d) const {
  return stage_->col_reduces && d + 1 == LevelCount() ? kInnerBlock : kOuterBlock;
}

int64_t Execution::ReduceBytes(const StageProgram& stage) const {
  if (!stage.has_reduction || stage.post_along_rows) return 0;
  // Upper bounds that need no knowledge of the stage in force.
  std::vector<int16_t> axes(stage.reduce.begin(), stage.reduce.begin() + LoopLevels(stage));
  if (stage.col_reduces) axes.push_back(stage.col_axis);
  if (stage.row_reduces) axes.push_back(stage.row_axis);
  const int64_t width = stage.col_reduces ? 1 : stage.tile_elements;
  // Past 64 bits for absurd sizes: then as much as nobody has.
  __int128 bytes = 0;
  for (int16_t axis : axes) {
    const bool inner = stage.col_reduces && axis == stage.col_axis;
    const int64_t block = inner ? kInnerBlock : kOuterBlock;
    const __int128 extent = __int128{high_[axis] - low_[axis]} * (inner ? Groups(stage) : 1);
    const __int128 blocks = (extent + block - 1) / block;
    const __int128 elements = std::max<__int128>(blocks * width, inner ? kLanes : 0) +
                              (inner ? kLanes : 0) + kScalarBytes;
    for (const Reduction& r : stage.reductions) {
      bytes += (elements * (r.bytes + (r.is_arg ? 8 : 0)) + 3 * kScalarBytes) & -kScalarBytes;
      bytes += sizeof(Partial);
    }
  }
  constexpr int64_t kMost = int64_t{1} << 60;
  return static_cast<int64_t>(std::min<__int128>(bytes, kMost)) + kScalarBytes;
}

// Partials of each level and reduction; with columns that reduce, kLanes lanes lie behind the
// blocks of the last level.
void Execution::PlacePartials(const StageProgram& stage) {
  const int levels = LevelCount();
  char* at = partial_memory_;
  partials_ = reinterpret_cast<Partial*>(at);
  at += (levels * stage.reductions.size() * sizeof(Partial) + kScalarBytes) & -kScalarBytes;
  const int64_t width = stage.col_reduces ? 1 : stage.tile_elements;
  for (int d = 0; d < levels; ++d) {
    const int64_t block = BlockOfLevel(d);
    const int64_t blocks = (ExtentOfLevel(d) + block - 1) / block;
    const int64_t elements = blocks * width + (block == kInnerBlock ? kLanes : 0) + kScalarBytes;
    for (size_t r = 0; r < stage.reductions.size(); ++r) {
      const Reduction& reduction = stage.reductions[r];
      Partial& partial = PartialAt(d, r);
      partial.values = at;
      at += (elements * reduction.bytes + kScalarBytes) & -kScalarBytes;
      partial.indices = nullptr;
      if (reduction.is_arg) {
        partial.indices = reinterpret_cast<int64_t*>(at);
        at += (elements * 8 + kScalarBytes) & -kScalarBytes;
      }
    }
  }
}

namespace {

void Combine(const Reduction& r, char* acc, int64_t* acc_index, const char* x, const int64_t* index,
             int64_t n) {
  if (r.is_arg) {
    r.arg_functions.combine(acc, acc_index, x, index, n);
  } else {
    r.functions.combine(acc, x, n);
  }
}

// FoldPairwise of n vectors of `width` elements.
void Fold(const Reduction& r, char* values, int64_t* indices, int64_t n, int64_t width) {
  if (!r.is_arg) return r.functions.fold(values, n, width);
  while (n > 1) {
    const int64_t half = (n + 1) / 2;
    r.arg_functions.combine(values, indices, values + half * width * r.bytes,
                            indices + half * width, (n - half) * width);
    n = half;
  }
}

}  // namespace

// The value of iteration i at level d.
void Execution::Accumulate(int d, int64_t i, const Reduction& r, size_t number, const char* value,
                           const int64_t* index) {
  Partial& partial = PartialAt(d, number);
  const int64_t width = stage_->col_reduces ? 1 : cols_;
  const int64_t block = i / kOuterBlock * width;
  char* values = partial.values + block * r.bytes;
  int64_t* indices = r.is_arg ? partial.indices + block : nullptr;
  if (i % kOuterBlock != 0) return Combine(r, values, indices, value, index, width);
  std::memcpy(values, value, width * r.bytes);
  if (r.is_arg) std::memcpy(indices, index, width * 8);
}

void Execution::FinishLevel(int d, int64_t extent, int64_t block) {
  const int64_t width = stage_->col_reduces ? 1 : cols_;
  for (size_t k = 0; k < stage_->reductions.size(); ++k) {
    Partial& partial = PartialAt(d, k);
    Fold(stage_->reductions[k], partial.values, partial.indices, (extent + block - 1) / block,
         width);
  }
}

// Columns along the innermost reduce axis: lanes, blocks of kInnerBlock.
bool Execution::ReduceLanes(int d) {
  const int64_t groups = Groups(*stage_);
  for (int64_t group = 0; group < groups; ++group) {
    if (stage_->in_line) {
      index_[stage_->reduce.back()] = group;
      if (!RunSection(stage_->sections[stage_->parallel.size() + stage_->reduce.size()])) {
        return false;
      }
    }
    if (!ReduceGroup(d, group)) return false;
  }
  FinishLevel(d, ExtentOfLevel(d), kInnerBlock);
  return true;
}

// One pass over the columns; groups are as long as a power of two, as tiles are.
bool Execution::ReduceGroup(int d, int64_t group) {
  const int64_t extent = ExtentOfLevel(d);
  const int64_t columns = high_[stage_->col_axis] - low_[stage_->col_axis];
  const int64_t blocks = (extent + kInnerBlock - 1) / kInnerBlock;
  // Groups shorter than the lanes take turns on them.
  const bool is_short = stage_->in_line && columns < kLanes;
  int64_t lanes_in_use = kLanes;
  for (int64_t column = 0; column < columns; column += stage_->tile_elements) {
    index_[stage_->col_axis] = column;
    SetTile(1, std::min(stage_->tile_elements, columns - column));
    if (!RunSection(stage_->sections[stage_->tile_level])) return false;
    const int64_t start = group * columns + column;
    const int64_t lane = is_short ? start % kLanes : 0;
    const bool begins = start % kInnerBlock == lane;
    const bool ends = (start + n_) % kInnerBlock == 0 || start + n_ == extent;
    const int64_t meets_first = std::min<int64_t>(n_, kLanes);
    if (begins && !is_short) lanes_in_use = meets_first;
    for (size_t k = 0; k < stage_->reductions.size(); ++k) {
      const Reduction& r = stage_->reductions[k];
      Partial& partial = PartialAt(d, k);
      char* all_lanes = partial.values + blocks * r.bytes;
      char* lanes = all_lanes + lane * r.bytes;
      int64_t* lane_indices = r.is_arg ? partial.indices + blocks : nullptr;
      const char* x = pointers_[r.value];
      const char* y = r.factor == kNoOperand ? nullptr : pointers_[r.factor];
      const int64_t* index =
          r.is_arg ? reinterpret_cast<const int64_t*>(pointers_[r.index]) : nullptr;
      int64_t done = 0;
      if (begins) {
        done = meets_first;
        if (y != nullptr) {
          r.functions.start_products(lanes, x, y, done);
        } else {
          std::memcpy(lanes, x, done * r.bytes);
        }
        if (r.is_arg) std::memcpy(lane_indices, index, done * 8);
      }
      if (y != nullptr) {
        r.functions.combine_products(lanes, x + done * r.bytes, y + done * r.bytes, n_ - done);
      } else if (!r.is_arg) {
        if (done < n_) r.functions.combine_lanes(lanes, x + done * r.bytes, n_ - done);
      } else {
        for (; done < n_; done += kLanes) {
          r.arg_functions.combine(lanes, lane_indices, x + done * r.bytes, index + done,
                                  std::min<int64_t>(kLanes, n_ - done));
        }
      }
      if (!ends) continue;
      Fold(r, all_lanes, lane_indices, lanes_in_use, 1);
      const int64_t block = start / kInnerBlock;
      std::memcpy(partial.values + block * r.bytes, all_lanes, r.bytes);
      if (r.is_arg) partial.indices[block] = lane_indices[0];
    }
  }
  return true;
}

// Rows along the innermost reduce axis, accumulated in order within blocks of kOuterBlock.
bool Execution::ReduceRowBlocks(int d) {
  const int64_t extent = ExtentOfLevel(d);
  const int64_t step = stage_->tile_elements / cols_;
  for (int64_t start = 0; start < extent; start += step) {
    index_[stage_->row_axis] = start;
    SetTile(std::min(step, extent - start), cols_);
    if (!RunSection(stage_->sections[stage_->tile_level])) return false;
    for (size_t k = 0; k < stage_->reductions.size(); ++k) {
      const Reduction& r = stage_->reductions[k];
      const char* x = pointers_[r.value];
      const int64_t* index =
          r.is_arg ? reinterpret_cast<const int64_t*>(pointers_[r.index]) : nullptr;
      for (int64_t row = 0; row < rows_;) {
        const int64_t i = start + row;
        const int64_t left = std::min(rows_ - row, kOuterBlock - i % kOuterBlock);
        if (i % kOuterBlock == 0 || r.is_arg) {
          Accumulate(d, i, r, k, x + row * cols_ * r.bytes,
                     r.is_arg ? index + row * cols_ : nullptr);
          ++row;
        } else {
          char* values = PartialAt(d, k).values + i / kOuterBlock * cols_ * r.bytes;
          r.functions.combine_rows(values, x + row * cols_ * r.bytes, left, cols_);
          row += left;
        }
      }
    }
  }
  SetTile(1, cols_);
  FinishLevel(d, extent, kOuterBlock);
  return true;
}

bool Execution::ReduceLevel(int d) {
  if (d == LoopLevels(*stage_)) {
    return stage_->col_reduces ? ReduceLanes(d) : ReduceRowBlocks(d);
  }
  const bool tile_outside = !stage_->col_reduces && !stage_->row_reduces;
  const size_t section = stage_->parallel.size() + (tile_outside ? 2 : 1) + d;
  const bool innermost = d + 1 == LevelCount();
  const int16_t axis = stage_->reduce[d];
  const int64_t extent = ExtentOfLevel(d);
  for (int64_t i = 0; i < extent; ++i) {
    index_[axis] = i;
    if (!RunSection(stage_->sections[section])) return false;
    if (!innermost && !ReduceLevel(d + 1)) return false;
    for (size_t k = 0; k < stage_->reductions.size(); ++k) {
      const Reduction& r = stage_->reductions[k];
      if (!innermost) {
        const Partial& inner = PartialAt(d + 1, k);
        Accumulate(d, i, r, k, inner.values, inner.indices);
      } else {
        Accumulate(d, i, r, k, pointers_[r.value],
                   r.is_arg ? reinterpret_cast<const int64_t*>(pointers_[r.index]) : nullptr);
      }
    }
  }
  FinishLevel(d, extent, kOuterBlock);
  return true;
}

namespace {

// Rows of a dot, no longer than a block.
void ReduceRowsOfProducts(const Reduction& r, char* result, const char* x, const char* y,
                          int64_t rows, int64_t n) {
  float lanes[kLanes];
  const int64_t in_use = std::min<int64_t>(n, kLanes), first = in_use * r.bytes;
  for (int64_t row = 0; row < rows; ++row, x += n * r.bytes, y += n * r.bytes) {
    r.functions.start_products(lanes, x, y, in_use);
    r.functions.combine_products(lanes, x + first, y + first, n - in_use);
    r.functions.reduce_rows(result + row * r.bytes, lanes, 1, in_use);
  }
}

}  // namespace

// Whole rows of a tile, one result each.
bool Execution::ReduceEachRow() {
  for (const Reduction& r : stage_->reductions) {
    char* result = Home(r.result);
    pointers_[r.result] = result;
    const char* x = pointers_[r.value];
    if (r.factor != kNoOperand) {
      ReduceRowsOfProducts(r, result, x, pointers_[r.factor], rows_, cols_);
      continue;
    }
    if (!r.is_arg) {
      r.functions.reduce_rows(result, x, rows_, cols_);
      continue;
    }
    r.arg_functions.reduce_rows(reinterpret_cast<int64_t*>(result), x,
                                reinterpret_cast<const int64_t*>(pointers_[r.index]), rows_, cols_);
  }
  return true;
}

void Execution::DeliverResults() {
  for (size_t k = 0; k < stage_->reductions.size(); ++k) {
    const Reduction& r = stage_->reductions[k];
    const Partial& partial = PartialAt(0, k);
    char* values = r.is_arg ? reinterpret_cast<char*>(partial.indices) : partial.values;
    if (!stage_->operands[r.result].varies) {
      const int64_t bytes = r.is_arg ? 8 : r.bytes;
      pointers_[r.result] = Home(r.result);
      Repeat(pointers_[r.result], values, bytes, kScalarBytes / bytes);
    } else {
      pointers_[r.result] = values;
    }
  }
}

bool Execution::RunPost() {
  if (!stage_->post_along_rows) {
    if (stage_->col_reduces) SetTile(1, 1);
    return RunSection(stage_->post);
  }
  const int64_t rows = rows_, cols = cols_;
  SetTile(1, rows);
  const bool ok = RunSection(stage_->post);
  SetTile(rows, cols);
  return ok;
}

bool Execution::Reduce() {
  if (!ReduceLevel(0)) return false;
  DeliverResults();
  return RunPost();
}

// Some reduce axis is empty: every result is what a reduction over nothing gives.
bool Execution::RunNothingReduced() {
  for (const Reduction& r : stage_->reductions) {
    const int64_t bytes = r.is_arg ? 8 : r.bytes;
    const bool varies = stage_->operands[r.result].varies;
    pointers_[r.result] = Home(r.result);
    Repeat(pointers_[r.result], program_.constants + r.identity, bytes,
           varies ? stage_->tile_elements : kScalarBytes / bytes);
  }
  return RunPost();
}

}  // namespace lathe::tile
