// Writes by an index tensor: scatter and its reductions, index_add, index_copy, index_fill, put.

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/index/host_reduce.h"
#include "ir/ops/index/index_rows.h"
#include "ir/ops/index/place_from_zero.h"
#include "ir/ops/result_rules.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/reshape_index.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Results = absl::StatusOr<std::vector<HostValue>>;

// How the arguments of one of these schemas are read; positions, -1: absent.
struct Form {
  int index = 2;
  int source = 3;         // a tensor, or a number
  bool is_whole = false;  // the index is a vector along `dim` (index_add...), not one per element
  int reduce = -1, include_self = -1, alpha = -1;
  std::string fixed_reduce = "";  // when the schema has no such argument: "" replaces
  bool has_include_self_default = true;
  bool wraps = false;  // negative indexes count from the end
};

bool SourceIsTensor(const OpArgs& args, const Form& form) {
  return args.schema().arguments[form.source].type == SchemaArgument::Type::kTensor;
}

std::string ReduceOf(const OpArgs& args, const Form& form) {
  return form.reduce >= 0 ? args.String(form.reduce) : form.fixed_reduce;
}

absl::StatusOr<int> DimOf(const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(int64_t dim, args.ConstantInt(1));
  return WrapDim(dim, args.Type(0).rank());
}

absl::Status CheckElementwise(const InferContext& c, const Form& form, int dim) {
  const TensorType &self = c.args.Type(0), &index = c.args.Type(form.index);
  if (NumElements(index) == 0) return absl::OkStatus();
  if (std::max(self.rank(), 1) != std::max(index.rank(), 1)) {
    return InvalidArgument(c.args.schema().name,
                           ": index tensor must have the same number of "
                           "dimensions as self tensor, got ",
                           ToString(index), " for ", ToString(self));
  }
  for (int d = 0; d < std::min(index.rank(), self.rank()); ++d) {
    if (d == dim ||
        !symbolic::IsRefused(c.shapes, symbolic::And(symbolic::Gt(index.sizes[d], self.sizes[d]),
                                                     symbolic::Ne(NumElements(index), 0)))) {
      continue;
    }
    return InvalidArgument(c.args.schema().name, ": expected index ", ToString(index.sizes),
                           " to be no larger than self ", ToString(self.sizes),
                           " apart from dimension ", dim);
  }
  return absl::OkStatus();
}

// Every place of the index takes an element of the source.
absl::Status CheckSourceCoversIndex(const InferContext& c, const Form& form, int dim) {
  const TensorType& index = c.args.Type(form.index);
  const TensorType& source = c.args.Type(form.source);
  bool fits = true;
  if (form.is_whole) {
    const Expr taken = source.rank() == 0 ? Expr(1) : source.sizes[dim];
    fits = !symbolic::IsRefused(c.shapes, symbolic::Ne(NumElements(index), taken));
  } else if (index.rank() == source.rank()) {
    for (int d = 0; d < index.rank(); ++d) {
      fits = fits && !symbolic::IsRefused(
                         c.shapes, symbolic::And(symbolic::Gt(index.sizes[d], source.sizes[d]),
                                                 symbolic::Ne(NumElements(index), 0)));
    }
  } else {
    fits = std::max(index.rank(), 1) == std::max(source.rank(), 1);
  }
  if (fits) return absl::OkStatus();
  return InvalidArgument(c.args.schema().name, ": the index ", ToString(index),
                         " does not fit the source ", ToString(source));
}

Types InferScatter(const InferContext& c, const Form& form) {
  LATHE_ASSIGN_OR_RETURN(int dim, DimOf(c.args));
  const TensorType& self = c.args.Type(0);
  const DType index = c.args.Type(form.index).dtype;
  const bool has_elements = !(NumElements(c.args.Type(form.index)) == 0);
  if (self.dtype == DType::kBool && has_elements && form.reduce >= 0 &&
      c.args.String(form.reduce) == "mean") {
    return InvalidArgument(c.args.schema().name, ": the mean of bool is not supported");
  }
  if (has_elements && index != DType::kI64 && index != DType::kI32) {
    return InvalidArgument(c.args.schema().name, ": expected dtype int32/int64 for index, got ",
                           Name(index));
  }
  if (form.is_whole) {
    if (c.args.Type(form.index).rank() > 1) {
      return InvalidArgument(c.args.schema().name, ": index is supposed to be a vector, got ",
                             ToString(c.args.Type(form.index)));
    }
  } else {
    LATHE_RETURN_IF_ERROR(CheckElementwise(c, form, dim));
  }
  if (SourceIsTensor(c.args, form) && c.args.Type(form.source).dtype != self.dtype) {
    return InvalidArgument(c.args.schema().name,
                           ": expected self.dtype to be equal to src.dtype, "
                           "got ",
                           Name(self.dtype), " and ", Name(c.args.Type(form.source).dtype));
  }
  if (SourceIsTensor(c.args, form) && has_elements) {
    LATHE_RETURN_IF_ERROR(CheckSourceCoversIndex(c, form, dim));
  }
  // Eager clones self for index_fill alone.
  if (!form.wraps) return One(ContiguousType(self.dtype, self.sizes, self.device));
  TensorType type = self;
  type.strides = PreservedStrides(self, c.shapes);
  type.offset = 0;
  return One(std::move(type));
}

