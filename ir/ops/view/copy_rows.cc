// "X_copy" for a view op X: the same elements in a tensor of their own, contiguous.

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/view/size_math.h"
#include "ir/ops/view/view_rows.h"

namespace lathe {
namespace {

const CallArgument kDense = Argument::Of(MemoryFormat::kContiguous);

// "aten.squeeze.dim" of "aten::squeeze.dim(...".
std::string CalledName(absl::string_view schema) {
  return absl::StrReplaceAll(schema.substr(0, schema.find('(')), {{"::", "."}});
}

std::string CopySchema(absl::string_view schema) {
  size_t end = std::min(schema.find('('), schema.find('.'));
  return absl::StrCat(schema.substr(0, end), "_copy",
                      absl::StrReplaceAll(schema.substr(end), {{"Tensor(a)", "Tensor"}}));
}

OpRow CopyRow(const OpRow& view) {
  OpRow row;
  row.schema = CopySchema(view.schema);
  const std::string name = CalledName(view.schema);
  row.doc = absl::StrCat(name, " into a tensor of its own.");
  row.decompose = [name](Builder& b, const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
    Value* self = args.Tensor(0);
    std::vector<CallArgument> arguments;
    for (int i = 0; i < args.size(); ++i) arguments.emplace_back(args[i]);
    if (name == "aten.view") {
      // Any reshape is a copy: where strides forbid the view, the clone comes first.
      LATHE_ASSIGN_OR_RETURN(
          std::vector<Expr> sizes,
          CompleteSizes(self->type.tensor().sizes, args.Ints(1), {args, b.shapes(), {}}));
      if (!ViewStrides(self->type.tensor(), sizes, b.shapes())) {
        Value* dense = b.Call("aten.clone", {self}, {{"memory_format", kDense}});
        return std::vector<Argument>{Argument::Of(b.Call("aten._unsafe_view", {dense, sizes}))};
      }
    }
    Value* shown = b.Call(name, std::move(arguments));
    return std::vector<Argument>{
        Argument::Of(b.Call("aten.clone", {shown}, {{"memory_format", kDense}}))};
  };
  for (std::string sample : view.samples) {
    const std::string copied = CalledName(row.schema);
    row.samples.push_back(absl::StrReplaceAll(sample, {{name + "(", copied + "("}}));
  }
  return row;
}

}  // namespace

std::vector<OpRow> ViewCopyRows() {
  std::vector<OpRow> rows;
  for (auto family : {ReshapeRows, PermuteRows, ExpandRows, SliceRows, StridedRows}) {
    for (const OpRow& row : family()) {
      // ATen has no copy of these.
      const std::string name = CalledName(row.schema);
      if (!row.is_view() || name == "aten.lift_fresh" || absl::StrContains(name, "expand_as")) {
        continue;
      }
      rows.push_back(CopyRow(row));
    }
  }
  return rows;
}

}  // namespace lathe
