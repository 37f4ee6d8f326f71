#include "codegen/cpu/stage_emitter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/cpu/loop_blocks.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "ir/loops/stage_work.h"

namespace lathe::cpu {
namespace {

std::string ReductionName(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum:
      return "hn::SumOf";
    case ReduceKind::kProd:
      return "hn::ProductOf";
    case ReduceKind::kMax:
      return "hn::MaxOf";
    case ReduceKind::kMin:
      return "hn::MinOf";
    case ReduceKind::kAny:
      return "hn::AnyOf";
    case ReduceKind::kAll:
      return "hn::AllOf";
    case ReduceKind::kArgMax:
      return "true";
    case ReduceKind::kArgMin:
      return "false";
  }
  LATHE_UNREACHABLE();
}

// Of bool as bytes: max is any, a sum is or.
ReduceKind OnBytes(ReduceKind kind, DType dtype) {
  if (!IsBool(dtype)) return kind;
  if (kind == ReduceKind::kSum || kind == ReduceKind::kMax) return ReduceKind::kAny;
  if (kind == ReduceKind::kProd || kind == ReduceKind::kMin) return ReduceKind::kAll;
  return kind;
}

// Bodies worth a copy for each group of lanes: a quarter faster or more, for sums stay in
// registers, but each costs milliseconds of compilation. Where there is much to do, heavier ones
// are.
constexpr int kLightWeight = 4;
constexpr int kHeavierWeight = 12;
constexpr double kMuch = 1 << 22;  // elements

bool IsWorthCopies(const KernelSpec& spec, const SpecStage& stage, const StagePlan& plan) {
  if (IsSmall(spec)) return false;
  const bool much = ExpectedElements(spec, stage) >= kMuch;
  return plan.weight <= (much ? kHeavierWeight : kLightWeight);
}

}  // namespace

StageEmitter::StageEmitter(const KernelSpec& spec, const SpecStage& stage, int number,
                           const StagePlan& plan, const SymbolNames& names, HeaderParts& parts,
                           std::vector<ScratchArray>& scratch, const MemoryHints& hints,
                           int vector_bytes)
    : spec_(spec),
      stage_(stage),
      number_(number),
      plan_(plan),
      scratch_(scratch),
      parts_(parts),
      hints_(hints),
      ops_(spec, stage, plan, names, parts, text_, &hints),
      octets_(PlanOctets(spec, stage, plan, vector_bytes)),
      in_line_(InnerReducesInLine(spec, stage)),
      reduce_axes_(ReduceAxes(spec, stage)) {
  for (size_t i = 0; i < stage.body.ops.size(); ++i) {
    const LoopOp& o = op(i);
    if (o.kind != OpKind::kReduce) continue;
    const DType dtype = op(o.operands[0]).dtype;
    reductions_.push_back({static_cast<int>(i), o.operands[0],
                           IsArgument(o.reduce) ? o.operands[1] : -1, IsDot(o) ? o.operands[1] : -1,
                           ReductionName(OnBytes(o.reduce, dtype)), std::string(LaneType(dtype))});
    parts.reductions = true;
  }
}

void StageEmitter::Open(absl::string_view text) {
  Line(text);
  ops_.indent += 2;
}

void StageEmitter::Close(absl::string_view text) {
  ops_.indent -= 2;
  Line(text);
}

std::string StageEmitter::VectorType(const std::string& lane_type) const {
  return absl::StrCat("hn::Vec<hn::FixedTag<", lane_type, ", ", plan_.lanes, ">>");
}

absl::StatusOr<std::string> StageEmitter::Emit(int indent) {
  ops_.indent = indent + 2;
  switch (plan_.shape) {
    case StageShape::kOnce:
      LATHE_RETURN_IF_ERROR(Operations([](int) { return true; }, Scope()));
      break;
    case StageShape::kMap:
      LATHE_RETURN_IF_ERROR(Map());
      break;
    case StageShape::kRows:
      LATHE_RETURN_IF_ERROR(Rows());
      break;
    case StageShape::kColumns:
      LATHE_RETURN_IF_ERROR(Columns());
      break;
  }
  const std::string space(indent, ' ');
  return absl::StrCat(space, "{  // stage ", number_, "\n", space, "  ", ops_.TagDeclarations(),
                      "\n", text_, space, "}\n");
}