// ---- Lowering: one store an element of the source ----

absl::StatusOr<StoreMode> ModeOf(const OpArgs& args, const Form& form) {
  const std::string reduce = ReduceOf(args, form);
  if (reduce.empty()) return StoreMode::kPlain;
  const bool include_self = form.include_self < 0 || args.Bool(form.include_self);
  if ((reduce == "sum" || reduce == "add") && include_self) return StoreMode::kAtomicAdd;
  return Unimplemented(args.schema().name, " with reduce='", reduce, "' inside a loop");
}

// Reductions that no store of a loop does: one precompiled function.
std::optional<ExternLoops> AsExtern(const LowerContext& c, const Form& form, int dim) {
  const DType dtype = c.args.Type(0).dtype;
  if (form.is_whole || !SourceIsTensor(c.args, form) || IsSubByte(dtype) ||
      c.args.Type(0).rank() == 0 || c.args.Type(form.index).rank() == 0 ||
      c.args.Type(form.source).rank() == 0 || !IsContiguous(c.result())) {
    return std::nullopt;
  }
  std::string reduce = ReduceOf(c.args, form);
  if (reduce == "multiply") reduce = "prod";
  if (reduce == "add") reduce = "sum";
  const bool include_self = form.include_self < 0 || c.args.Bool(form.include_self);
  ExternLoops scatter;
  scatter.id = "scatter_reduce";
  scatter.attributes =
      absl::StrCat("dim=", dim, ";op=", reduce, ";include_self=", include_self ? "true" : "false");
  scatter.inputs = {c.args.Tensor(0), c.args.Tensor(form.index), c.args.Tensor(form.source)};
  return scatter;
}

absl::StatusOr<std::vector<Lowered>> LowerScatter(const LowerContext& c, const Form& form) {
  LATHE_ASSIGN_OR_RETURN(int dim, DimOf(c.args));
  if (NumElements(c.args.Type(form.index)) == 0) {
    return std::vector<Lowered>{
        PointwiseLoops{[self = c.args.Tensor(0)](OpsHandler& ops, TensorReader& in, Index at) {
          return in.Load(ops, self, at);
        }}};
  }
  absl::StatusOr<StoreMode> plain = ModeOf(c.args, form);
  if (!plain.ok()) {
    std::optional<ExternLoops> scatter = AsExtern(c, form, dim);
    if (!scatter.has_value()) return plain.status();
    return std::vector<Lowered>{*std::move(scatter)};
  }
  const StoreMode mode = *plain;
  Value *self = c.args.Tensor(0), *index = c.args.Tensor(form.index);
  const TensorType type = TypeOf(self), index_type = TypeOf(index);
  if (type.rank() == 0) return Unimplemented(c.args.schema().name, " of a 0-dim tensor in a loop");
  ScatterLoops scatter;
  scatter.base = self;
  scatter.mode = mode;
  scatter.serial = true;
  // A 0-dim index is a vector of one.
  scatter.sizes = index_type.rank() == 0 ? std::vector<Expr>{1} : index_type.sizes;
  if (form.is_whole) {
    scatter.sizes = type.sizes;
    scatter.sizes[dim] = index_type.rank() == 0 ? Expr(1) : index_type.sizes[0];
  }
  const bool is_whole = form.is_whole, wraps = form.wraps;
  scatter.where = [=](OpsHandler& ops, TensorReader& in, Index at) {
    std::vector<Expr> from(at.begin(), at.end()), place = from;
    if (is_whole) from = {at[dim]};
    if (index_type.rank() == 0) from.clear();
    const OpsValue i = in.Load(ops, index, from);
    place[dim] = wraps ? ops.Indirect(i, type.sizes[dim]) : PlaceFromZero(ops, i, type.sizes[dim]);
    return place;
  };
  if (SourceIsTensor(c.args, form)) {
    Value* source = c.args.Tensor(form.source);
    std::optional<Scalar> alpha;
    if (form.alpha >= 0) alpha = c.args.Number(form.alpha);
    scatter.body = [=](OpsHandler& ops, TensorReader& in, Index at) {
      Index from = TypeOf(source).rank() == 0 ? Index() : at;
      OpsValue v = in.Load(ops, source, from);
      if (!alpha || *alpha == Scalar(1)) return v;
      return ops.Mul(v, ops.Constant(*alpha, ops.dtype(v)));
    };
  } else {
    Scalar value = Convert(c.args.Number(form.source), type.dtype);
    scatter.body = [=](OpsHandler& ops, TensorReader&, Index) {
      return ops.Constant(value, LoadedDType(type.dtype));
    };
  }
  return std::vector<Lowered>{std::move(scatter)};
}

