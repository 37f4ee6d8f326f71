#include "ir/ops/result_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/sample_layout.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

// One dimension of a broadcast; nullopt when the sizes are known to differ.
std::optional<Expr> BroadcastSize(const Expr& a, const Expr& b, const ShapeEnv& shapes) {
  if (a == b || b == Expr(1)) return a;
  if (a == Expr(1)) return b;
  if (a.is_const() && b.is_const()) return std::nullopt;
  if (!a.is_const() && !b.is_const()) {
    if (shapes.IsKnownEqual(b, 1)) return a;
    if (shapes.IsKnownEqual(a, 1)) return b;
    const bool differ = shapes.IsKnownTrue(symbolic::Ne(a, b)) &&
                        shapes.IsKnownTrue(symbolic::Ne(a, 1)) &&
                        shapes.IsKnownTrue(symbolic::Ne(b, 1));
    if (differ) return std::nullopt;
  }
  symbolic::Assume(shapes, symbolic::Eq(a, b));
  return b.is_const() ? b : a;
}

}  // namespace

absl::StatusOr<std::vector<Expr>> BroadcastSizes(absl::Span<const std::vector<Expr>> sizes,
                                                 const ShapeEnv& shapes) {
  size_t rank = 0;
  for (const std::vector<Expr>& s : sizes) rank = std::max(rank, s.size());
  std::vector<Expr> result(rank, 1);
  for (const std::vector<Expr>& s : sizes) {
    for (size_t k = 0; k < s.size(); ++k) {
      size_t d = rank - s.size() + k;
      std::optional<Expr> size = BroadcastSize(result[d], s[k], shapes);
      if (!size) {
        return InvalidArgument("The size of tensor a (", symbolic::ToString(result[d]),
                               ") must match the size of tensor b (", symbolic::ToString(s[k]),
                               ") at non-singleton dimension ", d);
      }
      result[d] = *size;
    }
  }
  return result;
}

absl::StatusOr<std::vector<Expr>> BroadcastSizes(absl::Span<const TensorType> inputs,
                                                 const ShapeEnv& shapes) {
  std::vector<std::vector<Expr>> sizes;
  for (const TensorType& t : inputs) sizes.push_back(t.sizes);
  return BroadcastSizes(sizes, shapes);
}

std::vector<Expr> BroadcastIndex(const TensorType& input, const std::vector<Expr>& result_sizes,
                                 Index index) {
  size_t skipped = result_sizes.size() - input.sizes.size();
  std::vector<Expr> result;
  for (size_t d = 0; d < input.sizes.size(); ++d) {
    bool is_expanded = input.sizes[d] == Expr(1) && result_sizes[skipped + d] != Expr(1);
    result.push_back(is_expanded ? Expr(0) : index[skipped + d]);
  }
  return result;
}

TensorType ElementwiseType(DType dtype, std::vector<Expr> sizes,
                           absl::Span<const TensorType> inputs, const ShapeEnv& shapes) {
  TensorType result = ContiguousType(dtype, std::move(sizes), CommonDevice(inputs));
  bool all_contiguous = true;
  for (const TensorType& t : inputs) {
    all_contiguous &= t.sizes == result.sizes && t.strides == result.strides;
  }
  if (!all_contiguous) result.strides = IteratorStrides(result.sizes, inputs, shapes);
  return result;
}

std::vector<Expr> PreservedStrides(const TensorType& type, const ShapeEnv& shapes) {
  SampleLayout layout = SampleOf(type, shapes);
  if (layout.IsDense()) return type.strides;
  std::vector<int> order = layout.DenseOrder();
  std::vector<Expr> strides(type.rank(), 1);
  Expr next = 1;
  for (int d : order) {
    strides[d] = next;
    if (layout.sizes[d] > 1) next = next * type.sizes[d];
  }
  return strides;
}

TensorType WithStorageKept(TensorType type, const ShapeEnv& shapes) {
  bool repeats = false;
  for (int d = 0; d < type.rank(); ++d) {
    repeats |= type.strides[d] == Expr(0) && !(type.sizes[d] == Expr(1));
  }
  if (repeats && !SampleOf(type, shapes).IsDense()) {
    type.strides = PreservedStrides(type, shapes);
    type.offset = 0;
  }
  return type;
}

