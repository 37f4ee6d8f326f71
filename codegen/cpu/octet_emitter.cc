// Rows of packed integers, octet by octet: what StageEmitter writes where OctetPlan applies. In
// the text: pK is where load K takes the octets oK, tK the table of operation K, rN_K the shared
// values of operation K of stage N.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/cpu/octet_plan.h"
#include "codegen/cpu/stage_emitter.h"
#include "dtypes/base/status.h"
#include "ir/loops/affine_index.h"

namespace lathe::cpu {

bool StageEmitter::TakesWholeRows() const {
  if (!octets_.applies) return false;
  if (*spec_.axes[plan_.vector_axis].extent.AsInt() * octets_.groups % kLanes != 0) return false;
  const Expr& axis = spec_.axes[plan_.vector_axis].symbol;
  return std::all_of(octets_.loads.begin(), octets_.loads.end(),
                     [&](int id) { return IsMultipleOfEight(op(id).index, axis); });
}

// Whether the row's octets are whole bytes; "" where they always are.
absl::StatusOr<std::string> StageEmitter::OctetCondition() const {
  std::string condition;
  for (int id : octets_.loads) {
    if (IsMultipleOfEight(op(id).index, spec_.axes[plan_.vector_axis].symbol)) continue;
    LATHE_ASSIGN_OR_RETURN(const std::string first,
                           ops_.FirstElement(id, {plan_.vector_axis, "n"}));
    absl::StrAppend(&condition, condition.empty() ? "" : " && ", first, " % 8 == 0");
  }
  return condition;
}

absl::Status StageEmitter::Tables() {
  if (!octets_.applies) return absl::OkStatus();
  ops_.TakePackedAs(OpEmitter::Packed::kCodes);
  for (int table : octets_.tables) {
    std::vector<bool> needed(stage_.body.ops.size(), false);
    needed[table] = true;
    for (int id = table; id >= 0; --id) {
      if (!needed[id]) continue;
      for (int32_t operand : op(id).operands) needed[operand] = plan_.varies[operand];
    }
    const std::string t = absl::StrCat("t", table), make = absl::StrCat("make", table);
    Open(absl::StrCat("const auto ", make, " = [&](int from) __attribute__((always_inline)) {"));
    LATHE_RETURN_IF_ERROR(Operations([&](int id) { return needed[id]; }, Scope()));
    Line(absl::StrCat("return v", table, ";"));
    Close("};");
    const bool fits = 1 << BitWidth(op(octets_.table_of[table]).dtype) <= plan_.lanes;
    Line(fits ? absl::StrCat("const auto ", t, " = ", make, "(0);")
              : absl::StrCat("const hn::TableOfTwo<",
                             VectorType(std::string(LaneType(op(table).dtype))), "> ", t, " = {",
                             make, "(0), ", make, "(", plan_.lanes, ")};"));
  }
  ops_.TakePackedAs(OpEmitter::Packed::kElements);
  return absl::OkStatus();
}

// What is the same along a group, before its elements; of several groups at once, each its own.
absl::Status StageEmitter::HoistedOfGroups(const std::function<bool(int)>& wanted) {
  if (octets_.groups == 1) return Operations(wanted, Scope());
  const int axis = reduce_axes_[0];
  const Expr& group = spec_.axes[axis].symbol;
  for (size_t i = 0; i < stage_.body.ops.size(); ++i) {
    const int id = static_cast<int>(i);
    const LoopOp& o = op(id);
    if (o.kind == OpKind::kReduce || plan_.unused[i] || !wanted(id)) continue;
    const bool indexes = o.kind == OpKind::kLoad || o.kind == OpKind::kIndexExpr;
    if (!indexes || !UsesSymbol(o.index, group)) {
      LATHE_RETURN_IF_ERROR(ops_.Emit(id, Scope()));
      continue;
    }
    Open(absl::StrCat("const auto v", id, " = hn::OfGroups<", octets_.groups,
                      ">([&](const int64_t ", x(axis), ") __attribute__((always_inline)) {"));
    LATHE_RETURN_IF_ERROR(ops_.Emit(id, Scope()));
    Line(absl::StrCat("return v", id, ";"));
    Close(absl::StrCat("}, ", x(axis), ");"));
  }
  return absl::OkStatus();
}

// What each group of a row reads for itself, a line ahead in time: a line lasts for many groups.
absl::Status StageEmitter::AskAheadOfGroups(int group_axis) {
  if (!octets_.applies) return absl::OkStatus();
  const Expr& group = spec_.axes[group_axis].symbol;
  for (size_t i = 0; i < stage_.body.ops.size(); ++i) {
    const LoopOp& o = stage_.body.ops[i];
    if (o.kind != OpKind::kLoad || plan_.varies[i] || o.mask != kNoValue ||
        BitWidth(o.dtype) % 8 != 0 || AffineCoefficient(o.index, group) != Expr(1)) {
      continue;
    }
    LATHE_ASSIGN_OR_RETURN(const std::string at, ops_.FirstElement(static_cast<int>(i), Scope()));
    Line(absl::StrCat("hn::Prefetch(b", o.buffer, " + ", at, " + ",
                      kGroupAheadBytes / (BitWidth(o.dtype) / 8), ");"));
  }
  return absl::OkStatus();
}

// From the row's place xK on, as long as there are kLanes elements before `last`.
absl::Status StageEmitter::OctetLoop(size_t level, const std::string& last) {
  if (!octets_.applies) return absl::OkStatus();
  const std::string i = x(plan_.vector_axis);
  LATHE_ASSIGN_OR_RETURN(const std::string condition, OctetCondition());
  if (!condition.empty()) Line(absl::StrCat("if (", condition, ")"));
  Open(absl::StrCat("for (; ", i, " + ", kLanes, " <= ", last, "; ", i, " += ", kLanes, ") {"));
  ops_.TakePackedAs(OpEmitter::Packed::kOctets);
  LATHE_RETURN_IF_ERROR(OctetBody(level));
  ops_.TakePackedAs(OpEmitter::Packed::kElements);
  Close();
  return absl::OkStatus();
}

absl::Status StageEmitter::OctetBody(size_t level) {
  const Scope scope = {plan_.vector_axis, "hn::Full()"};
  for (int id : octets_.loads) {
    LATHE_RETURN_IF_ERROR(ops_.DefineOctets(id, scope));
  }
  Open("const auto octet = [&](const int k) __attribute__((always_inline)) {");
  const auto holds = [](const std::vector<int>& ids, int id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  for (size_t i = 0; i < stage_.body.ops.size(); ++i) {
    const int id = static_cast<int>(i);
    if (holds(octets_.shared, id)) {
      ops_.DefineAs(id, absl::StrCat("hn::LoadU(", ops_.DeclareTag(op(id).dtype), ", &",
                                     SharedPlace(id), ")"));
    } else if (holds(octets_.tables, id)) {
      const int load = octets_.table_of[id];
      ops_.DefineAs(id, absl::StrCat("hn::Lookup(t", id, ", hn::OctetPlaces<",
                                     BitWidth(op(load).dtype), ">(o", load, ", k))"));
    } else if (octets_.in_loop[id]) {
      LATHE_RETURN_IF_ERROR(ops_.Emit(id, scope));
    }
  }
  Accumulate(level, "hn::Full()");
  Close("};");
  for (int k = 0; k < groups(); ++k) Line(absl::StrCat("octet(", k, ");"));
  return absl::OkStatus();
}

void StageEmitter::RestoreOrder(size_t level) {
  if (!octets_.applies) return;
  for (const Reduction& r : reductions_) Line(absl::StrCat("hn::OctetOrder(", A(r, level), ");"));
}

// The place in the row that all rows share.
std::string StageEmitter::RowPosition() const {
  const std::string i = x(plan_.vector_axis);
  return in_line_ ? absl::StrCat(x(reduce_axes_[0]), " * e", plan_.vector_axis, " + ", i) : i;
}
std::string StageEmitter::SharedPlace(int id) const {
  return absl::StrCat("r", number_, "_", id, "[", RowPosition(), " + k * ", plan_.lanes, "]");
}

absl::StatusOr<std::string> StageEmitter::EmitShared(int indent) {
  if (!octets_.applies || octets_.shared.empty()) return std::string();
  ops_.indent = indent + 2;
  LATHE_RETURN_IF_ERROR(SharedRow());
  const std::string space(indent, ' ');
  const std::string text =
      absl::StrCat(space, "{  // what the rows of stage ", number_, " share\n", space, "  ",
                   ops_.TagDeclarations(), "\n", text_, space, "}\n");
  text_.clear();
  return text;
}

absl::Status StageEmitter::SharedRow() {
  const int axis = plan_.vector_axis;
  const std::string i = x(axis), e = absl::StrCat("e", axis);
  const Scope scope = {axis, "n"};
  std::string count = e;
  if (in_line_) {
    const int outer = reduce_axes_[0];
    absl::StrAppend(&count, " * e", outer);
    Open(absl::StrCat("for (int64_t ", x(outer), " = 0; ", x(outer), " < e", outer, "; ", x(outer),
                      " += ", octets_.groups, ") {"));
  }
  LATHE_RETURN_IF_ERROR(
      HoistedOfGroups([&](int id) { return octets_.for_shared[id] && !plan_.varies[id]; }));
  Open(absl::StrCat("for (int64_t ", i, " = 0; ", i, " + ", kLanes, " <= ", e,
                    octets_.groups == 1 ? "" : absl::StrCat(" * ", octets_.groups), "; ", i,
                    " += ", kLanes, ") {"));
  for (int id : octets_.shared) {
    const std::string type(LaneType(op(id).dtype));
    scratch_.push_back({absl::StrCat("r", number_, "_", id), type, count});
    Line(absl::StrCat(VectorType(type), " w", id, "[", groups(), "];"));
  }
  Open(absl::StrCat("const auto prepare = [&](const int64_t ", i,
                    ", const auto n, const int k) __attribute__((always_inline)) {"));
  LATHE_RETURN_IF_ERROR(
      Operations([&](int id) { return octets_.for_shared[id] && plan_.varies[id]; }, scope));
  for (int id : octets_.shared) Line(absl::StrCat("w", id, "[k] = v", id, ";"));
  Close("};");
  const std::string each = absl::StrCat("for (int k = 0; k < ", groups(), "; ++k) ");
  Line(absl::StrCat(each, "prepare(", i, " + k * ", plan_.lanes, ", hn::Full(), k);"));
  for (int id : octets_.shared) {
    Line(absl::StrCat("hn::OctetOrder(w", id, ");"));
    Line(absl::StrCat(each, "hn::StoreU(w", id, "[k], ", ops_.DeclareTag(op(id).dtype), ", &",
                      SharedPlace(id), ");"));
  }
  Close();
  if (in_line_) Close();
  return absl::OkStatus();
}

}  // namespace lathe::cpu
