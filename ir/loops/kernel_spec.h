#ifndef LATHE_IR_LOOPS_KERNEL_SPEC_H_
#define LATHE_IR_LOOPS_KERNEL_SPEC_H_

// All that a code generator reads: one fused loop nest as plain data that prints and parses.
//
//   kernel k(s0: size) {
//     buffer b0: in f32 align 64
//     buffer b1: out f32 align 64
//     local l0: f32 []
//     axis i0: parallel s0
//     axis i1: reduce 128
//     axis i2: parallel 128
//     outer [i0] grain 16
//     error "%12" "model.py:3" "index out of range"
//     stage [i1] {
//       %0 = load b0[128*i0 + i1] : f32
//       %1 = reduce max %0 : f32
//       store_local l0, %1
//     }
//     stage [i2] { ... }
//   }
//
// Meaning: for every index of the outer axes, in any order and in parallel, run the stages in
// order; each stage is a loop nest over its own inner axes, outer to inner, vectorised along the
// last. Axis 0 is the partitioned one: a call gets a range [begin, end) of it. It is the first
// outer axis, or, when there are no outer axes, an inner parallel axis of every stage.
//
// A stage with reduce axes may hold Reduce operations, whose results reach only StoreLocal (and
// arithmetic before it that uses reduced values, locals, constants and index expressions without
// reduce axes alone: stage_phases.h); the local then holds the result after the stage. All other
// operations of the stage run for every element. A local is stored at every position of the
// stage's parallel axes, which are its axes, and read where the stage has these axes among others.
// A reduction over nothing gives 0, 1, false, true, the dtype's lowest or highest value (infinite
// for floats), position 0.
//
// Order of float reductions (results depend on nothing else, design §2), along one reduce axis of
// extent n:
//  * when it is the last axis of its stage (vectorised): element e goes to lane e % kLanes of block
//    e / kInnerBlock; lanes start from the first element they meet (no identity is added) and
//    accumulate in order; the lanes of a block fold pairwise (FoldPairwise over min(kLanes, block
//    length) values), and the blocks' values combine pairwise (FoldPairwise over all blocks).
//  * otherwise: iterations accumulate in order in blocks of kOuterBlock, and the blocks' values
//    combine pairwise.
//  A sum of two operands (f32, in a stage whose last axis reduces) is a dot: of their products,
//  each of which meets its lane in one rounding, lane = fma(a, b, lane); the first of a lane by
//  itself. With several reduce axes the inner one is folded completely for each index of the outer
//  ones; but where the last two axes of a stage reduce (to no position), and the last one's extent
//  is a number, a multiple of kLanes that divides kInnerBlock, these two count as one row of their
//  product's length: groups of a row do not change its order. So it is with groups of 16 or 32 in a
//  stage whose reductions are dots, where the product is a number and a multiple of kLanes.
// FoldPairwise(v, n): while n > 1: h = (n + 1) / 2; v[i] = v[i] op v[i + h] for i + h < n; n = h.
// Blocks fold as if by FoldPairwise over the array of all block values in order.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dtypes/dtype.h"
#include "ir/loops/loop_body.h"
#include "symbolic/expr.h"

namespace lathe {

inline constexpr int kLanes = 64;
inline constexpr int kInnerBlock = 4096;
inline constexpr int kOuterBlock = 256;

enum class BufferRole : uint8_t { kIn, kOut, kInOut };
enum class AxisKind : uint8_t { kParallel, kReduce };

struct SpecBuffer {
  DType dtype = DType::kF32;
  BufferRole role = BufferRole::kIn;
  int alignment_bytes = 1;  // of the buffer's first element, guaranteed by the caller
};

struct SpecAxis {
  Expr symbol;  // the index symbol that bodies use
  Expr extent;
  AxisKind kind = AxisKind::kParallel;
};

// A value kept between stages of one outer iteration: a scalar (no axes), or an array over inner
// axes (indexes into KernelSpec::axes). Stages over the same axes see the same element at the same
// index.
struct SpecLocal {
  DType dtype = DType::kF32;
  std::vector<int> axes;
};

struct SpecStage {
  std::vector<int> axes;  // inner axes, outer to inner; empty: the body runs once
  LoopBody body;          // body.axes and extents are left empty; symbols are the spec's axes
};

struct ErrorRow {
  std::string node;  // "%index" and the user's line, for the message
  std::string source;
  std::string message;  // "index out of range"
};

struct KernelSpec {
  std::string name;           // "k_" + 16 hex digits of StructuralHash
  std::vector<Expr> symbols;  // size symbols in the order of the kernel's scalars
  std::vector<SpecBuffer> buffers;
  std::vector<SpecAxis> axes;
  std::vector<SpecLocal> locals;
  std::vector<int> outer;  // axes run around all stages, outer to inner
  std::vector<SpecStage> stages;
  int64_t grain = 1;             // the executor cuts axis 0 in multiples of this
  std::vector<ErrorRow> errors;  // not part of the hash: rows are looked up by the executor
};

std::string ToString(const KernelSpec& spec);
// InvalidArgument with line and column. Symbols are made in `context`.
absl::StatusOr<KernelSpec> ParseKernelSpec(absl::string_view text, ExprContext& context);

// 64 bits over everything but the name and the error rows' texts. Equal specs of different
// contexts hash equally; symbols and axes count by position, not by name.
uint64_t StructuralHash(const KernelSpec& spec);

// Every invariant stated above; Internal when one is broken. Run before code generation.
absl::Status VerifyKernelSpec(const KernelSpec& spec);

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_KERNEL_SPEC_H_
