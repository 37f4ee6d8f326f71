#include "codegen/tile/execution.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "codegen/tile/stream_tile.h"
#include "ir/loops/kernel_spec.h"
#include "ir/loops/streamed_results.h"
#include "runtime/abi/size_program.h"
#include "runtime/tensor/available_memory.h"

namespace lathe::tile {
namespace {

// Memory of this thread, grown when a kernel needs more.
class ThreadMemory {
 public:
  ~ThreadMemory() { std::free(data_); }
  // nullptr where there is no more.
  char* AtLeast(int64_t bytes) {
    if (bytes > capacity_) {
      std::free(data_);
      data_ = nullptr;
      capacity_ = 0;
      const int64_t wanted = (bytes + bytes / 4 + 4095) & -4096;
      if (!FitsMemory(wanted)) return nullptr;
      data_ = static_cast<char*>(std::aligned_alloc(4096, static_cast<size_t>(wanted)));
      if (data_ != nullptr) capacity_ = wanted;
    }
    return data_;
  }

 private:
  char* data_ = nullptr;
  int64_t capacity_ = 0;
};

thread_local ThreadMemory thread_memory;

// Whole groups may be read and written behind the last element.
constexpr int64_t kLocalPadding = 512;

// Up to here the cost of running sections once a row outweighs repeating scalars over tiles.
constexpr int64_t kShortRow = 128;

int64_t Aligned(int64_t bytes) { return (bytes + kScalarBytes - 1) & -kScalarBytes; }

bool ComputeSlots(const KernelProgram& program, const int64_t* scalars, int64_t* slots) {
  std::memcpy(slots, program.slots.data(), program.slots.size() * sizeof(int64_t));
  std::copy(scalars, scalars + program.symbol_count, slots + 1);
  return program.setup.code.empty() || RunSizeProgram(program.setup, slots).ok();
}

int64_t LocalBytes(const LocalLayout& local, const int64_t* slots, int64_t lead_rows) {
  if (!local.in_memory) return 0;
  // Past 64 bits for absurd sizes: then as much as nobody has.
  constexpr int64_t kMost = int64_t{1} << 60;
  const __int128 bytes = __int128{slots[local.row_elements]} * lead_rows * local.bytes;
  return Aligned(static_cast<int64_t>(std::min<__int128>(bytes, kMost)) + kLocalPadding);
}

// How many indexes of the innermost outer axis fill a tile in every stage; 0 if rows are long
// enough as they are.
int64_t BatchRows(const KernelProgram& program, const int64_t* slots) {
  if (program.batched.empty()) return 0;
  int64_t most = program.batched[0].tile_elements;
  for (size_t s = 0; s < program.batched.size(); ++s) {
    const int16_t inner = program.batched_axes[s];
    const int64_t extent = inner < 0 ? 1 : slots[program.extents[inner]];
    const int64_t tile = program.batched[s].tile_elements;
    if (extent < 1 || extent > kShortRow || extent * 2 > tile) return 0;
    most = std::min(most, tile / extent);
  }
  return most;
}

}  // namespace

int64_t Execution::ScratchBytes(const KernelProgram& program, const int64_t* scalars,
                                int64_t rows) {
  std::vector<int64_t> slots(program.slots.size());
  if (!ComputeSlots(program, scalars, slots.data())) return 0;
  int64_t flat = 0, batched = 0;
  for (const LocalLayout& local : program.locals) {
    flat += LocalBytes(local, slots.data(), local.over_axis_0 ? rows : 1);
  }
  const int64_t batch = BatchRows(program, slots.data());
  for (const LocalLayout& local : program.batched_locals) {
    if (batch > 0) batched += LocalBytes(local, slots.data(), batch);
  }
  return std::max(flat, batched);
}

Execution::Execution(const KernelProgram& program, const LatheKernelArgs& args)
    : program_(program), args_(args) {}

void Execution::SetRanges() {
  for (size_t axis = 0; axis < program_.extents.size(); ++axis) {
    low_[axis] = 0;
    high_[axis] = slots_[program_.extents[axis]];
    index_[axis] = 0;
  }
  if (!program_.extents.empty()) {
    low_[0] = args_.begin;
    high_[0] = args_.end;
  }
  for (const AxisMerge& merge : program_.merges) {
    const int64_t inner = slots_[merge.inner_extent];
    low_[merge.inner] = low_[merge.outer] * inner;
    high_[merge.inner] = high_[merge.outer] * inner;
  }
}

void Execution::ChooseStages() {
  const int64_t batch = BatchRows(program_, slots_);
  batched_ = batch > 0 && high_[program_.outer.back()] - low_[program_.outer.back()] > 1;
  batch_limit_ = batched_ ? batch : 1;
  const size_t count = program_.flat.size();
  for (size_t s = 0; s < count; ++s) {
    if (batched_) {
      stages_[s] = &program_.batched[s];
      continue;
    }
    stages_[s] = &program_.flat[s];
    const StageProgram& plane = program_.planes[s];
    if (plane.sections.empty()) continue;
    const int64_t cols = high_[plane.col_axis] - low_[plane.col_axis];
    const int64_t rows = high_[plane.row_axis] - low_[plane.row_axis];
    const bool nothing_to_reduce = plane.has_reduction && (rows < 1 || cols < 1);
    const bool is_short = cols <= kShortRow && cols * 2 <= plane.tile_elements;
    if (rows > 1 && is_short && !nothing_to_reduce) stages_[s] = &plane;
  }
}

// Divides the thread's memory: slots, tables of pointers, registers, partials of reductions.
bool Execution::SetUp() {
  const size_t stage_count = program_.flat.size();
  int64_t pointer_count = 0, register_bytes = 0;
  for (size_t s = 0; s < stage_count; ++s) {
    int64_t most = 0;
    for (const std::vector<StageProgram>* variant :
         {&program_.flat, &program_.planes, &program_.batched}) {
      if (variant->empty()) continue;
      most = std::max<int64_t>(most, static_cast<int64_t>((*variant)[s].operands.size()));
      register_bytes = std::max(register_bytes, (*variant)[s].register_bytes);
    }
    pointer_count += most + 1;
  }
  const int64_t slot_bytes = Aligned(static_cast<int64_t>(program_.slots.size()) * 8);
  const int64_t memory_count =
      program_.buffer_count + 2 * static_cast<int64_t>(program_.locals.size());
  const int64_t table_bytes =
      Aligned((pointer_count + memory_count + 2 * static_cast<int64_t>(stage_count)) * 8);
  const int64_t fixed = slot_bytes + table_bytes + Aligned(register_bytes);
  char* at = thread_memory.AtLeast(fixed + 4096);
  if (at == nullptr) return Fail(kLatheMemoryError, fixed + 4096);
  slots_ = reinterpret_cast<int64_t*>(at);
  // No index: an expression over sizes passes 64 bits.
  if (!ComputeSlots(program_, args_.scalars, slots_)) return Fail(kLatheIndexError, INT64_MIN);
  SetRanges();
  int64_t partial_bytes = 0;
  for (const StageProgram& stage : program_.flat) {
    if (stage.has_reduction) partial_bytes = std::max(partial_bytes, ReduceBytes(stage));
  }
  for (const StageProgram& stage : program_.planes) {
    if (stage.has_reduction) partial_bytes = std::max(partial_bytes, ReduceBytes(stage));
  }
  if (partial_bytes > 4096) {  // may move everything
    at = thread_memory.AtLeast(fixed + partial_bytes);
    if (at == nullptr) return Fail(kLatheMemoryError, partial_bytes);
    slots_ = reinterpret_cast<int64_t*>(at);
    ComputeSlots(program_, args_.scalars, slots_);
  }
  at += slot_bytes;
  stages_ = reinterpret_cast<const StageProgram**>(at);
  stage_pointers_ = reinterpret_cast<char***>(at) + stage_count;
  memory_ = reinterpret_cast<char**>(at) + 2 * stage_count;
  local_memory_ = memory_ + program_.buffer_count + program_.locals.size();
  char** table = memory_ + memory_count;
  at += table_bytes;
  registers_ = at;
  partial_memory_ = at + Aligned(register_bytes);

  ChooseStages();
  for (size_t s = 0; s < stage_count; ++s) {
    *table++ = nullptr;
    stage_pointers_[s] = table;
    for (const OperandInfo& operand : stages_[s]->operands) {
      *table++ = operand.kind == OperandInfo::Kind::kConstant
                     ? const_cast<char*>(program_.constants) + operand.offset
                     : registers_ + operand.offset;
    }
  }
  for (int b = 0; b < program_.buffer_count; ++b) {
    memory_[b] = static_cast<char*>(args_.buffers[b]);
    streams_ |= slots_[program_.streamed_bytes[b]] >= kStreamBytes;
  }
  PlaceMemory(batched_ ? program_.batched_locals : program_.locals, batch_limit_);
  return true;
}

void Execution::PlaceMemory(const std::vector<LocalLayout>& locals, int64_t lead_rows) {
  char* at = static_cast<char*>(args_.scratch);
  for (size_t l = 0; l < locals.size(); ++l) {
    const LocalLayout& local = locals[l];
    const int64_t rows = batched_ ? lead_rows : local.over_axis_0 ? args_.end - args_.begin : 1;
    local_memory_[l] = at;
    at += LocalBytes(local, slots_, rows);
  }
  MoveLocals(args_.begin);
}

// Places of locals count from index 0 of their leading axis: axis 0, or the batched one.
void Execution::MoveLocals(int64_t lead_start) {
  const std::vector<LocalLayout>& locals = batched_ ? program_.batched_locals : program_.locals;
  for (size_t l = 0; l < locals.size(); ++l) {
    const bool has_lead = batched_ || locals[l].over_axis_0;
    const int64_t before =
        has_lead ? lead_start * slots_[locals[l].row_elements] * locals[l].bytes : 0;
    memory_[program_.buffer_count + l] =
        reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(local_memory_[l]) - before);
  }
}