// for-loops over the whole of `axes`, outer to inner.
absl::Status StageEmitter::Loops(const std::vector<int>& axes, size_t k, const Body& body) {
  if (k == axes.size()) return body();
  const int axis = axes[k];
  Open(absl::StrCat("for (int64_t ", x(axis), " = ", Begin(axis), "; ", x(axis), " < ", End(axis),
                    "; ++", x(axis), ") {"));
  LATHE_RETURN_IF_ERROR(Loops(axes, k + 1, body));
  Close();
  return absl::OkStatus();
}

absl::Status StageEmitter::Operations(const std::function<bool(int)>& wanted, const Scope& scope) {
  for (size_t i = 0; i < stage_.body.ops.size(); ++i) {
    const int id = static_cast<int>(i);
    if (op(id).kind == OpKind::kReduce || plan_.unused[i] || !wanted(id)) continue;
    LATHE_RETURN_IF_ERROR(ops_.Emit(id, scope));
  }
  return absl::OkStatus();
}

// What is the same in all lanes, once before the vector loop.
absl::Status StageEmitter::Hoisted(OpPhase phase_limit) {
  return Operations([&](int id) { return !plan_.varies[id] && plan_.phases[id] <= phase_limit; },
                    Scope());
}

// The vector loop's body as a function of the first index and the number of lanes that exist.
absl::Status StageEmitter::Chunk(bool accumulates) {
  Open(absl::StrCat("const auto chunk = [&](const int64_t ", x(plan_.vector_axis),
                    ", const auto n, const int k) __attribute__((always_inline)) -> int32_t {"));
  const Scope scope = {plan_.vector_axis, "n"};
  for (const MemoryHints::Prefetch& hint : hints_.prefetches) {
    if (hint.stage != number_) continue;
    LATHE_RETURN_IF_ERROR(ops_.Prefetch(hint.buffer, hint.index, scope));
  }
  LATHE_RETURN_IF_ERROR(Operations(
      [&](int id) { return plan_.varies[id] && plan_.phases[id] != OpPhase::kReduced; }, scope));
  // In tiles of columns the lanes past the end are never looked at.
  if (accumulates) {
    Accumulate(reduce_axes_.size() - 1, plan_.shape == StageShape::kRows ? "n" : "hn::Full()");
  }
  Line("return 0;");
  Close("};");
  return absl::OkStatus();
}

void StageEmitter::Accumulate(size_t level, const std::string& count) {
  for (const Reduction& r : reductions_) {
    if (r.factor >= 0) {
      Line(absl::StrCat("hn::AccumulateProduct(", A(r, level), "[k], v", r.value, ", v", r.factor,
                        ", ", count, ");"));
    } else if (r.index < 0) {
      Line(absl::StrCat("hn::Accumulate<", r.kind, ">(", A(r, level), "[k], ", ops_.Bytes(r.value),
                        ", ", count, ");"));
    } else {
      Line(absl::StrCat("hn::AccumulatePosition<", r.kind, ">(", A(r, level), "[k], ", I(r, level),
                        "[k], ", ops_.Bytes(r.value), ", ", ops_.Bytes(r.index), ", ", count,
                        ");"));
    }
  }
}

absl::Status StageEmitter::Map() {
  std::vector<int> outer = stage_.axes;
  outer.pop_back();
  const int axis = plan_.vector_axis;
  const std::optional<LoopBlocks> blocks = BlocksOf(spec_, stage_, plan_);
  if (!blocks.has_value()) {
    return Loops(outer, 0, [&] { return MapRow(Begin(axis), End(axis)); });
  }
  const int rows = blocks->axis;
  outer.erase(std::find(outer.begin(), outer.end(), rows));
  return Loops(outer, 0, [&]() -> absl::Status {
    const std::string columns = absl::StrCat(blocks->columns);
    const auto block = [&](absl::string_view name, int of, absl::string_view step) {
      Open(absl::StrCat("for (int64_t ", name, " = ", Begin(of), "; ", name, " < ", End(of), "; ",
                        name, " += ", step, ") {"));
    };
    block("row", rows, absl::StrCat(kBlockRows));
    block("column", axis, columns);
    Line(absl::StrCat("const int64_t rows_end = hn::Least(", End(rows), ", row + ", kBlockRows,
                      "), columns_end = hn::Least(", End(axis), ", column + ", columns, ");"));
    Open(absl::StrCat("for (int64_t ", x(rows), " = row; ", x(rows), " < rows_end; ++", x(rows),
                      ") {"));
    LATHE_RETURN_IF_ERROR(MapRow("column", "columns_end"));
    for (int k = 0; k < 3; ++k) Close();
    return absl::OkStatus();
  });
}