absl::StatusOr<std::vector<Expr>> FormatStrides(MemoryFormat format, const TensorType& type,
                                                const ShapeEnv& shapes) {
  switch (format) {
    case MemoryFormat::kContiguous:
      return ContiguousStrides(type.sizes);
    case MemoryFormat::kPreserve:
      return PreservedStrides(type, shapes);
    case MemoryFormat::kChannelsLast:
    case MemoryFormat::kChannelsLast3d:
      break;
  }
  int rank = format == MemoryFormat::kChannelsLast ? 4 : 5;
  if (type.rank() != rank) {
    return InvalidArgument("required rank ", rank, " tensor to use ",
                           rank == 4 ? "channels_last" : "channels_last_3d", " format, got rank ",
                           type.rank());
  }
  return ChannelsLastStrides(type.sizes);
}

bool IsContiguousIn(MemoryFormat format, const TensorType& type, const ShapeEnv& shapes) {
  switch (format) {
    case MemoryFormat::kContiguous:
      return SampleOf(type, shapes).IsContiguous();
    case MemoryFormat::kPreserve:
      return true;
    case MemoryFormat::kChannelsLast:
      return type.rank() == 4 && SampleOf(type, shapes).IsChannelsLast();
    case MemoryFormat::kChannelsLast3d:
      return type.rank() == 5 && SampleOf(type, shapes).IsChannelsLast();
  }
  return false;
}

DType NumberType(const OpArgs& args, int i) {
  if (std::optional<Expr> e = args.ScalarExpr(i)) {
    switch (e->type()) {
      case symbolic::ExprType::kBool:
        return DType::kBool;
      case symbolic::ExprType::kFloat:
        return DType::kF32;
      case symbolic::ExprType::kInt:
        return DType::kI64;
    }
  }
  return args.Number(i).DefaultDType();
}

absl::StatusOr<DType> PromotedType(const OpArgs& args, absl::Span<const int> operands) {
  std::vector<PromotionOperand> list;
  for (int i : operands) {
    if (args.IsNone(i)) continue;
    if (args.schema().arguments[i].type == SchemaArgument::Type::kTensor) {
      Value* tensor = args.OptionalTensor(i);
      if (tensor == nullptr) continue;
      const TensorType& type = tensor->type.tensor();
      list.push_back({type.dtype, type.rank() == 0 ? PromotionOperand::Rank::kZeroDim
                                                   : PromotionOperand::Rank::kDimensioned});
    } else {
      list.push_back({NumberType(args, i), PromotionOperand::Rank::kPythonScalar});
    }
  }
  if (list.empty()) return InvalidArgument(args.schema().name, ": no operand is given");
  // Numbers are of one kind, past the signed ones or not.
  const auto is_large = [](const PromotionOperand& operand) {
    return operand.rank == PromotionOperand::Rank::kPythonScalar && operand.dtype == DType::kU64;
  };
  if (std::any_of(list.begin(), list.end(), is_large)) {
    for (PromotionOperand& operand : list) {
      const bool is_number = operand.rank == PromotionOperand::Rank::kPythonScalar;
      if (is_number && operand.dtype == DType::kI64) operand.dtype = DType::kU64;
    }
  }
  absl::StatusOr<DType> type = ResultType(list);
  if (!type.ok()) return Annotate(type.status(), args.schema().name);
  return type;
}

Device CommonDevice(absl::Span<const TensorType> inputs) {
  for (const TensorType& t : inputs) {
    if (t.device.type != Device::Type::kCpu) return t.device;
  }
  return Device::Cpu();
}

absl::StatusOr<std::vector<int>> ReducedDims(const std::vector<int64_t>& dims, int rank) {
  std::vector<int> result;
  if (dims.empty()) {
    for (int d = 0; d < rank; ++d) result.push_back(d);
    return result;
  }
  for (int64_t dim : dims) {
    LATHE_ASSIGN_OR_RETURN(int wrapped, WrapDim(dim, rank));
    if (std::find(result.begin(), result.end(), wrapped) != result.end()) {
      return InvalidArgument("dim ", wrapped, " appears multiple times in the list of dims");
    }
    result.push_back(wrapped);
  }
  if (rank == 0) result.clear();
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<Expr> ReducedSizes(const std::vector<Expr>& sizes, absl::Span<const int> dims,
                               bool keepdim) {
  std::vector<Expr> result;
  for (int d = 0; d < static_cast<int>(sizes.size()); ++d) {
    bool is_reduced = std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!is_reduced) result.push_back(sizes[d]);
    if (is_reduced && keepdim) result.push_back(1);
  }
  return result;
}

InferFunction SameTypeAs(int i) {
  return [i](const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
    return std::vector<ValueType>{c.args.Type(i)};
  };
}

}  // namespace lathe
