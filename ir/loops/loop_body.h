#ifndef LATHE_IR_LOOPS_LOOP_BODY_H_
#define LATHE_IR_LOOPS_LOOP_BODY_H_

// The body of a loop nest as data: hash-consed SSA over scalar operations, recorded once by running
// a lowering on the Recorder (recorder.h). It prints, parses, hashes and is replayed by analyses
// and emitters. A chain of 40 `x*x` has 41 operations.
//
// Loads, checked indices and failing integer divisions may carry a mask (a bool value): where it is
// false nothing is read or checked and the result is 0. That is how padding, concatenation and
// scatter read only what exists; all other arithmetic is harmless on such lanes, so a region under
// a mask needs no structure of its own.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "dtypes/dtype.h"
#include "dtypes/scalar.h"
#include "symbolic/expr.h"

namespace lathe {

enum class OpKind : uint8_t {
  // Leaves and memory.
  kConstant,    // `constant`
  kIndexExpr,   // `index` as a value of dtype (i64 or f32...)
  kLoad,        // buffer[index]; operands: [mask]
  kStore,       // buffer[index] = operand 0; operands: value, [mask]
  kLoadLocal,   // local `buffer` of the spec, at this iteration's position
  kStoreLocal,  // operands: value
  kIndirect,  // operand 0 as an index below `index` (the size): negative wraps once, outside fails
              // with an index error; operands: value, [mask]. Its Expr is the symbol `symbol`.
  kCheck,     // fails with row `error` of the error table where operand 0 is false; [mask]
  kCast,      // operand 0 converted to dtype (dtypes' Convert)
  kBitCast,   // the same bits as another dtype of the same width
  kReduce,    // over the reduce axes of the stage; see ReduceKind; operands: value, [index]
#define LATHE_UNARY(Name, text) k##Name,
#define LATHE_BINARY(Name, text) k##Name,
#define LATHE_TERNARY(Name, text) k##Name,
#include "ir/loops/ops_list.inc"
};

// "add", "load"...: the spelling in the text form.
absl::string_view OpKindName(OpKind kind);
std::optional<OpKind> FindOpKind(absl::string_view name);
// Number of value operands of an arithmetic kind (unary 1, binary 2, ternary 3); -1 for the others.
int OpKindArity(OpKind kind);
// The dtype of an arithmetic operation's result, given that of its operands (of operand 1 for
// Where): bool for comparisons and the like.
DType ResultDType(OpKind kind, DType operand);
// bool, i8..i64, u8..u64, f32, f64: what arithmetic is done in.
bool IsComputeDType(DType dtype);
// FloorDiv, TruncDiv, Remainder and Fmod on integers: they fail at 0 and may carry a mask.
bool IsIntegerDivision(OpKind kind, DType operand);
bool HasResult(OpKind kind);  // all but stores and checks

enum class ReduceKind : uint8_t {
  kSum,
  kProd,
  kMax,
  kMin,  // kMax and kMin: NaN wins
  kAny,
  kAll,  // of bool
  kArgMax,
  kArgMin,  // operands: value, i64 index; result i64; the smallest index wins, NaN beats all
};
absl::string_view ReduceKindName(ReduceKind kind);
std::optional<ReduceKind> FindReduceKind(absl::string_view name);

enum class StoreMode : uint8_t { kPlain, kAtomicAdd };

using BufferId = int32_t;  // index into the spec's buffers (or locals); the scheduler's own before
inline constexpr int32_t kNoValue = -1;

struct LoopOp {
  OpKind kind = OpKind::kConstant;
  DType dtype = DType::kF32;  // of the result
  ReduceKind reduce = ReduceKind::kSum;
  StoreMode mode = StoreMode::kPlain;
  std::vector<int32_t> operands;  // earlier operations
  int32_t mask = kNoValue;        // an earlier bool operation, or kNoValue
  BufferId buffer = -1;
  Expr index;       // kIndexExpr, kLoad, kStore: element index; kIndirect: the size
  Expr symbol;      // kIndirect: the index symbol that stands for the checked value
  Scalar constant;  // kConstant
  int32_t error = -1;
  friend bool operator==(const LoopOp& a, const LoopOp& b);
};

// Axes are index symbols of the body's context; LoopBody holds them outer to inner with extents.
struct LoopBody {
  std::vector<Expr> axes;     // index symbols
  std::vector<Expr> extents;  // sizes, over the program's symbols
  std::vector<LoopOp> ops;    // in order; stores are roots, everything else is reachable from one
};

// True when a load (any buffer) of `body` depends on a value of `body` through kIndirect.
bool HasIndirectLoads(const LoopBody& body);

// One line an operation:
//   %0 = load b0[64*i0 + i1] : f32
//   %1 = exp %0 : f32
//   store b1[i0], %1
std::string ToString(const LoopBody& body);
// The line of one operation, `print` for its expressions.
std::string ToString(const LoopOp& op, int32_t id, const std::function<std::string(Expr)>& print);

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_LOOP_BODY_H_