absl::Status StageEmitter::MapRow(const std::string& begin, const std::string& end) {
  const int axis = plan_.vector_axis;
  const std::string i = x(axis), lanes = absl::StrCat(plan_.lanes);
  Open(absl::StrCat("if (", begin, " < ", end, ") {"));
  LATHE_RETURN_IF_ERROR(Hoisted(OpPhase::kReduced));
  LATHE_RETURN_IF_ERROR(Chunk(false));
  Line(absl::StrCat("int64_t ", i, " = ", begin, ";"));
  Line(absl::StrCat("for (; ", i, " + ", lanes, " <= ", end, "; ", i, " += ", lanes,
                    ") LATHE_TRY(chunk(", i, ", hn::Full(), 0));"));
  Line(absl::StrCat("if (", i, " < ", end, ") LATHE_TRY(chunk(", i, ", hn::Part{static_cast<int>(",
                    end, " - ", i, ")}, 0));"));
  Close();
  return absl::OkStatus();
}

// The array for the blocks' values of one reduction; `count` is C++ text.
std::string StageEmitter::Blocks(const Reduction& r, size_t level, bool positions,
                                 const std::string& type, const std::string& count) {
  const std::string name = absl::StrCat(positions ? "p" : "q", number_, "_", r.id, "_", level);
  const bool is_rows = plan_.shape == StageShape::kRows;
  scratch_.push_back({name, is_rows ? type : VectorType(type),
                      is_rows ? count : absl::StrCat(count, " * ", groups())});
  return name;
}

std::string StageEmitter::BlockCount(int axis, int block) {
  return absl::StrCat("((e", axis, " + ", block - 1, ") / ", block, ")");
}

absl::Status StageEmitter::Rows() {
  return Loops(ParallelAxes(spec_, stage_), 0, [&]() -> absl::Status {
    Open("{");
    LATHE_RETURN_IF_ERROR(RowLevel(0));
    LATHE_RETURN_IF_ERROR(AfterReduction(Scope(), [&](int r) {
      const Reduction& reduction = reductions_[r];
      const std::string value = reduction.index < 0 ? A(reduction, 0) : I(reduction, 0);
      const std::string type = reduction.index < 0 ? reduction.type : "int64_t";
      return absl::StrCat("hn::Set(hn::FixedTag<", type, ", ", plan_.lanes, ">(), ", value, ")");
    }));
    Close();
    return absl::OkStatus();
  });
}