// ---- Evaluation ----

// The loop's sizes, and for each of its elements the place in self.
absl::StatusOr<std::vector<int64_t>> PlacesOf(const Tensor& self, const Tensor& index, int dim,
                                              const Form& form, Dims& sizes) {
  const bool is_whole = form.is_whole;
  std::vector<int64_t> values = ToVector<int64_t>(index);
  const Dims self_sizes = self.rank() == 0 ? Dims{1} : self.sizes();
  sizes = index.rank() == 0 ? Dims{1} : index.sizes();
  if (is_whole) {
    sizes = self_sizes;
    sizes[dim] = static_cast<int64_t>(values.size());
  }
  for (int64_t& i : values) {
    if (form.wraps && i >= -self_sizes[dim] && i < 0) i += self_sizes[dim];
    if (i < 0 || i >= self_sizes[dim]) {
      return OutOfRange("index ", i, " is out of bounds for dimension ", dim, " with size ",
                        self_sizes[dim]);
    }
  }
  std::vector<int64_t> places;
  ForEachIndex(sizes, [&](const Position& p) {
    Position at = p;
    at[dim] = values[is_whole ? p[dim] : static_cast<int64_t>(places.size())];
    places.push_back(Linear(at, self_sizes));
  });
  return places;
}

Results EvaluateScatter(const EvaluateContext& c, const Form& form) {
  const Tensor& self = c.args.Tensor(0);
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(1), self.rank()));
  Dims sizes;
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> places,
                         PlacesOf(self, c.args.Tensor(form.index), dim, form, sizes));
  Tensor out = c.Allocate();
  out.CopyFrom(self);
  const std::string reduce = form.reduce >= 0 ? c.args.String(form.reduce) : form.fixed_reduce;
  const bool include_self = form.include_self < 0 || c.args.Bool(form.include_self);
  Tensor source;
  const bool is_tensor =
      c.args.schema().arguments[form.source].type == SchemaArgument::Type::kTensor;
  if (is_tensor) {
    // The source may be larger than the index: its first places count.
    const Tensor& given = c.args.Tensor(form.source);
    source = given.rank() == static_cast<int>(sizes.size())
                 ? given.AsStrided(sizes, given.strides(), given.offset())
                 : BroadcastTo(given, sizes);
  }
  return VisitWide(self.dtype(), [&]<typename T>(TypeTag<T>) -> Results {
    std::vector<T> values;
    if (is_tensor) {
      values = ToVector<T>(source);
    } else {
      Tensor one = Tensor::FromScalar(self.dtype(), c.args.Number(form.source));
      values.assign(places.size(), ToVector<T>(one)[0]);
    }
    if (form.alpha >= 0) {
      const T alpha = ToVector<T>(Tensor::FromScalar(self.dtype(), c.args.Number(form.alpha)))[0];
      for (T& v : values) v = RoundedStep(T(WrappingProduct(v, alpha)), self.dtype());
    }
    std::vector<T> result = ToVector<T>(out);
    LATHE_RETURN_IF_ERROR(ReduceInto<T>(reduce, include_self, places, values, result,
                                        IsFloat(self.dtype()), out.dtype()));
    FromVector<T>(result, out);
    return OneResult(out);
  });
}

// Whether eager gathers what meets a place in f32 and rounds once: all but vectors of index_add.
bool GathersWide(const OpArgs& args, const Form& form) {
  const TensorType& self = args.Type(0);
  return !ReduceOf(args, form).empty() && ComputeType(self.dtype) != self.dtype &&
         !(form.is_whole && self.rank() <= 1);
}

