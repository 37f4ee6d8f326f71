// Tensors computed from the index alone: arange, linspace, logspace, eye, triangular indices.

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/create/create_rows.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/view/loop_masks.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Results = absl::StatusOr<std::vector<HostValue>>;

// ---- arange ----

// Start, end and step: integers, or one of them a float. Each may be a number that only a call
// knows.
struct Arange {
  Expr start = 0, end = 0, step = 1;
  bool is_integer = true;
};

Expr BoundOf(const OpArgs& args, int i) {
  if (auto e = args.ScalarExpr(i)) return *e;
  const Scalar s = args.Number(i);
  return s.is_float() ? Expr::Float(s.ToDouble()) : Expr(s.ToInt());
}

// The schema names which of the three are given.
Arange ArangeOf(const OpArgs& args) {
  const Schema& schema = args.schema();
  Arange range;
  if (int i = ArgumentNamed(schema, "start"); i >= 0) range.start = BoundOf(args, i);
  if (int i = ArgumentNamed(schema, "step"); i >= 0) range.step = BoundOf(args, i);
  range.end = BoundOf(args, ArgumentNamed(schema, "end"));
  for (const Expr& e : {range.start, range.end, range.step}) {
    range.is_integer &= e.type() == symbolic::ExprType::kInt;
  }
  return range;
}

// How many numbers, rounded as eager does: the quotient of doubles, then its ceiling or floor + 1.
absl::StatusOr<Expr> FloatCount(const Arange& range, bool inclusive, ExprContext& context) {
  const auto start = range.start.AsFloat(), end = range.end.AsFloat(), step = range.step.AsFloat();
  if (step == 0.0) return InvalidArgument("arange: step must be nonzero");
  if (!start || !end || !step) {
    const Expr quotient = symbolic::TrueDiv(range.end - range.start, range.step);
    const Expr count = context.Make(
        inclusive ? symbolic::ExprKind::kFloor : symbolic::ExprKind::kCeil, {quotient});
    return inclusive ? count + 1 : count;
  }
  double count = (*end - *start) / *step;
  count = inclusive ? std::floor(count) + 1 : std::ceil(count);
  if (!std::isfinite(count) || std::abs(count) > 9e18) {
    return InvalidArgument("arange: unsupported range: ", *start, " -> ", *end);
  }
  return Expr(static_cast<int64_t>(count));
}

// aten.range has its end among the numbers, and gives f32 unless told otherwise.
bool IncludesEnd(const Schema& schema) { return absl::StartsWith(schema.name, "aten.range"); }

Types InferArange(const InferContext& c) {
  Arange range = ArangeOf(c.args);
  const bool inclusive = IncludesEnd(c.args.schema());
  const bool gives_integers = range.is_integer && !inclusive;
  LATHE_ASSIGN_OR_RETURN(FactoryOptions options,
                         OptionsOf(c.args, gives_integers ? DType::kI64 : DType::kF32));
  Expr size;
  if (range.is_integer) {
    const Expr span = range.end - range.start;
    if (range.step == 0) return InvalidArgument("arange: step must be nonzero");
    size =
        inclusive ? symbolic::FloorDiv(span, range.step) + 1 : symbolic::CeilDiv(span, range.step);
    size = c.shapes.Simplify(size);
  } else {
    LATHE_ASSIGN_OR_RETURN(size, FloatCount(range, inclusive, c.shapes.context()));
  }
  if (symbolic::IsRefused(c.shapes, symbolic::Lt(size, 0))) {
    return InvalidArgument("arange: upper bound and lower bound inconsistent with step sign");
  }
  return std::vector<ValueType>{ContiguousType(options.dtype, {size}, options.device)};
}

absl::StatusOr<std::vector<Lowered>> LowerArange(const LowerContext& c) {
  const Arange range = ArangeOf(c.args);
  if (range.is_integer) {
    return std::vector<Lowered>{
        PointwiseLoops{[range](OpsHandler& ops, TensorReader&, Index index) {
          return ops.IndexExpr(index[0] * range.step + range.start, DType::kI64);
        }}};
  }
  return std::vector<Lowered>{PointwiseLoops{[range](OpsHandler& ops, TensorReader&, Index index) {
    const auto number = [&](const Expr& e) {
      const auto constant = e.AsFloat();
      return constant ? ops.Constant(Scalar(*constant), DType::kF64)
                      : ops.IndexExpr(e, DType::kF64);
    };
    return ops.Add(number(range.start),
                   ops.Mul(ops.IndexExpr(index[0], DType::kF64), number(range.step)));
  }}};
}