// Declares aK_level (a number) and computes it over reduce axes level, level + 1...
absl::Status StageEmitter::RowLevel(size_t level) {
  for (const Reduction& r : reductions_) {
    Line(absl::StrCat(r.type, " ", A(r, level), " = ",
                      r.index < 0 ? absl::StrCat(r.kind, "::Empty<", r.type, ">();") : "0;"));
    if (r.index >= 0) Line(absl::StrCat("int64_t ", I(r, level), " = 0;"));
  }
  if (level + 1 == reduce_axes_.size()) return RowOfLanes(level);
  if (level + 2 == reduce_axes_.size() && in_line_) return RowInLine(level);
  const int axis = reduce_axes_[level];
  const std::string b = absl::StrCat("block", axis);
  Open(absl::StrCat("for (int64_t ", b, " = 0; ", b, " * ", kOuterBlock, " < e", axis, "; ++", b,
                    ") {"));
  for (const Reduction& r : reductions_) {
    if (r.index < 0) {
      Line(absl::StrCat(r.type, " sum", r.id, " = ", r.kind, "::Start<", r.type, ">();"));
    } else {
      Line(absl::StrCat(r.type, " sum", r.id, " = hn::WorstOf<", r.kind, ", ", r.type, ">();"));
      Line(absl::StrCat("int64_t at", r.id, " = hn::kNoPosition;"));
    }
  }
  Open(absl::StrCat("for (int64_t ", x(axis), " = ", b, " * ", kOuterBlock, "; ", x(axis),
                    " < hn::Least(e", axis, ", (", b, " + 1) * ", kOuterBlock, "); ++", x(axis),
                    ") {"));
  LATHE_RETURN_IF_ERROR(RowLevel(level + 1));
  for (const Reduction& r : reductions_) {
    if (r.index < 0) {
      Line(absl::StrCat("sum", r.id, " = ", r.kind, "::Join(sum", r.id, ", ", A(r, level + 1),
                        ");"));
    } else {
      Line(absl::StrCat("hn::JoinPosition<", r.kind, ">(sum", r.id, ", at", r.id, ", ",
                        A(r, level + 1), ", ", I(r, level + 1), ");"));
    }
  }
  Close();
  std::string folds;
  for (const Reduction& r : reductions_) {
    const std::string q = Blocks(r, level, false, r.type, BlockCount(axis, kOuterBlock));
    Line(absl::StrCat(q, "[", b, "] = sum", r.id, ";"));
    if (r.index < 0) continue;
    const std::string p = Blocks(r, level, true, "int64_t", BlockCount(axis, kOuterBlock));
    Line(absl::StrCat(p, "[", b, "] = at", r.id, ";"));
  }
  Close();
  Open(absl::StrCat("if (e", axis, " > 0) {"));
  for (const Reduction& r : reductions_) {
    const std::string q = absl::StrCat("q", number_, "_", r.id, "_", level);
    const std::string p = absl::StrCat("p", number_, "_", r.id, "_", level);
    const std::string count = absl::StrCat("(e", axis, " + ", kOuterBlock - 1, ") / ", kOuterBlock);
    if (r.index < 0) {
      Line(absl::StrCat("hn::FoldPairs<", r.kind, ">(", q, ", ", count, ");"));
    } else {
      Line(absl::StrCat("hn::FoldPositionPairs<", r.kind, ">(", q, ", ", p, ", ", count, ");"));
      Line(absl::StrCat(I(r, level), " = ", p, "[0];"));
    }
    Line(absl::StrCat(A(r, level), " = ", q, "[0];"));
  }
  Close();
  return absl::OkStatus();
}

// The arrays of lanes, which take the names of the results.
void StageEmitter::DeclareRow(size_t level) {
  for (const Reduction& r : reductions_) {
    Line(absl::StrCat(VectorType(r.type), " ", A(r, level), "[", groups(), "];"));
    if (r.index >= 0) {
      Line(absl::StrCat(VectorType("int64_t"), " ", I(r, level), "[", groups(), "];"));
    }
  }
}

void StageEmitter::StartLanes(size_t level) {
  Open(absl::StrCat("for (int k = 0; k < ", groups(), "; ++k) {"));
  for (const Reduction& r : reductions_) {
    const std::string start = r.index < 0
                                  ? absl::StrCat(r.kind, "::Start<", r.type, ">()")
                                  : absl::StrCat("hn::WorstOf<", r.kind, ", ", r.type, ">()");
    Line(absl::StrCat(A(r, level), "[k] = ", start, " - ", VectorType(r.type), "{};"));
    if (r.index >= 0) {
      Line(absl::StrCat(I(r, level), "[k] = hn::kNoPosition - ", VectorType("int64_t"), "{};"));
    }
  }
  Close();
}

// The blocks' values, folded, are the row's.
void StageEmitter::FoldRow(size_t level, const std::string& length) {
  const std::string count = absl::StrCat("(", length, " + ", kInnerBlock - 1, ") / ", kInnerBlock);
  for (const Reduction& r : reductions_) {
    const std::string q = absl::StrCat("q", number_, "_", r.id, "_", level);
    const std::string p = absl::StrCat("p", number_, "_", r.id, "_", level);
    if (r.index < 0) {
      Line(absl::StrCat("hn::FoldPairs<", r.kind, ">(", q, ", ", count, ");"));
    } else {
      Line(absl::StrCat("hn::FoldPositionPairs<", r.kind, ">(", q, ", ", p, ", ", count, ");"));
      Line(absl::StrCat("row_at", r.id, " = ", p, "[0];"));
    }
    Line(absl::StrCat("row", r.id, " = ", q, "[0];"));
  }
}