// "aten.scatter_add" by "lathe.scatter_add", in f32 where eager is.
DecomposeFunction ByWideForm(std::string name, Form form) {
  return [=](Builder& b, const OpArgs& args) -> absl::StatusOr<Arguments> {
    std::vector<CallArgument> arguments;
    for (int k = 0; k < args.size(); ++k) arguments.emplace_back(args[k]);
    const DType dtype = args.Type(0).dtype;
    if (args.Type(form.index).dtype == DType::kI32) {
      arguments[form.index] = CastTo(b, args.Tensor(form.index), DType::kI64);
    }
    // Only sums of one number are loops: others take a tensor of it.
    if (!SourceIsTensor(args, form) && ReduceOf(args, form) != "add") {
      Value* source =
          b.Call("aten.full_like", {args[form.index], args[form.source]}, {{"dtype", dtype}});
      return OneArgument(b.Call("aten.scatter.reduce", {args[0], args[1], args[2], source},
                                {{"reduce", args[form.reduce]}}));
    }
    // Operands of two dtypes are for the form to refuse.
    const bool fits = !SourceIsTensor(args, form) || args.Type(form.source).dtype == dtype;
    if (!fits || !GathersWide(args, form)) {
      return OneArgument(b.Call(name, std::move(arguments)));
    }
    arguments[0] = CastTo(b, args.Tensor(0), DType::kF32);
    if (SourceIsTensor(args, form)) {
      arguments[form.source] = CastTo(b, args.Tensor(form.source), DType::kF32);
    }
    return OneArgument(CastTo(b, b.Call(name, std::move(arguments)), dtype));
  };
}

OpRow ScatterRow(std::string schema, std::string doc, Form form, bool is_lowered = true) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = [form](const InferContext& c) { return InferScatter(c, form); };
  if (is_lowered) {
    row.lower = [form](const LowerContext& c) { return LowerScatter(c, form); };
  }
  row.evaluate = [form](const EvaluateContext& c) { return EvaluateScatter(c, form); };
  return row;
}

// A row that reduces, and the one that does it.
void AddReducing(std::vector<OpRow>& rows, const std::string& schema, const std::string& doc,
                 Form form) {
  const std::string rest = schema.substr(std::string("aten::").size());
  rows.push_back(ScatterRow("lathe::" + rest, doc, form));
  OpRow row;
  row.schema = schema;
  row.doc = doc;
  row.decompose = ByWideForm("lathe." + rest.substr(0, rest.find('(')), form);
  rows.push_back(std::move(row));
}

// index_reduce: scatter_reduce with the index repeated along the other dimensions. Narrow floats,
// which eager rounds at every step, go one by one.
absl::StatusOr<Arguments> DecomposeIndexReduce(Builder& b, const OpArgs& args) {
  const TensorType &self = args.Type(0), &index = args.Type(2), &source = args.Type(3);
  const bool fits = self.rank() > 0 && self.rank() == source.rank() && index.rank() == 1 &&
                    self.dtype == source.dtype && ComputeType(self.dtype) == self.dtype &&
                    !IsBool(self.dtype) && !(NumElements(index) == 0);
  LATHE_ASSIGN_OR_RETURN(int dim, DimOf(args));
  if (!fits ||
      !symbolic::IsAccepted(b.shapes(), symbolic::Eq(index.sizes[0], source.sizes[dim]), {})) {
    return OneArgument(b.Call("lathe.index_reduce", {args[0], args[1], args[2], args[3], args[4]},
                              {{"include_self", args.Bool(5)}}));
  }
  std::vector<Expr> sizes(self.rank(), 1);
  sizes[dim] = index.sizes[0];
  Value* places = Reshape(b, CastTo(b, args.Tensor(2), DType::kI64), sizes);
  places = b.Call("aten.expand", {places, source.sizes});
  return OneArgument(b.Call("lathe.scatter_reduce.two",
                            {args[0], Argument::Int(dim), places, args[3], args[4]},
                            {{"include_self", args.Bool(5)}}));
}

// put(self, index, source, accumulate): index_put on self as a vector.
absl::StatusOr<Arguments> DecomposePut(Builder& b, const OpArgs& args) {
  Value *self = args.Tensor(0), *index = args.Tensor(1), *source = args.Tensor(2);
  const TensorType type = TypeOf(self);
  if (TypeOf(source).dtype != type.dtype) {
    return InvalidArgument("put_(): self and source expected to have the same dtype, but got ",
                           ToString(type), " and ", ToString(TypeOf(source)));
  }
  if (NumElements(TypeOf(index)) == 0) return OneArgument(Clone(b, self, MemoryFormat::kPreserve));
  Value* flat = Reshape(b, self, {-1});
  Value* at = Reshape(b, index, {-1});
  Value* put = b.Call("aten.index_put", {flat, CallArgument(std::vector<Value*>{at}),
                                         Reshape(b, source, {-1}), args.Bool(3)});
  // Like index_put, a clone of self with other elements.
  Value* result = Clone(b, self, MemoryFormat::kPreserve);
  return OneArgument(b.Call("aten.copy", {result, Reshape(b, put, type.sizes)}));
}

