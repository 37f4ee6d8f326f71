#include "ir/ops/op_row.h"

#include <algorithm>

#include "dtypes/base/check.h"

namespace lathe {
namespace {

// The number that argument `i` holds, from whichever side it came.
std::optional<Scalar> NumberOf(const HostValue& value, const Argument& literal) {
  if (value.index() == 2) return value.scalar();
  switch (literal.kind()) {
    case Argument::Kind::kScalar:
      return literal.number();
    case Argument::Kind::kBool:
      return Scalar(literal.boolean());
    case Argument::Kind::kInt: {
      const Expr& e = literal.expr();
      if (e.type() == symbolic::ExprType::kBool && e.AsBool()) return Scalar(*e.AsBool());
      if (e.type() == symbolic::ExprType::kFloat && e.AsFloat()) return Scalar(*e.AsFloat());
      if (e.AsInt()) return Scalar(*e.AsInt());
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Tensor> HostArgs::OptionalTensor(int i) const {
  if (!values_[i].is_tensor()) return std::nullopt;
  return values_[i].tensor();
}

std::vector<Tensor> HostArgs::Tensors(int i) const {
  std::vector<lathe::Tensor> result;
  if (values_[i].index() != 3) return result;
  for (const HostValue& v : values_[i].list()) {
    result.push_back(v.is_tensor() ? v.tensor() : lathe::Tensor());
  }
  return result;
}

Scalar HostArgs::Number(int i) const {
  std::optional<Scalar> s = NumberOf(values_[i], literals_[i]);
  LATHE_CHECK(s.has_value()) << schema_->name << " argument " << i << " is no number";
  return *s;
}

std::optional<Scalar> HostArgs::OptionalNumber(int i) const {
  return NumberOf(values_[i], literals_[i]);
}

int64_t HostArgs::Int(int i) const { return Number(i).ToInt(); }

std::optional<int64_t> HostArgs::OptionalInt(int i) const {
  if (IsNone(i)) return std::nullopt;
  return Int(i);
}

std::vector<Scalar> HostArgs::Numbers(int i) const {
  std::vector<Scalar> result;
  if (values_[i].index() == 3) {
    for (const HostValue& v : values_[i].list()) result.push_back(v.scalar());
    return result;
  }
  if (literals_[i].is_none()) return result;
  for (const Argument& a : literals_[i].list()) {
    std::optional<Scalar> s = NumberOf({}, a);
    LATHE_CHECK(s.has_value()) << schema_->name << " argument " << i << " holds no numbers";
    result.push_back(*s);
  }
  return result;
}

std::vector<int64_t> HostArgs::Ints(int i) const {
  std::vector<int64_t> result;
  for (const Scalar& s : Numbers(i)) result.push_back(s.ToInt());
  return result;
}

std::optional<std::vector<int64_t>> HostArgs::OptionalInts(int i) const {
  if (IsNone(i)) return std::nullopt;
  return Ints(i);
}

bool HostArgs::Bool(int i) const { return Number(i).ToBool(); }
double HostArgs::Float(int i) const { return Number(i).ToDouble(); }

std::optional<double> HostArgs::OptionalFloat(int i) const {
  if (IsNone(i)) return std::nullopt;
  return Float(i);
}

const std::string& HostArgs::String(int i) const { return literals_[i].string(); }

std::optional<DType> HostArgs::OptionalDType(int i) const {
  if (literals_[i].is_none()) return std::nullopt;
  return literals_[i].dtype();
}

Tensor EvaluateContext::Allocate(int k) const {
  const TensorType& type = results[k].tensor();
  Dims sizes, strides;
  for (const Expr& e : type.sizes) {
    LATHE_CHECK(e.AsInt().has_value()) << args.schema().name << ": size of result " << k;
    sizes.push_back(*e.AsInt());
  }
  for (const Expr& e : type.strides) {
    LATHE_CHECK(e.AsInt().has_value()) << args.schema().name << ": stride of result " << k;
    strides.push_back(*e.AsInt());
  }
  if (type.offset == Expr(0)) return Tensor::EmptyStrided(type.dtype, sizes, strides);
  // No element lies before the offset; the storage has those places all the same.
  LATHE_CHECK(type.offset.AsInt().has_value()) << args.schema().name << ": offset of result " << k;
  const int64_t offset = *type.offset.AsInt();
  int64_t places = offset + 1;
  for (size_t d = 0; d < sizes.size(); ++d)
    places += std::max<int64_t>(0, sizes[d] - 1) * strides[d];
  return Tensor::Empty(type.dtype, {places}).AsStrided(sizes, strides, offset);
}

}  // namespace lathe