// One row along the vector axis: kLanes lanes, blocks of kInnerBlock elements.
absl::Status StageEmitter::RowOfLanes(size_t level) {
  const int axis = plan_.vector_axis;
  const std::string i = x(axis), e = absl::StrCat("e", axis), lanes = absl::StrCat(plan_.lanes);
  const std::string b = absl::StrCat("block", axis);
  Open(absl::StrCat("if (", e, " > 0) {"));
  LATHE_RETURN_IF_ERROR(Hoisted(OpPhase::kElement));
  LATHE_RETURN_IF_ERROR(Tables());
  for (const Reduction& r : reductions_) {
    Line(absl::StrCat("auto& row", r.id, " = ", A(r, level), ";"));
    if (r.index >= 0) Line(absl::StrCat("auto& row_at", r.id, " = ", I(r, level), ";"));
  }
  Open("{");
  DeclareRow(level);
  if (!TakesWholeRows()) {
    LATHE_RETURN_IF_ERROR(Chunk(true));
  }
  Open(absl::StrCat("for (int64_t ", b, " = 0; ", b, " * ", kInnerBlock, " < ", e, "; ++", b,
                    ") {"));
  Line(absl::StrCat("const int64_t first = ", b, " * ", kInnerBlock, ", last = hn::Least(", e,
                    ", first + ", kInnerBlock, ");"));
  StartLanes(level);
  Line(absl::StrCat("int64_t ", i, " = first;"));
  LATHE_RETURN_IF_ERROR(OctetLoop(level, "last"));
  RestoreOrder(level);
  const std::string at = absl::StrCat(i, " + k * ", lanes);
  const std::string part =
      absl::StrCat("LATHE_TRY(chunk(", at, ", hn::Part{static_cast<int>(hn::Least(", lanes,
                   ", last - (", at, ")))}, k));");
  const std::string full = absl::StrCat("LATHE_TRY(chunk(", at, ", hn::Full(), k));");
  if (TakesWholeRows()) {
    // Nothing is left.
  } else if (!octets_.applies && IsWorthCopies(spec_, stage_, plan_)) {
    Open(absl::StrCat("for (; ", i, " + ", kLanes, " <= last; ", i, " += ", kLanes, ") {"));
    for (int k = 0; k < groups(); ++k) {
      Line(absl::StrCat("LATHE_TRY(chunk(", i, " + ", k * plan_.lanes, ", hn::Full(), ", k, "));"));
    }
    Close();
    Line(absl::StrCat("for (int k = 0; ", at, " < last; ++k) ", part));
  } else {
    Open(absl::StrCat("for (; ", i, " < last; ", i, " += ", kLanes, ") {"));
    Line("int k = 0;");
    Line(absl::StrCat("for (; k < ", groups(), " && ", at, " + ", lanes, " <= last; ++k) ", full));
    Line(absl::StrCat("if (k < ", groups(), " && ", at, " < last) ", part));
    Close();
  }
  for (const Reduction& r : reductions_) {
    const std::string length = BlockCount(axis, kInnerBlock);
    const std::string q = Blocks(r, level, false, r.type, length);
    const std::string count = absl::StrCat("hn::Least(", kLanes, ", last - first)");
    if (r.index < 0) {
      Line(absl::StrCat(q, "[", b, "] = hn::FoldLanes<", r.kind, ">(", A(r, level), ", ", count,
                        ");"));
    } else {
      const std::string p = Blocks(r, level, true, "int64_t", length);
      Line(absl::StrCat(p, "[", b, "] = hn::FoldPositionLanes<", r.kind, ">(", A(r, level), ", ",
                        I(r, level), ", &", q, "[", b, "], ", count, ");"));
    }
  }
  Close();
  FoldRow(level, e);
  Close();
  Close();
  return absl::OkStatus();
}