int32_t Execution::Run() {
  if (args_.begin >= args_.end) return kLatheOk;
  if (SetUp()) RunOuter(0);
  if (streams_) FinishStreams();
  return status_;
}

bool Execution::RunOuter(size_t k) {
  const size_t loops = program_.outer.size() - (batched_ ? 1 : 0);
  if (k == loops) return batched_ ? RunBatches() : RunStages();
  const int16_t axis = program_.outer[k];
  for (int64_t i = low_[axis]; i < high_[axis]; ++i) {
    index_[axis] = i;
    if (!RunOuter(k + 1)) return false;
  }
  return true;
}

bool Execution::RunBatches() {
  const int16_t axis = program_.outer.back();
  const int64_t most = batch_limit_;
  for (int64_t i = low_[axis]; i < high_[axis]; i += most) {
    index_[axis] = i;
    batch_rows_ = std::min(most, high_[axis] - i);
    MoveLocals(i);
    if (!RunStages()) return false;
  }
  return true;
}

bool Execution::RunStages() {
  for (size_t s = 0; s < program_.flat.size(); ++s) {
    if (!RunStage(s)) return false;
  }
  return true;
}

bool Execution::RunStage(size_t s) {
  stage_ = stages_[s];
  pointers_ = stage_pointers_[s];
  bool nothing_to_reduce = false;
  for (int16_t axis : stage_->all_axes) {
    if (low_[axis] < high_[axis]) continue;
    const bool reduces = std::count(stage_->reduce.begin(), stage_->reduce.end(), axis) != 0 ||
                         (stage_->col_reduces && axis == stage_->col_axis) ||
                         (stage_->row_reduces && axis == stage_->row_axis);
    if (!reduces) return true;
    nothing_to_reduce = true;
  }
  SetTile(1, 1);
  nothing_to_reduce_ = nothing_to_reduce;
  if (stage_->has_reduction && !nothing_to_reduce && !stage_->post_along_rows) {
    PlacePartials(*stage_);
  }
  if (!nothing_to_reduce && !RunSection(stage_->sections[0])) return false;
  return RunParallel(0);
}

