#ifndef LATHE_RUNTIME_ABI_PLAN_H_
#define LATHE_RUNTIME_ABI_PLAN_H_

// What a compiled program does, step by step: plain data, versioned, serialisable, immutable. The
// executor (runtime/executor) runs it; nothing of the compiler is needed.
//
// Three kinds of slot: registers (int64; floats as the bits of a double), storages, tensors. A
// tensor slot is a typed, strided view of a storage slot. Inputs and weights arrive in tensor slots
// 0..inputs-1.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dtypes/dtype.h"
#include "runtime/abi/size_program.h"

namespace lathe {

using Register = int32_t;
using StorageSlot = int32_t;
using TensorSlot = int32_t;

// An input of the program: a user input (or scalar), or a weight bound when the program is loaded.
struct PlanInput {
  std::string name = {};  // as the user knows it; for a weight its name in the archive
  bool is_weight = false;
  bool is_scalar = false;  // a symbolic int, float or bool: bound to `scalar`
  Register scalar = -1;
  DType dtype = DType::kF32;
  int32_t rank = 0;
  // Registers that receive sizes (and strides, offset); -1: not bound.
  std::vector<Register> size_registers = {};
  std::vector<Register> stride_registers = {};
  Register offset_register = -1;
  // Constant sizes that the program was compiled for; -1 where the size is bound to a register.
  std::vector<int64_t> expected_sizes = {};
  // The program was compiled for elements that lie dense in the order of the dimensions; when the
  // caller's lie otherwise, the executor passes a copy (and copies back if the input is mutated).
  bool needs_contiguous = true;
  // With needs_contiguous: the dimensions from the outermost in memory to the innermost ({0, 2, 3,
  // 1}: channels last); empty: as they come.
  std::vector<int32_t> memory_order = {};
  // The storage offset in the type that the program was compiled for, in elements: offsets of views
  // count from (actual offset - expected_offset).
  int64_t expected_offset = 0;
  bool is_mutated = false;
  TensorSlot tensor = -1;
};

struct EvalStep {
  SizeProgram program;
};
// Storages of a segment carved out of one arena. Offsets are not in the plan: the executor packs
// the pieces (runtime/abi/memory_packing.h) when it sees new sizes and keeps the result for the
// next call, so that dynamic sizes are packed as tightly as constant ones.
struct ReserveStep {
  struct Piece {
    StorageSlot storage;
    Register size_bytes;
    int32_t first_step, last_step;       // live from the start of one to the end of the other
    std::string node = {}, source = {};  // whose value it holds, for error messages
  };
  std::vector<Piece> pieces = {};
};
// A storage of its own: outputs and values that escape.
struct AllocateStep {
  StorageSlot storage = -1;
  Register size_bytes = -1;
  std::string node = {}, source = {};
};
struct ViewStep {
  TensorSlot tensor = -1;
  StorageSlot storage = -1;  // or, when -1, the storage of `base`
  TensorSlot base = -1;
  DType dtype = DType::kF32;
  std::vector<Register> sizes = {}, strides = {};  // elements
  // Elements from the start of the storage that the view is of (of a storage that came with an
  // input, see PlanInput::expected_offset; of one that came from a callback, its tensor's first
  // element); also when the base is a view itself. -1: 0.
  Register offset = -1;
};
struct LaunchStep {
  int32_t kernel = -1;                   // index into Plan::kernels
  std::vector<TensorSlot> buffers = {};  // the spec's buffers in order
  std::vector<Register> scalars = {};    // the spec's symbols in order
  Register extent = -1;                  // of axis 0
  std::vector<int64_t> offsets = {};     // elements past each buffer's first; none: all 0
  std::string node = {}, source = {};    // the first that it computes
};
// A precompiled function; `attributes` is its own text ("key=value;..."), parsed once at load.
struct ExternStep {
  std::string id = {};
  std::string attributes = {};
  std::vector<TensorSlot> inputs = {};  // -1: an absent optional tensor
  std::vector<TensorSlot> outputs =
      {};  // written in place, or made by the extern (allocates = true)
  bool allocates = false;
  std::vector<Register> integers = {};
  std::vector<LaunchStep> epilogues =
      {};  // kernels run on rows of the output while they are in cache
  // At most one: the kernel that computes rows of an operand when the extern comes to them, so that
  // the operand is never in memory as a whole. It is absent among the inputs, and the buffer that
  // the kernel writes is -1.
  std::vector<LaunchStep> operands = {};
  DType operand_dtype = DType::kF32;
  std::string node = {}, source = {};  // for error messages
};
struct BindSizeStep {
  TensorSlot tensor = -1;
  int32_t dimension = 0;
  Register target = -1;
};
struct BindItemStep {  // a one-element tensor as a number
  TensorSlot tensor = -1;
  Register target = -1;
};
struct AssertStep {
  Register condition = -1;
  std::string message = {};             // "size 1 of input x must be at most 64"
  std::vector<std::string> names = {};  // symbols whose values the message shows
  std::vector<Register> values = {};
  std::string node = {}, source = {};
};
struct CopyStep {  // same dtype and sizes, any strides
  TensorSlot destination = -1;
  TensorSlot source = -1;
};
struct CondStep {
  Register predicate = -1;                   // chooses branches[0] if non-zero, else branches[1]
  std::vector<int32_t> branches = {};        // indexes into the root's Plan::subplans
  std::vector<TensorSlot> inputs = {};       // the sub-plans' inputs
  std::vector<Register> scalar_inputs = {};  // copied into the sub-plans' registers 0..n-1
  std::vector<TensorSlot> outputs = {};      // receive the sub-plans' results
  std::string node = {}, source = {};
};
struct WhileStep {
  int32_t condition = -1, body = -1;  // sub-plans over (carried..., additional...)
  std::vector<TensorSlot> carried = {}, additional = {};
  std::vector<Register> scalar_inputs = {};
  std::vector<TensorSlot> outputs = {};
};
struct CollectiveStartStep {
  std::string op = {}, reduce = {}, group = {};
  std::vector<TensorSlot> inputs = {}, outputs = {};
  int32_t handle = 0;
};
struct CollectiveWaitStep {
  int32_t handle = 0;
};
// Calls back into a function given to the executor by name: an operator without a kernel runs its
// own `evaluate`; user functions. It allocates its outputs.
struct OpaqueStep {
  int32_t callback = -1;  // index into Plan::callbacks
  std::vector<TensorSlot> inputs = {};
  std::vector<Register> integers = {};
  std::vector<TensorSlot> outputs = {};
  std::string node = {}, source = {};
};
struct ReturnStep {
  struct Output {
    TensorSlot tensor = -1;  // or, when -1, `scalar`
    Register scalar = -1;
    enum class Kind : uint8_t { kTensor, kInt, kFloat, kBool, kNone } kind = Kind::kTensor;
  };
  std::vector<Output> outputs = {};
};

using PlanStep = std::variant<EvalStep, ReserveStep, AllocateStep, ViewStep, LaunchStep, ExternStep,
                              BindSizeStep, BindItemStep, AssertStep, CopyStep, CondStep, WhileStep,
                              CollectiveStartStep, CollectiveWaitStep, OpaqueStep, ReturnStep>;

struct PlanKernelError {
  std::string node = {}, source = {}, message = {};
};

struct PlanKernel {
  std::string name = {};  // KernelSpec::name
  int64_t grain = 1;
  std::vector<PlanKernelError> errors = {};
};

struct Plan {
  static constexpr int32_t kVersion = 4;
  std::vector<PlanInput> inputs = {};
  int32_t register_count = 0;
  int32_t storage_count = 0;
  int32_t tensor_count = 0;
  std::vector<PlanStep> steps = {};         // the last is a ReturnStep
  std::vector<PlanKernel> kernels = {};     // shared by the sub-plans, which leave theirs empty
  std::vector<std::string> callbacks = {};  // likewise
  // Of the root: the sub-plans of the whole program, callees before callers; theirs are empty.
  std::vector<Plan> subplans = {};
};

// Bytes with magic, version and checksum; DataLoss when they do not add up, InvalidArgument for
// another version.
std::string SerializePlan(const Plan& plan);
absl::StatusOr<Plan> ParsePlan(absl::string_view bytes);
// InvalidArgument unless every slot, register, kernel, callback and sub-plan index is in range,
// tensors and storages are set before they are read, and sub-plans fit their callers. ParsePlan and
// the executor call it, so that a wrong plan is refused instead of crashing.
absl::Status ValidatePlan(const Plan& plan);
// For reading: `show --stage plan`.
std::string ToString(const Plan& plan);

}  // namespace lathe

#endif  // LATHE_RUNTIME_ABI_PLAN_H_
