#include <cstring>

#include "ir/graph/graph.h"

namespace lathe {
namespace {

// Same dtype, sizes and bits: two literal constants are equal however they are laid out.
bool SameElements(const Tensor& a, const Tensor& b) {
  if (!a.is_defined() || !b.is_defined()) return a.is_defined() == b.is_defined();
  if (a.dtype() != b.dtype() || !(a.sizes() == b.sizes())) return false;
  if (a.storage() == b.storage() && a.offset() == b.offset() && a.strides() == b.strides()) {
    return true;
  }
  // Clones are dense at offset 0; a sub-byte clone's unused tail bits are unset memory.
  const Tensor x = a.Clone(), y = b.Clone();
  if (!IsSubByte(a.dtype())) {
    return std::memcmp(x.data(), y.data(), x.storage()->size_bytes()) == 0;
  }
  for (int64_t k = 0; k < x.numel(); ++k) {
    if (!x.AtLinear(k).Identical(y.AtLinear(k))) return false;
  }
  return true;
}

}  // namespace

Argument Argument::Ints(const std::vector<Expr>& items) {
  std::vector<Argument> list;
  list.reserve(items.size());
  for (const Expr& item : items) list.push_back(Int(item));
  return List(std::move(list));
}

bool operator==(const Argument& a, const Argument& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Argument::Kind::kNone:
      return true;
    case Argument::Kind::kValue:
      return a.value() == b.value();
    case Argument::Kind::kInt:
      return a.expr() == b.expr();
    case Argument::Kind::kBool:
      return a.boolean() == b.boolean();
    case Argument::Kind::kScalar:
      return a.number().Identical(b.number());
    case Argument::Kind::kString:
      return a.string() == b.string();
    case Argument::Kind::kDType:
      return a.dtype() == b.dtype();
    case Argument::Kind::kDevice:
      return a.device() == b.device();
    case Argument::Kind::kLayout:
      return a.layout() == b.layout();
    case Argument::Kind::kMemoryFormat:
      return a.memory_format() == b.memory_format();
    case Argument::Kind::kList:
      return a.list() == b.list();
    case Argument::Kind::kGraph:
      return a.graph() == b.graph();
    case Argument::Kind::kTensor:
      return SameElements(a.tensor(), b.tensor());
  }
  return false;
}

}  // namespace lathe