bool Execution::RunParallel(size_t k) {
  if (k == stage_->parallel.size()) return RunBody();
  const int16_t axis = stage_->parallel[k];
  for (int64_t i = low_[axis]; i < high_[axis]; ++i) {
    index_[axis] = i;
    if (!nothing_to_reduce_ && !RunSection(stage_->sections[k + 1])) return false;
    if (!RunParallel(k + 1)) return false;
  }
  return true;
}

// Runs `body` for every tile, along the columns, or along rows of all columns.
template <typename Body>
bool Execution::ForTiles(Body body) {
  const int16_t col = stage_->col_axis, row = stage_->row_axis;
  if (stage_->rows_given) {
    if (row < 0) {
      SetTile(1, batch_rows_);
    } else {
      index_[col] = low_[col];
      SetTile(batch_rows_, high_[col] - low_[col]);
    }
    return body();
  }
  if (row < 0) {
    for (int64_t c = low_[col]; c < high_[col]; c += stage_->tile_elements) {
      index_[col] = c;
      SetTile(1, std::min(stage_->tile_elements, high_[col] - c));
      if (!body()) return false;
    }
    return true;
  }
  const int64_t cols = high_[col] - low_[col], step = stage_->tile_elements / cols;
  index_[col] = low_[col];
  for (int64_t r = low_[row]; r < high_[row]; r += step) {
    index_[row] = r;
    SetTile(std::min(step, high_[row] - r), cols);
    if (!body()) return false;
  }
  return true;
}

bool Execution::RunBody() {
  const StageProgram& stage = *stage_;
  const std::vector<Instruction>* section =
      stage.col_axis < 0 ? nullptr : &stage.sections[stage.tile_level];
  if (!stage.has_reduction) {
    if (section == nullptr) return true;  // all of it ran at outer levels
    return ForTiles([&] { return RunSection(*section); });
  }
  if (nothing_to_reduce_) {
    if (stage.col_reduces) return RunNothingReduced();
    return ForTiles([&] { return RunNothingReduced(); });
  }
  if (stage.row_reduces) {
    index_[stage.col_axis] = low_[stage.col_axis];
    SetTile(1, high_[stage.col_axis] - low_[stage.col_axis]);
    return Reduce();
  }
  if (!stage.col_reduces) {
    return ForTiles([&] { return RunSection(*section) && Reduce(); });
  }
  if (!stage.post_along_rows) return Reduce();
  return ForTiles([&] { return RunSection(*section) && ReduceEachRow() && RunPost(); });
}

}  // namespace lathe::tile
