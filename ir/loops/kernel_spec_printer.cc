#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/loops/kernel_spec.h"

namespace lathe {
namespace {

absl::string_view RoleName(BufferRole role) {
  switch (role) {
    case BufferRole::kIn:
      return "in";
    case BufferRole::kOut:
      return "out";
    default:
      return "inout";
  }
}

std::string AxisNames(const KernelSpec& spec, const std::vector<int>& axes) {
  return absl::StrCat("[",
                      absl::StrJoin(axes, ", ",
                                    [&](std::string* out, int axis) {
                                      absl::StrAppend(out, spec.axes[axis].symbol.symbol_name());
                                    }),
                      "]");
}

}  // namespace

std::string ToString(const KernelSpec& spec) {
  std::string text =
      absl::StrCat("kernel ", spec.name, "(",
                   absl::StrJoin(spec.symbols, ", ",
                                 [](std::string* out, const Expr& symbol) {
                                   absl::StrAppend(out, symbol.symbol_name(), ": size");
                                 }),
                   ") {\n");
  for (size_t k = 0; k < spec.buffers.size(); ++k) {
    const SpecBuffer& buffer = spec.buffers[k];
    absl::StrAppend(&text, "  buffer b", k, ": ", RoleName(buffer.role), " ", Name(buffer.dtype),
                    " align ", buffer.alignment_bytes, "\n");
  }
  for (const SpecAxis& axis : spec.axes) {
    absl::StrAppend(&text, "  axis ", axis.symbol.symbol_name(), ": ",
                    axis.kind == AxisKind::kParallel ? "parallel " : "reduce ",
                    symbolic::ToString(axis.extent), "\n");
  }
  for (size_t k = 0; k < spec.locals.size(); ++k) {
    absl::StrAppend(&text, "  local l", k, ": ", Name(spec.locals[k].dtype), " ",
                    AxisNames(spec, spec.locals[k].axes), "\n");
  }
  absl::StrAppend(&text, "  outer ", AxisNames(spec, spec.outer), " grain ", spec.grain, "\n");
  for (const ErrorRow& row : spec.errors) {
    absl::StrAppend(&text, "  error \"", absl::CEscape(row.node), "\" \"",
                    absl::CEscape(row.source), "\" \"", absl::CEscape(row.message), "\"\n");
  }
  for (const SpecStage& stage : spec.stages) {
    absl::StrAppend(&text, "  stage ", AxisNames(spec, stage.axes), " {\n");
    for (size_t i = 0; i < stage.body.ops.size(); ++i) {
      absl::StrAppend(&text, "    ",
                      ToString(stage.body.ops[i], static_cast<int32_t>(i),
                               [](const Expr& e) { return symbolic::ToString(e); }),
                      "\n");
    }
    absl::StrAppend(&text, "  }\n");
  }
  return absl::StrCat(text, "}\n");
}

}  // namespace lathe