// One row along the last two axes: groups of a known number of elements (kernel_spec.h).
absl::Status StageEmitter::RowInLine(size_t level) {
  const int outer = reduce_axes_[level], axis = plan_.vector_axis;
  const std::string g = x(outer), i = x(axis), e = absl::StrCat("e", axis);
  const std::string length = absl::StrCat("e", outer, " * ", e);
  Open(absl::StrCat("if (e", outer, " > 0) {"));
  for (const Reduction& r : reductions_) {
    Line(absl::StrCat("auto& row", r.id, " = ", A(r, level), ";"));
  }
  Open("{");
  DeclareRow(level + 1);
  Open(absl::StrCat("for (int64_t ", g, " = 0; ", g, " < e", outer, "; ", g, " += ", octets_.groups,
                    ") {"));
  Open(absl::StrCat("if (", g, " * ", e, " % ", kInnerBlock, " == 0) {"));
  StartLanes(level + 1);
  Close();
  LATHE_RETURN_IF_ERROR(HoistedOfGroups(
      [&](int id) { return !plan_.varies[id] && plan_.phases[id] <= OpPhase::kElement; }));
  LATHE_RETURN_IF_ERROR(Tables());
  LATHE_RETURN_IF_ERROR(AskAheadOfGroups(outer));
  Line(absl::StrCat("int64_t ", i, " = 0;"));
  LATHE_RETURN_IF_ERROR(OctetLoop(level + 1, octets_.groups == 1 ? e : absl::StrCat(kLanes)));
  const int64_t elements = *spec_.axes[axis].extent.AsInt();
  if (!octets_.applies && elements < kLanes) {
    // Short groups take turns on the lanes.
    LATHE_RETURN_IF_ERROR(Chunk(true));
    Line(absl::StrCat("const int first = static_cast<int>(", g, " * ", e, " % ", kLanes, ") / ",
                      plan_.lanes, ";"));
    Line(absl::StrCat("for (int k = 0; k < ", elements / plan_.lanes, "; ++k) LATHE_TRY(chunk(k * ",
                      plan_.lanes, ", hn::Full(), first + k));"));
  } else if (!TakesWholeRows()) {
    // Groups of a row may start at different places within a byte.
    const bool changes = octets_.applies;
    if (changes) {
      Open(absl::StrCat("if (", i, " < ", e, ") {"));
      RestoreOrder(level + 1);
    }
    LATHE_RETURN_IF_ERROR(Chunk(true));
    Open(absl::StrCat("for (; ", i, " < ", e, "; ", i, " += ", kLanes, ") {"));
    if (IsWorthCopies(spec_, stage_, plan_)) {
      for (int k = 0; k < groups(); ++k) {
        Line(absl::StrCat("LATHE_TRY(chunk(", i, " + ", k * plan_.lanes, ", hn::Full(), ", k,
                          "));"));
      }
    } else {
      Line(absl::StrCat("for (int k = 0; k < ", groups(), "; ++k) LATHE_TRY(chunk(", i, " + k * ",
                        plan_.lanes, ", hn::Full(), k));"));
    }
    Close();
    if (changes) {
      RestoreOrder(level + 1);
      Close();
    }
  }
  const std::string next = absl::StrCat(g, " + ", octets_.groups);
  Open(absl::StrCat("if ((", next, ") * ", e, " % ", kInnerBlock, " == 0 || ", next, " == e", outer,
                    ") {"));
  RestoreOrder(level + 1);
  for (const Reduction& r : reductions_) {
    const std::string q =
        Blocks(r, level, false, r.type,
               absl::StrCat("((", length, " + ", kInnerBlock - 1, ") / ", kInnerBlock, ")"));
    // Of a copy: what a function takes the address of does not stay in registers.
    const std::string a = A(r, level + 1), copy = absl::StrCat("f", r.id);
    Line(absl::StrCat(VectorType(r.type), " ", copy, "[", groups(), "];"));
    Line(absl::StrCat("for (int k = 0; k < ", groups(), "; ++k) ", copy, "[k] = ", a, "[k];"));
    Line(absl::StrCat(q, "[", g, " * ", e, " / ", kInnerBlock, "] = hn::FoldLanes<", r.kind, ">(",
                      copy, ", ", kLanes, ");"));
  }
  Close();
  Close();
  FoldRow(level, length);
  Close();
  Close();
  return absl::OkStatus();
}

