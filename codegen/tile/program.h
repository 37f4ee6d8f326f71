#ifndef LATHE_CODEGEN_TILE_PROGRAM_H_
#define LATHE_CODEGEN_TILE_PROGRAM_H_

// A KernelSpec compiled for the interpreter: straight-line code over tiles, in sections that run at
// the levels of a loop nest.
//
// Operands are pointers: to a constant, to a scalar (one element over 64 bytes, for values that do
// not vary within a tile), to a tile in a register, or straight into a buffer. A tile covers `rows`
// indexes of one axis and `cols` of another, row after row; most tiles have one row.

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/tile/checked_kernels.h"
#include "codegen/tile/kernel_table.h"
#include "codegen/tile/memory_kernels.h"
#include "dtypes/dtype.h"
#include "runtime/abi/size_program.h"

namespace lathe::tile {

using Slot = int32_t;     // a number among the call's int64 values (sizes, strides)
using Operand = int16_t;  // a number in the stage's table of pointers
inline constexpr Operand kNoOperand = -1;
inline constexpr Slot kZeroSlot = 0;  // always 0
inline constexpr int kMaxAxes = 64;

// constant + sum of coefficient * axis index + sum of i64 scalars, at the tile's first element.
struct Affine {
  struct Term {
    int16_t axis;
    Slot coefficient;
  };
  Slot constant = kZeroSlot;
  std::vector<Term> terms;
  std::vector<Operand> scalars;
};

// A place in memory, or the values of an index expression, over a tile.
struct Access {
  Affine at;
  Slot row_step = kZeroSlot, col_step = kZeroSlot;
  int16_t memory = -1;  // buffers, then locals
  ElementLayout layout;
  DType dtype = DType::kI64;
  Operand index = kNoOperand;  // an i64 tile added to the place
  bool always_copy = false;    // the buffer is written in this stage too
};

enum class Code : uint8_t {
  kCompute,       // function(dst, a, b, c)
  kConvert,       // conversion(a, dst): dtypes/convert_steps.h
  kDivide,        // division(dst, a, b), mask c
  kIndexMath,     // index_function(dst, a, b)
  kCheckIndex,    // dst = a wrapped below the size in slot, mask c
  kCheck,         // condition a, mask c
  kRepeat,        // dst tile = scalar a
  kCopyScalar,    // dst = a, both scalars
  kSplat,         // dst scalar = the i64 value of access
  kIota,          // dst tile = the i64 values of access
  kLoadScalar,    // dst scalar = element at access, mask c
  kLoad,          // dst tile = elements at access: the buffer itself where it is contiguous
  kLoadMasked,    // likewise, where c
  kGather,        // at access + its index tile, where c
  kStore,         // a to access, where c
  kStoreScalar,   // one element
  kScatter,       // at access + its index tile, where c
  kAtomicAdd,     // likewise
  kPrepareStore,  // lets dst be written where access says, if it is contiguous
  kFinishStore,   // copies a there if it was not
};

struct Instruction {
  Code code = Code::kCompute;
  uint8_t scalars = 0;   // bits: a, b, c are scalars
  uint8_t bytes = 4;     // of an element of dst, or of a for stores
  int16_t scalar_n = 0;  // elements to compute when dst is a scalar; 0: a tile
  Operand dst = kNoOperand, a = kNoOperand, b = kNoOperand, c = kNoOperand;
  int32_t access = -1;
  Slot slot = kZeroSlot;
  int32_t error = 0;  // what a failed check returns
  union {
    TileFunction function = nullptr;
    DivisionFunction division;
    IndexFunction index_function;
    ConversionLoop conversion;
  };
};

struct OperandInfo {
  enum class Kind : uint8_t { kConstant, kScalar, kTile, kLocalScalar, kResult };
  Kind kind = Kind::kScalar;
  uint8_t bytes = 4;
  bool varies = false;  // within a tile
  int16_t level = 0;
  // Bytes from the constants' start, or from the start of the call's registers.
  int32_t offset = -1;
  int16_t local = -1;  // kLocalScalar
};

struct Reduction {
  ReduceKind kind = ReduceKind::kSum;
  bool is_arg = false;
  uint8_t bytes = 4;
  ReduceFunctions functions;
  ArgReduceFunctions arg_functions;
  Operand value = kNoOperand, index = kNoOperand, factor = kNoOperand;
  Operand result = kNoOperand;
  int32_t identity = -1;  // 64 bytes among the constants: what a reduction over nothing gives
};

// The loops of a stage: parallel ones; then, with the tile's columns along a parallel axis, tiles
// and around each the reduce loops; otherwise the reduce loops but the last, then tiles.
struct StageProgram {
  std::vector<int16_t> parallel, reduce;  // axes looped over one index at a time
  int16_t row_axis = -1, col_axis = -1;
  bool has_reduction = false;
  bool col_reduces = false;       // columns along a reduce axis (the last)
  bool in_line = false;           // and the reduce axis before it counts as one row with it
  bool row_reduces = false;       // rows along the innermost reduce axis
  bool rows_given = false;        // the kernel chose the rows (an outer axis)
  bool post_along_rows = false;   // after the reduction, tiles run along row_axis
  std::vector<int16_t> all_axes;  // none may be empty

  // sections[0] once a run of the stage, then one a level of the nest, outer to inner.
  std::vector<std::vector<Instruction>> sections;
  std::vector<Instruction> post;  // after the reduction
  std::vector<Access> accesses;
  std::vector<OperandInfo> operands;
  std::vector<Reduction> reductions;
  int tile_level = 0;
  int64_t tile_elements = 0;  // a power of two from 64 to 1024
  int64_t register_bytes = 0;
};

// Merging of axis `outer` into `inner`, which then counts the indexes of both.
struct AxisMerge {
  int16_t outer, inner;
  Slot inner_extent;
};

struct LocalLayout {
  bool in_memory = false;  // otherwise one scalar
  uint8_t bytes = 4;
  Slot row_elements = kZeroSlot;  // elements for each index of axis 0, or in all
  bool over_axis_0 = false;
  int32_t scalar_offset = 0;  // among the call's registers
};

struct KernelProgram {
  std::string name;
  int buffer_count = 0, symbol_count = 0;
  // Slots: 0, the symbols, constants, then what `setup` computes.
  std::vector<int64_t> slots;
  SizeProgram setup;
  std::vector<Slot> extents;  // of each axis
  // Of each buffer: its bytes if it may be stored past the caches (ir/loops/streamed_results.h).
  std::vector<Slot> streamed_bytes;
  std::vector<AxisMerge> merges;
  std::vector<int16_t> outer;
  std::vector<LocalLayout> locals, batched_locals;

  std::vector<StageProgram> flat;  // tiles of one row
  // Tiles of several rows, where a stage has any use for them (no sections otherwise).
  std::vector<StageProgram> planes;
  // All stages over several indexes of the innermost outer axis at once; empty if impossible.
  std::vector<StageProgram> batched;
  std::vector<int16_t> batched_axes;  // the stages' inner axes

  std::vector<char> constant_bytes;
  const char* constants = nullptr;  // 64-byte aligned within constant_bytes
};

}  // namespace lathe::tile

#endif  // LATHE_CODEGEN_TILE_PROGRAM_H_