Results EvaluateArange(const EvaluateContext& c) {
  const Schema& schema = c.args.schema();
  Scalar start = 0, step = 1;
  if (int i = ArgumentNamed(schema, "start"); i >= 0) start = c.args.Number(i);
  if (int i = ArgumentNamed(schema, "step"); i >= 0) step = c.args.Number(i);
  const bool is_float =
      start.is_float() || step.is_float() || c.args.Number(ArgumentNamed(schema, "end")).is_float();
  Tensor out = c.Allocate();
  for (int64_t k = 0; k < out.numel(); ++k) {
    if (is_float) {
      out.SetLinear(k, Scalar(start.ToDouble() + step.ToDouble() * static_cast<double>(k)));
    } else {
      out.SetLinear(k, Scalar(start.ToInt() + step.ToInt() * k));
    }
  }
  return OneResult(out);
}

OpRow ArangeRow(const std::string& name, const std::string& arguments, std::string doc,
                std::vector<std::string> samples) {
  OpRow row;
  row.schema = WithOptions("aten::" + name + "(" + arguments);
  row.doc = std::move(doc);
  row.infer = InferArange;
  row.lower = LowerArange;
  row.evaluate = EvaluateArange;
  row.samples = std::move(samples);
  return row;
}

// ---- linspace and logspace ----

// Both ends may be numbers or 0-dim tensors.
bool IsTensorArgument(const Schema& schema, int i) {
  return schema.arguments[i].type == SchemaArgument::Type::kTensor;
}

Types InferLinspace(const InferContext& c) {
  bool is_complex = false;
  for (int i : {0, 1}) {
    if (!IsTensorArgument(c.args.schema(), i)) {
      is_complex |= !c.args.ScalarExpr(i) && c.args.Number(i).is_complex();
      continue;
    }
    is_complex |= IsComplex(c.args.Type(i).dtype);
    if (c.args.Type(i).rank() != 0) {
      return InvalidArgument("linspace only supports 0-dimensional start and end tensors, but got ",
                             ToString(c.args.Type(i)));
    }
  }
  LATHE_ASSIGN_OR_RETURN(FactoryOptions options,
                         OptionsOf(c.args, is_complex ? DType::kC64 : DType::kF32));
  if (symbolic::IsRefused(c.shapes, symbolic::Lt(c.args.Int(2), 0))) {
    return InvalidArgument("number of steps must be non-negative");
  }
  return std::vector<ValueType>{ContiguousType(options.dtype, {c.args.Int(2)}, options.device)};
}

double BaseOf(const OpArgs& args) {
  int i = ArgumentNamed(args.schema(), "base");
  return i < 0 ? 0 : args.Float(i);
}

// The ends of linspace are numbers of an integer result's dtype; others keep what they have.
DType EndType(bool is_linspace, DType result) {
  return is_linspace && IsInteger(result) ? result : DType::kF64;
}

// Steps from both ends, so that the last element is `end` itself.
absl::StatusOr<std::vector<Lowered>> LowerLinspace(const LowerContext& c) {
  const Expr steps = c.args.Int(2);
  const double base = BaseOf(c.args);
  const DType ends = EndType(base == 0, c.result().dtype);
  auto end_of = [&](int i) -> std::function<OpsValue(OpsHandler&, TensorReader&)> {
    if (IsTensorArgument(c.args.schema(), i)) {
      return [=, t = c.args.Tensor(i)](OpsHandler& ops, TensorReader& in) {
        return ops.Cast(ops.Cast(in.Load(ops, t, {}), ends), DType::kF64);
      };
    }
    if (auto e = c.args.ScalarExpr(i)) {
      return [e = *e](OpsHandler& ops, TensorReader&) { return ops.IndexExpr(e, DType::kF64); };
    }
    return [v = Convert(c.args.Number(i), ends).ToDouble()](OpsHandler& ops, TensorReader&) {
      return ops.Constant(Scalar(v), DType::kF64);
    };
  };
  auto start = end_of(0), end = end_of(1);
  return std::vector<Lowered>{PointwiseLoops{[=](OpsHandler& ops, TensorReader& in, Index index) {
    OpsValue first = start(ops, in), last = end(ops, in);
    OpsValue count = ops.IndexExpr(symbolic::Max(steps - 1, 1), DType::kF64);
    OpsValue step = ops.Div(ops.Sub(last, first), count);
    OpsValue up = ops.Add(first, ops.Mul(step, ops.IndexExpr(index[0], DType::kF64)));
    OpsValue down = ops.Sub(last, ops.Mul(step, ops.IndexExpr(steps - 1 - index[0], DType::kF64)));
    // One step is `start`, as eager has it.
    OpsValue in_first_half =
        steps == 1 ? TrueMask(ops) : IsBelow(ops, index[0], symbolic::FloorDiv(steps, 2));
    OpsValue value = ops.Where(in_first_half, up, down);
    return base == 0 ? value : ops.Pow(ops.Constant(Scalar(base), DType::kF64), value);
  }}};
}