absl::Status StageEmitter::Columns() {
  std::vector<int> outer = ParallelAxes(spec_, stage_);
  outer.pop_back();
  const int axis = plan_.vector_axis;
  const std::string lanes = absl::StrCat(plan_.lanes);
  return Loops(outer, 0, [&]() -> absl::Status {
    Open(absl::StrCat("for (int64_t tile = ", Begin(axis), "; tile < ", End(axis),
                      "; tile += ", kLanes, ") {"));
    Line(absl::StrCat("const int width = static_cast<int>(hn::Least(", kLanes, ", ", End(axis),
                      " - tile));"));
    LATHE_RETURN_IF_ERROR(ColumnLevel(0));
    Open(absl::StrCat("const auto finish = [&](const int64_t ", x(axis),
                      ", const auto n, const int k) __attribute__((always_inline)) -> int32_t {"));
    LATHE_RETURN_IF_ERROR(AfterReduction({axis, "n"}, [&](int r) {
      const Reduction& reduction = reductions_[r];
      return absl::StrCat(reduction.index < 0 ? A(reduction, 0) : I(reduction, 0), "[k]");
    }));
    Line("return 0;");
    Close("};");
    Open(absl::StrCat("for (int k = 0; k * ", lanes, " < width; ++k) {"));
    Open(absl::StrCat("if ((k + 1) * ", lanes, " <= width) {"));
    Line(absl::StrCat("LATHE_TRY(finish(tile + k * ", lanes, ", hn::Full(), k));"));
    Close("} else {");
    ops_.indent += 2;
    Line(absl::StrCat("LATHE_TRY(finish(tile + k * ", lanes, ", hn::Part{width - k * ", lanes,
                      "}, k));"));
    Close();
    Close();
    Close();
    return absl::OkStatus();
  });
}

// Declares aK_level (a tile of columns) and computes it over reduce axes level, level + 1...
absl::Status StageEmitter::ColumnLevel(size_t level) {
  const int axis = reduce_axes_[level];
  const std::string b = absl::StrCat("block", axis), e = absl::StrCat("e", axis);
  const std::string every = absl::StrCat("for (int k = 0; k < ", groups(), "; ++k) ");
  for (const Reduction& r : reductions_) {
    const std::string empty = r.index < 0 ? absl::StrCat(r.kind, "::Empty<", r.type, ">()") : "0";
    Line(absl::StrCat(VectorType(r.type), " ", A(r, level), "[", groups(), "];"));
    Line(absl::StrCat(every, A(r, level), "[k] = ", empty, " - ", VectorType(r.type), "{};"));
    if (r.index < 0) continue;
    Line(absl::StrCat(VectorType("int64_t"), " ", I(r, level), "[", groups(), "] = {};"));
  }
  Open(absl::StrCat("for (int64_t ", b, " = 0; ", b, " * ", kOuterBlock, " < ", e, "; ++", b,
                    ") {"));
  for (const Reduction& r : reductions_) {
    const std::string start = r.index < 0
                                  ? absl::StrCat(r.kind, "::Start<", r.type, ">()")
                                  : absl::StrCat("hn::WorstOf<", r.kind, ", ", r.type, ">()");
    Line(absl::StrCat(every, A(r, level), "[k] = ", start, " - ", VectorType(r.type), "{};"));
    if (r.index >= 0) {
      Line(absl::StrCat(every, I(r, level), "[k] = hn::kNoPosition - ", VectorType("int64_t"),
                        "{};"));
    }
  }
  Open(absl::StrCat("for (int64_t ", x(axis), " = ", b, " * ", kOuterBlock, "; ", x(axis),
                    " < hn::Least(", e, ", (", b, " + 1) * ", kOuterBlock, "); ++", x(axis),
                    ") {"));
  if (level + 1 == reduce_axes_.size()) {
    LATHE_RETURN_IF_ERROR(ColumnElements(level));
  } else {
    LATHE_RETURN_IF_ERROR(ColumnLevel(level + 1));
    for (const Reduction& r : reductions_) {
      if (r.index < 0) {
        Line(absl::StrCat(every, "hn::Accumulate<", r.kind, ">(", A(r, level), "[k], ",
                          A(r, level + 1), "[k], hn::Full());"));
      } else {
        Line(absl::StrCat(every, "hn::AccumulatePosition<", r.kind, ">(", A(r, level), "[k], ",
                          I(r, level), "[k], ", A(r, level + 1), "[k], ", I(r, level + 1),
                          "[k], hn::Full());"));
      }
    }
  }
  Close();
  Open(absl::StrCat("if (", e, " > ", kOuterBlock, ") {"));
  for (const Reduction& r : reductions_) {
    const std::string q = Blocks(r, level, false, r.type, BlockCount(axis, kOuterBlock));
    Line(absl::StrCat(every, q, "[", b, " * ", groups(), " + k] = ", A(r, level), "[k];"));
    if (r.index < 0) continue;
    const std::string p = Blocks(r, level, true, "int64_t", BlockCount(axis, kOuterBlock));
    Line(absl::StrCat(every, p, "[", b, " * ", groups(), " + k] = ", I(r, level), "[k];"));
  }
  Close();
  Close();
  Open(absl::StrCat("if (", e, " > ", kOuterBlock, ") {"));
  for (const Reduction& r : reductions_) {
    const std::string q = absl::StrCat("q", number_, "_", r.id, "_", level);
    const std::string p = absl::StrCat("p", number_, "_", r.id, "_", level);
    const std::string count = absl::StrCat("(", e, " + ", kOuterBlock - 1, ") / ", kOuterBlock);
    if (r.index < 0) {
      Line(absl::StrCat("hn::FoldBlocks<", r.kind, ", ", groups(), ">(", q, ", ", count, ", ",
                        A(r, level), ");"));
    } else {
      Line(absl::StrCat("hn::FoldPositionBlocks<", r.kind, ", ", groups(), ">(", q, ", ", p, ", ",
                        count, ", ", A(r, level), ", ", I(r, level), ");"));
    }
  }
  Close();
  return absl::OkStatus();
}

