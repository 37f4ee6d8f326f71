#include "ir/graph/type.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dtypes/base/check.h"

namespace lathe {
namespace {

std::string JoinExprs(const std::vector<Expr>& items) {
  return absl::StrJoin(items, ", ", [](std::string* out, const Expr& e) {
    absl::StrAppend(out, symbolic::ToString(e));
  });
}

const char* KindName(symbolic::ExprType kind) {
  switch (kind) {
    case symbolic::ExprType::kInt:
      return "int";
    case symbolic::ExprType::kBool:
      return "bool";
    case symbolic::ExprType::kFloat:
      return "float";
  }
  LATHE_UNREACHABLE();
}

}  // namespace

std::vector<Expr> ContiguousStrides(const std::vector<Expr>& sizes) {
  std::vector<Expr> strides(sizes.size(), Expr(1));
  for (int d = static_cast<int>(sizes.size()) - 2; d >= 0; --d) {
    const Expr& size = sizes[d + 1];
    strides[d] = size == Expr(0) ? strides[d + 1] : strides[d + 1] * size;
  }
  return strides;
}

TensorType ContiguousType(DType dtype, std::vector<Expr> sizes, Device device) {
  TensorType type;
  type.dtype = dtype;
  type.strides = ContiguousStrides(sizes);
  type.sizes = std::move(sizes);
  type.device = device;
  return type;
}

bool IsContiguous(const TensorType& type) {
  Expr expected = 1;
  bool dense = true;
  for (int d = type.rank() - 1; d >= 0; --d) {
    if (type.sizes[d] == Expr(0)) return true;
    if (type.sizes[d] == Expr(1)) continue;
    dense = dense && type.strides[d] == expected;
    expected = expected * type.sizes[d];
  }
  return dense;
}

Expr NumElements(const TensorType& type) { return symbolic::Product(type.sizes); }

std::string ToString(const TensorType& type) {
  std::string text =
      absl::StrCat(absl::string_view(Name(type.dtype)), "[", JoinExprs(type.sizes), "]");
  if (type.strides != ContiguousStrides(type.sizes)) {
    absl::StrAppend(&text, "{", JoinExprs(type.strides), "}");
  }
  if (type.offset != Expr(0)) {
    // A sum would end at its first blank for a reader: parentheses keep it one word.
    const std::string offset = symbolic::ToString(type.offset);
    const bool simple = type.offset.is_const() || type.offset.is_symbol();
    absl::StrAppend(&text, "+", simple ? offset : absl::StrCat("(", offset, ")"));
  }
  if (type.device != Device::Cpu()) absl::StrAppend(&text, " @", ToString(type.device));
  return text;
}

std::string ToString(const ValueType& type) {
  if (type.is_none()) return "none";
  if (type.is_tensor()) return ToString(type.tensor());
  if (type.is_scalar()) {
    return absl::StrCat(KindName(type.scalar().kind), "(", symbolic::ToString(type.scalar().value),
                        ")");
  }
  return absl::StrCat("list(",
                      absl::StrJoin(type.list().elements, ", ",
                                    [](std::string* out, const ValueType& element) {
                                      absl::StrAppend(out, ToString(element));
                                    }),
                      ")");
}

}  // namespace lathe
