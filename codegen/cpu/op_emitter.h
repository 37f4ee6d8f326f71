#ifndef LATHE_CODEGEN_CPU_OP_EMITTER_H_
#define LATHE_CODEGEN_CPU_OP_EMITTER_H_

// The statements of a stage's operations: operation k becomes `const auto vk = ...`, a vector of
// StagePlan::lanes lanes, or a mask. A mask has lanes of the size of what was compared.

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "codegen/cpu/expression_text.h"
#include "codegen/cpu/memory_hints.h"
#include "codegen/cpu/stage_plan.h"
#include "ir/loops/kernel_spec.h"

namespace lathe::cpu {

// Parts of the kernel header that the emitted text needs (kernel_text/).
struct HeaderParts {
  bool integers = false;
  bool small_floats = false;
  bool sub_byte = false;
  bool octets = false;
  bool reductions = false;
  bool vector_math = false;
  void operator|=(const HeaderParts& other);
};

// Where a statement stands.
struct Scope {
  int vector_axis = -1;  // -1: one position, all lanes alike
  std::string count;     // "n", a hn::Full or hn::Part; "" when there is one position
};

// The C++ type of a lane, and the name of its tag: float and f32 for f32, uint16_t and u16 for
// bf16, uint8_t and u8 for bool in memory.
absl::string_view LaneType(DType dtype);
absl::string_view TagName(DType dtype);

class OpEmitter {
 public:
  // `names` has the spec's symbols and axes. Lines go to `out`, each with `*indent` before it.
  OpEmitter(const KernelSpec& spec, const SpecStage& stage, const StagePlan& plan,
            SymbolNames names, HeaderParts& parts, std::string& out,
            const MemoryHints* hints = nullptr);

  // Operation `id`; not for kReduce.
  absl::Status Emit(int id, const Scope& scope);
  // `vID` from a reduced value: `text` is a vector, bool in bytes.
  void DefineReduced(int id, absl::string_view text);
  // The value to accumulate: bool as bytes.
  std::string Bytes(int id) const;
  // Declarations of the tags used so far: "const hn::FixedTag<float, 8> f32;".
  std::string TagDeclarations() const;
  // What a load of packed elements is: elements from memory; the element of each code, counted
  // from `from`; those of the octets `oID` that are vector k (kernel_text/octets.h).
  enum class Packed { kElements, kCodes, kOctets };
  void TakePackedAs(Packed form) { packed_ = form; }
  absl::Status DefineOctets(int id, const Scope& scope);  // declares `oID`
  void DefineAs(int id, absl::string_view text) { (void)Define(id, text); }
  // Where a load takes its first element.
  absl::StatusOr<std::string> FirstElement(int id, const Scope& scope) const;
  std::string DeclareTag(DType dtype) { return Tag(dtype); }
  // Asks for an element of a buffer, in a loop over full vectors.
  absl::Status Prefetch(int buffer, const Expr& index, const Scope& scope);
  void Line(absl::string_view text);
  int indent = 2;

 private:
  struct Address {
    enum Kind { kUniform, kContiguous, kLanes } kind = kUniform;
    std::string first;  // index at the scope's position, or at the vector's first lane
    std::string lane;   // index at lane l
  };

  const LoopOp& op(int id) const { return stage_.body.ops[id]; }
  DType OperandDType(const LoopOp& o, size_t k) const { return op(o.operands[k]).dtype; }
  std::string V(int id) const;
  std::string Operand(const LoopOp& o, size_t k) const { return V(o.operands[k]); }
  std::string Tag(DType dtype);
  // Operand k, with the NaN that all tiers agree on where its bits show (computed_nan.h).
  std::string Shown(const LoopOp& o, size_t k);
  std::string MaskAs(int id, int bytes) const;
  int MaskBytes(int id) const { return mask_bytes_[id]; }

  absl::Status Define(int id, absl::string_view text, int mask_bytes = 0);
  absl::StatusOr<Address> AddressOf(const Expr& index, const Scope& scope) const;
  Address LocalAddress(BufferId local, const Scope& scope) const;
  std::string Active(const std::string& mask, const Scope& scope) const;
  std::string Failing(const LoopOp& o, const std::string& bad, int bytes, const Scope& scope) const;
  void ReturnIfAny(int id, const std::string& bad, int code, const std::string& value);

  absl::Status Constant(int id);
  absl::Status Index(int id, const Scope& scope);
  absl::Status Load(int id, const Scope& scope);
  absl::Status LoadPacked(int id);
  static std::string PackedType(DType dtype);
  absl::Status Read(int id, const std::string& pointer, const Address& at, const Scope& scope);
  absl::Status Store(int id, const Scope& scope);
  absl::Status Write(int id, const std::string& pointer, DType dtype, const Address& at,
                     const Scope& scope);
  absl::Status Indirect(int id, const Scope& scope);
  absl::Status IndirectOnce(int id, const std::string& size);
  absl::Status Check(int id, const Scope& scope);
  absl::Status Cast(int id, const Scope& scope);
  absl::StatusOr<std::string> PackedWords(int id, const Scope& scope);
  absl::StatusOr<std::string> PackedWords(int id, DType to, const Scope& scope);
  absl::StatusOr<std::string> CastText(const std::string& v, DType from, DType to);
  absl::Status BitCast(int id);
  absl::Status Arithmetic(int id, const Scope& scope);
  absl::Status Logic(int id, const Scope& scope);
  absl::Status Divide(int id, const Scope& scope);
  absl::Status Compare(int id, const Scope& scope);
  absl::StatusOr<std::string> ArithmeticText(const LoopOp& o, DType dtype);
  std::string ReadText(DType dtype, const std::string& pointer, const std::string& index) const;
  std::string WriteText(const LoopOp& o, DType dtype, const std::string& pointer,
                        const std::string& index, const std::string& value) const;

  const KernelSpec& spec_;
  const SpecStage& stage_;
  const StagePlan& plan_;
  SymbolNames names_;
  SymbolNames lane_names_;  // of varying symbols
  HeaderParts& parts_;
  std::string& out_;
  const MemoryHints* hints_;
  Packed packed_ = Packed::kElements;
  std::set<std::string> tags_;
  std::vector<int> mask_bytes_;  // of bool values
  std::vector<bool> computed_nans_;
};

}  // namespace lathe::cpu

#endif  // LATHE_CODEGEN_CPU_OP_EMITTER_H_
