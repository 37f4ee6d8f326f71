#ifndef LATHE_IR_GRAPH_TYPE_H_
#define LATHE_IR_GRAPH_TYPE_H_

// Types of graph values: a tensor with symbolic sizes and strides, a symbolic scalar, a list, or
// none.

#include <string>
#include <variant>
#include <vector>

#include "dtypes/dtype.h"
#include "runtime/tensor/device.h"
#include "symbolic/expr.h"

namespace lathe {

struct TensorType {
  DType dtype = DType::kF32;
  std::vector<Expr> sizes;
  std::vector<Expr> strides;  // in elements, as many as sizes
  Expr offset = 0;            // in elements
  Device device;

  int rank() const { return static_cast<int>(sizes.size()); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// A size or another number known only as an expression: int(s1), bool(u0 <= 4), float(e).
struct ScalarType {
  symbolic::ExprType kind = symbolic::ExprType::kInt;
  Expr value;
  friend bool operator==(const ScalarType&, const ScalarType&) = default;
};

struct ValueType;
struct ListType {
  std::vector<ValueType> elements;
  friend bool operator==(const ListType&, const ListType&);
};
struct NoneType {
  friend bool operator==(const NoneType&, const NoneType&) = default;
};

struct ValueType : std::variant<NoneType, TensorType, ScalarType, ListType> {
  using Base = std::variant<NoneType, TensorType, ScalarType, ListType>;
  using Base::Base;
  bool is_none() const { return index() == 0; }
  bool is_tensor() const { return index() == 1; }
  bool is_scalar() const { return index() == 2; }
  bool is_list() const { return index() == 3; }
  const TensorType& tensor() const { return std::get<TensorType>(*this); }
  TensorType& tensor() { return std::get<TensorType>(*this); }
  const ScalarType& scalar() const { return std::get<ScalarType>(*this); }
  const ListType& list() const { return std::get<ListType>(*this); }
};

inline bool operator==(const ListType& a, const ListType& b) { return a.elements == b.elements; }

// Row-major strides. Unlike Tensor's, sizes of 0 and unknown sizes multiply as max(size, 1) where
// eager does: a symbolic size is taken as it stands, a constant 0 counts as 1.
std::vector<Expr> ContiguousStrides(const std::vector<Expr>& sizes);
// A contiguous tensor type on `device`.
TensorType ContiguousType(DType dtype, std::vector<Expr> sizes, Device device = Device::Cpu());
// Identity of stride expressions with row-major ones, sizes of 1 ignored. Never guards.
bool IsContiguous(const TensorType& type);
Expr NumElements(const TensorType& type);

// "f32[s0, 64]{1, s0}+4 @cuda:0", "int(s0)", "none", "list(f32[2], none)".
std::string ToString(const ValueType& type);
std::string ToString(const TensorType& type);

}  // namespace lathe

#endif  // LATHE_IR_GRAPH_TYPE_H_