// One row of a tile.
absl::Status StageEmitter::ColumnElements(size_t level) {
  (void)level;
  const std::string lanes = absl::StrCat(plan_.lanes);
  LATHE_RETURN_IF_ERROR(Hoisted(OpPhase::kElement));
  LATHE_RETURN_IF_ERROR(Chunk(true));
  const std::string at = absl::StrCat("tile + k * ", lanes);
  const std::string part =
      absl::StrCat("LATHE_TRY(chunk(", at, ", hn::Part{static_cast<int>(hn::Least(", lanes,
                   ", width - k * ", lanes, "))}, k));");
  const std::string full = absl::StrCat("LATHE_TRY(chunk(", at, ", hn::Full(), k));");
  if (IsWorthCopies(spec_, stage_, plan_)) {
    Open(absl::StrCat("if (width == ", kLanes, ") {"));
    for (int k = 0; k < groups(); ++k) {
      Line(absl::StrCat("LATHE_TRY(chunk(tile + ", k * plan_.lanes, ", hn::Full(), ", k, "));"));
    }
    Close("} else {");
    ops_.indent += 2;
    Line(absl::StrCat("for (int k = 0; k * ", lanes, " < width; ++k) ", part));
    Close();
  } else {
    Line("int k = 0;");
    Line(absl::StrCat("for (; (k + 1) * ", lanes, " <= width; ++k) ", full));
    Line(absl::StrCat("if (k * ", lanes, " < width) ", part));
  }
  return absl::OkStatus();
}

// The operations after the reduction; result(r) is the vector of reduction r.
absl::Status StageEmitter::AfterReduction(const Scope& scope,
                                          const std::function<std::string(int)>& result) {
  const std::vector<LoopOp>& ops = stage_.body.ops;
  std::vector<bool> needed(ops.size(), false);
  for (size_t i = ops.size(); i-- > 0;) {
    needed[i] =
        needed[i] || (ops[i].kind == OpKind::kStoreLocal && plan_.phases[i] == OpPhase::kReduced);
    if (!needed[i] || ops[i].kind == OpKind::kReduce) continue;
    for (int32_t operand : ops[i].operands) needed[operand] = true;
    if (ops[i].mask != kNoValue) needed[ops[i].mask] = true;
  }
  for (size_t r = 0; r < reductions_.size(); ++r) {
    if (needed[reductions_[r].id]) ops_.DefineReduced(reductions_[r].id, result(r));
  }
  return Operations([&](int id) { return needed[id] && plan_.phases[id] != OpPhase::kElement; },
                    scope);
}

}  // namespace lathe::cpu
