// tril, triu, diag_embed.

#include <algorithm>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/index/index_rows.h"
#include "ir/ops/index/mapped_row.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

Types InferTriangle(const InferContext& c) {
  const TensorType& self = c.args.Type(0);
  if (self.rank() < 2) {
    return InvalidArgument(c.args.schema().name, ": input tensor must have at least 2 dimensions");
  }
  return One(ContiguousType(self.dtype, self.sizes, self.device));
}

// A diagonal further away than any size, without what overflows when rows are added.
Expr NearDiagonal(const Expr& diagonal) {
  constexpr int64_t kFar = int64_t{1} << 62;
  if (!diagonal.AsInt()) return diagonal;
  return std::min(std::max(*diagonal.AsInt(), -kFar), kFar);
}

OpRow TriangleRow(const std::string& name, bool lower) {
  return MappedRow({
      .schema = "aten::" + name + "(Tensor self, int diagonal=0) -> Tensor",
      .doc = lower ? "Zeros above a diagonal of the last two dimensions."
                   : "Zeros below a diagonal of the last two dimensions.",
      .infer = InferTriangle,
      .map = [lower](const MapContext& c) -> absl::StatusOr<ElementMap> {
        const Expr diagonal = NearDiagonal(c.args.Int(1));
        return ElementMap([=](Index index) {
          const Expr row = index[index.size() - 2], column = index.back();
          MappedElement element;
          element.place.assign(index.begin(), index.end());
          element.conditions = {lower ? symbolic::Le(column, row + diagonal)
                                      : symbolic::Le(row + diagonal, column)};
          return element;
        });
      },
      .samples = {"aten." + name + "(f32[3, 4])", "aten." + name + "(f32[2, 3, s0], -1)"},
  });
}

struct Embedding {
  int dim1 = 0, dim2 = 0;
  int64_t offset = 0;
};

absl::StatusOr<Embedding> EmbeddingOf(const OpArgs& args) {
  const int rank = args.Type(0).rank() + 1;
  Embedding e;
  LATHE_ASSIGN_OR_RETURN(e.offset, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int64_t dim1, args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int64_t dim2, args.ConstantInt(3));
  LATHE_ASSIGN_OR_RETURN(e.dim1, WrapDim(dim1, rank));
  LATHE_ASSIGN_OR_RETURN(e.dim2, WrapDim(dim2, rank));
  if (e.dim1 == e.dim2 || args.Type(0).rank() == 0) {
    return InvalidArgument("diag_embed: diagonal dimensions cannot be identical ", dim1, ", ",
                           dim2);
  }
  return e;
}

}  // namespace

std::vector<OpRow> TriangleRows() {
  std::vector<OpRow> rows;
  rows.push_back(TriangleRow("tril", true));
  rows.push_back(TriangleRow("triu", false));
  rows.push_back(MappedRow({
      .schema = "aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
      .doc = "The last dimension as a diagonal of two new dimensions, zeros elsewhere.",
      .infer = [](const InferContext& c) -> Types {
        LATHE_ASSIGN_OR_RETURN(Embedding e, EmbeddingOf(c.args));
        const TensorType& self = c.args.Type(0);
        std::vector<Expr> sizes(self.sizes.begin(), self.sizes.end() - 1);
        const Expr length = self.sizes.back() + std::abs(e.offset);
        sizes.insert(sizes.begin() + std::min(e.dim1, e.dim2), length);
        sizes.insert(sizes.begin() + std::max(e.dim1, e.dim2), length);
        return One(ContiguousType(self.dtype, std::move(sizes), self.device));
      },
      .map = [](const MapContext& c) -> absl::StatusOr<ElementMap> {
        LATHE_ASSIGN_OR_RETURN(Embedding e, EmbeddingOf(c.args));
        // With a negative offset the diagonal starts lower and the two dimensions change roles.
        return ElementMap([e](Index index) {
          MappedElement element;
          for (int d = 0; d < static_cast<int>(index.size()); ++d) {
            if (d != e.dim1 && d != e.dim2) element.place.push_back(index[d]);
          }
          element.place.push_back(e.offset >= 0 ? index[e.dim1] : index[e.dim2]);
          element.conditions = {symbolic::Eq(index[e.dim2] - index[e.dim1], e.offset)};
          return element;
        });
      },
      .samples = {"aten.diag_embed(f32[2, 3])", "aten.diag_embed(f32[2, 3], -1, 0, 2)"},
  }));
  return rows;
}

}  // namespace lathe