Results EvaluateLinspace(const EvaluateContext& c) {
  Tensor out = c.Allocate();
  int base_argument = ArgumentNamed(c.args.schema(), "base");
  auto end_of = [&](int i) {
    const Scalar end =
        IsTensorArgument(c.args.schema(), i) ? c.args.Tensor(i).AtLinear(0) : c.args.Number(i);
    if (IsComplex(out.dtype())) return end.ToComplex();
    return std::complex<double>(Convert(end, EndType(base_argument < 0, out.dtype())).ToDouble());
  };
  const std::complex<double> start = end_of(0), end = end_of(1);
  const int64_t steps = out.numel();
  const std::complex<double> step =
      (end - start) / static_cast<double>(std::max<int64_t>(steps - 1, 1));
  for (int64_t k = 0; k < steps; ++k) {
    std::complex<double> value = k < steps / 2 || steps == 1
                                     ? start + step * static_cast<double>(k)
                                     : end - step * static_cast<double>(steps - 1 - k);
    if (base_argument >= 0) {
      const double base = c.args.Float(base_argument);
      value = IsComplex(out.dtype()) ? std::pow(std::complex<double>(base), value)
                                     : std::pow(base, value.real());
    }
    if (IsComplex(out.dtype())) {
      out.SetLinear(k, Scalar(value));
    } else {
      out.SetLinear(k, Scalar(value.real()));
    }
  }
  return OneResult(out);
}

