#ifndef LATHE_CODEGEN_CPU_STAGE_EMITTER_H_
#define LATHE_CODEGEN_CPU_STAGE_EMITTER_H_

// The loops of one stage around its operations. In the text: xK is the index of axis K, eK its
// extent, bK a buffer, lK a local, vK the value of operation K; aK_D holds what reduction K has
// accumulated over reduce axes D and further in, iK_D the positions of argmax and argmin.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "codegen/cpu/octet_plan.h"
#include "codegen/cpu/op_emitter.h"

namespace lathe::cpu {

// Arrays of the scratch memory: declared at the top of the kernel, counted by its scratch function.
struct ScratchArray {
  std::string name;
  std::string type;   // of an element
  std::string count;  // C++ text over sK, eK and rows
};

class StageEmitter {
 public:
  // `number` is the stage's place in the spec; it makes names of scratch arrays unique.
  StageEmitter(const KernelSpec& spec, const SpecStage& stage, int number, const StagePlan& plan,
               const SymbolNames& names, HeaderParts& parts, std::vector<ScratchArray>& scratch,
               const MemoryHints& hints, int vector_bytes);

  // What is computed once, before all rows; "" where nothing is.
  absl::StatusOr<std::string> EmitShared(int indent);

  // The stage as text, indented by `indent`.
  absl::StatusOr<std::string> Emit(int indent);

 private:
  using Body = std::function<absl::Status()>;
  struct Reduction {
    int id;
    int value;
    int index;         // -1 unless argmax or argmin
    int factor;        // -1 unless dot
    std::string kind;  // "hn::SumOf", or "true"/"false" (max or min) with an index
    std::string type;  // lane type
  };

  const LoopOp& op(int id) const { return stage_.body.ops[id]; }
  std::string x(int axis) const { return absl::StrCat("x", axis); }
  std::string Begin(int axis) const { return axis == 0 ? "begin" : "0"; }
  std::string End(int axis) const { return axis == 0 ? "end" : absl::StrCat("e", axis); }
  void Line(absl::string_view text) { ops_.Line(text); }
  void Open(absl::string_view text);
  void Close(absl::string_view text = "}");
  absl::Status Loops(const std::vector<int>& axes, size_t k, const Body& body);

  absl::Status Map();
  // The last axis from `begin` to `end`.
  absl::Status MapRow(const std::string& begin, const std::string& end);
  absl::Status Rows();
  absl::Status Columns();
  absl::Status RowLevel(size_t level);
  absl::Status RowOfLanes(size_t level);
  absl::Status RowInLine(size_t level);
  void DeclareRow(size_t level);
  void StartLanes(size_t level);
  void FoldRow(size_t level, const std::string& count);

  // octet_emitter.cc
  absl::Status Tables();
  absl::Status HoistedOfGroups(const std::function<bool(int)>& wanted);
  absl::Status AskAheadOfGroups(int group_axis);
  absl::Status OctetLoop(size_t level, const std::string& last);
  absl::Status OctetBody(size_t level);
  absl::StatusOr<std::string> OctetCondition() const;
  bool TakesWholeRows() const;  // no element is left to the natural order
  void RestoreOrder(size_t level);
  absl::Status SharedRow();
  std::string SharedPlace(int id) const;
  std::string RowPosition() const;
  absl::Status ColumnLevel(size_t level);
  absl::Status ColumnElements(size_t level);
  absl::Status AfterReduction(const Scope& scope, const std::function<std::string(int)>& result);

  absl::Status Chunk(bool accumulates);
  absl::Status Operations(const std::function<bool(int)>& wanted, const Scope& scope);
  absl::Status Hoisted(OpPhase phase_limit);
  void Accumulate(size_t level, const std::string& count);
  std::string A(const Reduction& r, size_t level) const {
    return absl::StrCat("a", r.id, "_", level);
  }
  std::string I(const Reduction& r, size_t level) const {
    return absl::StrCat("i", r.id, "_", level);
  }
  std::string Blocks(const Reduction& r, size_t level, bool positions, const std::string& type,
                     const std::string& count);
  static std::string BlockCount(int axis, int block);
  std::string VectorType(const std::string& lane_type) const;
  int groups() const { return kLanes / plan_.lanes; }

  const KernelSpec& spec_;
  const SpecStage& stage_;
  const int number_;
  const StagePlan& plan_;
  std::vector<ScratchArray>& scratch_;
  HeaderParts& parts_;
  const MemoryHints& hints_;
  std::string text_;
  OpEmitter ops_;
  const OctetPlan octets_;
  const bool in_line_;  // the last two reduce axes are one row
  std::vector<Reduction> reductions_;
  std::vector<int> reduce_axes_;
};

}  // namespace lathe::cpu

#endif  // LATHE_CODEGEN_CPU_STAGE_EMITTER_H_