// index_fill with a tensor: its one number.
absl::StatusOr<Arguments> DecomposeIndexFillTensor(Builder& b, const OpArgs& args) {
  Value *self = args.Tensor(0), *value = args.Tensor(3);
  if (TypeOf(value).rank() != 0) {
    return InvalidArgument("index_fill_ only supports a 0-dimensional value tensor, but got ",
                           ToString(TypeOf(value)));
  }
  LATHE_ASSIGN_OR_RETURN(int dim, DimOf(args));
  std::vector<Expr> sizes = TypeOf(self).sizes;
  const TensorType& index = args.Type(2);
  if (!sizes.empty()) sizes[dim] = index.rank() == 0 ? Expr(1) : index.sizes[0];
  Value* filled = b.Call("aten.expand", {CastTo(b, value, TypeOf(self).dtype), sizes});
  filled = b.Call("aten.index_copy", {self, args[1], args[2], filled});
  return OneArgument(b.Call("aten.copy", {Clone(b, self, MemoryFormat::kPreserve), filled}));
}

}  // namespace

std::vector<OpRow> ScatterRows() {
  std::vector<OpRow> rows;
  const std::string head = "(Tensor self, int dim, Tensor index, ";
  rows.push_back(ScatterRow("aten::scatter.src" + head + "Tensor src) -> Tensor",
                            "self with the places that the index names replaced by src.", Form{}));
  rows.push_back(ScatterRow("aten::scatter.value" + head + "Scalar value) -> Tensor",
                            "self with the places that the index names replaced by a number.",
                            Form{}));
  AddReducing(rows, "aten::scatter.reduce" + head + "Tensor src, *, str reduce) -> Tensor",
              "self with src added to, or multiplied into, the places that the index "
              "names.",
              Form{.reduce = 4});
  AddReducing(rows, "aten::scatter.value_reduce" + head + "Scalar value, *, str reduce) -> Tensor",
              "self with a number added to, or multiplied into, the places that the "
              "index names.",
              Form{.reduce = 4});
  AddReducing(rows, "aten::scatter_add" + head + "Tensor src) -> Tensor",
              "self with src added at the places that the index names.",
              Form{.fixed_reduce = "sum"});
  AddReducing(rows,
              "aten::scatter_reduce.two" + head +
                  "Tensor src, str reduce, *, bool include_self=True) -> Tensor",
              "self with src reduced (sum, prod, mean, amax, amin) into the places "
              "that the index names.",
              Form{.reduce = 4, .include_self = 5});
  AddReducing(rows, "aten::index_add" + head + "Tensor source, *, Scalar alpha=1) -> Tensor",
              "self with alpha * source added at places of a dimension.",
              Form{.is_whole = true, .alpha = 4, .fixed_reduce = "sum"});
  rows.push_back(ScatterRow("aten::index_copy" + head + "Tensor source) -> Tensor",
                            "self with places of a dimension replaced by source.",
                            Form{.is_whole = true}));
  rows.push_back(ScatterRow("aten::index_fill.int_Scalar" + head + "Scalar value) -> Tensor",
                            "self with places of a dimension set to a number.",
                            Form{.is_whole = true, .wraps = true}));
  const std::string index_reduce =
      "index_reduce" + head + "Tensor source, str reduce, *, bool include_self=True) -> Tensor";
  rows.push_back(ScatterRow("lathe::" + index_reduce, "index_reduce, step by step.",
                            Form{.is_whole = true, .reduce = 4, .include_self = 5}, false));
  OpRow by_index;
  by_index.schema = "aten::" + index_reduce;
  by_index.doc = "self with source reduced (prod, mean, amax, amin) into places of a dimension.";
  by_index.decompose = DecomposeIndexReduce;
  rows.push_back(std::move(by_index));
  OpRow fill;
  fill.schema = "aten::index_fill.int_Tensor" + head + "Tensor value) -> Tensor";
  fill.doc = "self with places of a dimension set to a number held by a tensor.";
  fill.decompose = DecomposeIndexFillTensor;
  rows.push_back(std::move(fill));
  OpRow put;
  put.schema =
      "aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor";
  put.doc = "self, seen as a vector, with places replaced by, or increased by, source.";
  put.decompose = DecomposePut;
  rows.push_back(std::move(put));
  return rows;
}

}  // namespace lathe