std::vector<OpRow> LinspaceRows() {
  std::vector<OpRow> rows;
  for (const char* name : {"linspace", "logspace"}) {
    const bool is_log = std::string(name) == "logspace";
    for (const char* overload : {"", ".Tensor_Tensor", ".Tensor_Scalar", ".Scalar_Tensor"}) {
      const std::string o = overload;
      OpRow row;
      row.schema = WithOptions(absl::StrCat(
          "aten::", name, o, "(", o.substr(0, 7) == ".Tensor" ? "Tensor" : "Scalar", " start, ",
          o == ".Tensor_Tensor" || o == ".Scalar_Tensor" ? "Tensor" : "Scalar", " end, int steps",
          is_log ? ", float base=10.0" : ""));
      row.doc = is_log ? "base to the power of evenly spaced numbers."
                       : "`steps` evenly spaced numbers from start to end, both included.";
      row.infer = InferLinspace;
      row.lower = LowerLinspace;
      row.evaluate = EvaluateLinspace;
      if (o.empty()) row.samples = {absl::StrCat("aten.", name, "(0.0, 2.0, 5)")};
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// ---- eye ----

OpRow EyeRow(const std::string& overload, const std::string& arguments, std::string sample) {
  OpRow row;
  row.schema = WithOptions("aten::eye" + overload + "(" + arguments);
  row.doc = "Ones on the diagonal of a matrix of zeros.";
  row.infer = [](const InferContext& c) -> Types {
    LATHE_ASSIGN_OR_RETURN(FactoryOptions options, OptionsOf(c.args, DType::kF32));
    int m = ArgumentNamed(c.args.schema(), "m");
    std::vector<Expr> sizes = {c.args.Int(0), c.args.Int(m < 0 ? 0 : m)};
    return std::vector<ValueType>{ContiguousType(options.dtype, sizes, options.device)};
  };
  row.lower = [](const LowerContext& c) -> absl::StatusOr<std::vector<Lowered>> {
    const DType dtype = LoadedDType(c.result().dtype);
    return std::vector<Lowered>{
        PointwiseLoops{[dtype](OpsHandler& ops, TensorReader&, Index index) {
          return ops.Cast(IsEqual(ops, index[0], index[1]), dtype);
        }}};
  };
  row.evaluate = [](const EvaluateContext& c) -> Results {
    Tensor out = c.Allocate();
    int64_t k = 0;
    ForEachIndex(out.sizes(), [&](const Position& i) { out.SetLinear(k++, Scalar(i[0] == i[1])); });
    return OneResult(out);
  };
  row.samples = {std::move(sample)};
  return row;
}

// ---- tril_indices and triu_indices ----

// The places (row, column) of a triangle, in row-major order.
std::vector<std::pair<int64_t, int64_t>> Triangle(int64_t rows, int64_t columns, int64_t offset,
                                                  bool lower) {
  std::vector<std::pair<int64_t, int64_t>> places;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      if (lower ? j - i <= offset : j - i >= offset) places.emplace_back(i, j);
    }
  }
  return places;
}

OpRow TriangleRow(const std::string& name, bool lower) {
  OpRow row;
  row.schema = WithOptions("aten::" + name + "(int row, int col, int offset=0");
  row.doc = lower ? "Row and column of every place on and below a diagonal."
                  : "Row and column of every place on and above a diagonal.";
  auto places_of =
      [lower](const OpArgs& args) -> absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> {
    LATHE_ASSIGN_OR_RETURN(int64_t rows, args.ConstantInt(0));
    LATHE_ASSIGN_OR_RETURN(int64_t columns, args.ConstantInt(1));
    LATHE_ASSIGN_OR_RETURN(int64_t offset, args.ConstantInt(2));
    if (rows < 0 || columns < 0) {
      return InvalidArgument(args.schema().name, ": row and col must be non-negative");
    }
    int64_t area;
    if (__builtin_mul_overflow(rows, columns, &area) ||
        std::max({area, rows, columns}) > (int64_t{1} << 26)) {
      return Unimplemented(args.schema().name, ": more than 2^26 places");
    }
    return Triangle(rows, columns, offset, lower);
  };
  row.infer = [places_of](const InferContext& c) -> Types {
    LATHE_ASSIGN_OR_RETURN(FactoryOptions options, OptionsOf(c.args, DType::kI64));
    LATHE_ASSIGN_OR_RETURN(auto places, places_of(c.args));
    std::vector<Expr> sizes = {2, static_cast<int64_t>(places.size())};
    return std::vector<ValueType>{ContiguousType(options.dtype, sizes, options.device)};
  };
  row.decompose = [places_of](Builder& b,
                              const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
    LATHE_ASSIGN_OR_RETURN(FactoryOptions options, OptionsOf(args, DType::kI64));
    LATHE_ASSIGN_OR_RETURN(auto places, places_of(args));
    const int64_t count = static_cast<int64_t>(places.size());
    Tensor table = Tensor::Empty(options.dtype, {2, count});
    for (int64_t k = 0; k < count; ++k) {
      table.SetLinear(k, Scalar(places[k].first));
      table.SetLinear(count + k, Scalar(places[k].second));
    }
    return std::vector<Argument>{Argument::Of(b.Call("constant", {Argument::Of(table)}))};
  };
  row.samples = {"aten." + name + "(3, 4, 1)"};
  return row;
}

}  // namespace

std::vector<OpRow> RangeRows() {
  std::vector<OpRow> rows;
  rows.push_back(ArangeRow("arange", "Scalar end", "0, 1, ... below end.",
                           {"aten.arange(5)", "aten.arange(s0)", "aten.arange(2.5)"}));
  rows.push_back(ArangeRow("arange.start", "Scalar start, Scalar end",
                           "start, start + 1, ... below end.", {"aten.arange.start(2, s0)"}));
  rows.push_back(
      ArangeRow("arange.start_step", "Scalar start, Scalar end, Scalar step=1",
                "start, start + step, ... before end.",
                {"aten.arange.start_step(0, 16, 3)", "aten.arange.start_step(1.0, 0.0, -0.25)"}));
  rows.push_back(ArangeRow("range", "Scalar start, Scalar end",
                           "start, start + 1, ... up to end, as f32 unless told otherwise.",
                           {"aten.range(2, 7)"}));
  rows.push_back(ArangeRow("range.step", "Scalar start, Scalar end, Scalar step=1",
                           "start, start + step, ... up to end.",
                           {"aten.range.step(0.0, 1.0, 0.25)"}));
  for (OpRow& row : LinspaceRows()) rows.push_back(std::move(row));
  rows.push_back(EyeRow("", "SymInt n", "aten.eye(3)"));
  rows.push_back(EyeRow(".m", "SymInt n, SymInt m", "aten.eye.m(2, 3)"));
  rows.push_back(TriangleRow("tril_indices", true));
  rows.push_back(TriangleRow("triu_indices", false));
  return rows;
}

}  // namespace lathe
