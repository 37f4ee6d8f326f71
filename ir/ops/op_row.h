#ifndef LATHE_IR_OPS_OP_ROW_H_
#define LATHE_IR_OPS_OP_ROW_H_

// One operator, one row, in one place (design §3). A row says everything that lathe knows of an
// operator; nothing else lists op names.
//
// Every rewrite must keep: integers wrap at their own width; NaN, -0.0 and infinities are values
// like any other (no x*0, x+0, x-x for floats); only float reductions may be reassociated, as
// kernel_spec.h says; evaluation order of effects (ordered, random, mutating nodes) is the graph's.

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/graph/graph.h"
#include "ir/ops/lowering.h"
#include "ir/ops/op_args.h"
#include "runtime/tensor/tensor.h"
#include "symbolic/shape_env.h"

namespace lathe {

class Builder;

enum class Effect : uint8_t { kPure, kMutates, kRandom, kOrdered, kCollective };

// ---- Result types ----
struct InferContext {
  const OpArgs& args;
  ShapeEnv& shapes;
  symbolic::Asker asker;
};
// The types of the results, strides and offset as eager gives them. Errors are eager's refusals,
// in lathe's words: op, what was expected, what came. A return of type Tensor[] is that many
// results. May be empty when `decompose` is given: the types are then those of the decomposition.
using InferFunction = std::function<absl::StatusOr<std::vector<ValueType>>(const InferContext&)>;

// ---- Decomposition ----
// Writes simpler calls through the builder; returns one argument a result.
using DecomposeFunction =
    std::function<absl::StatusOr<std::vector<Argument>>(Builder& builder, const OpArgs& args)>;

// ---- The reference meaning on host tensors ----
// A run-time value: a tensor, a number, a list or none.
struct HostValue;
using HostList = std::vector<HostValue>;
struct HostValue : std::variant<std::monostate, Tensor, Scalar, HostList> {
  using Base = std::variant<std::monostate, Tensor, Scalar, HostList>;
  using Base::Base;
  bool is_none() const { return index() == 0; }
  bool is_tensor() const { return index() == 1; }
  const Tensor& tensor() const { return std::get<1>(*this); }
  const Scalar& scalar() const { return std::get<2>(*this); }
  const HostList& list() const { return std::get<3>(*this); }
};

class HostArgs {
 public:
  // `arguments` with every expression already a constant and every value replaced in `values`.
  HostArgs(const Schema& schema, std::vector<HostValue> values, std::vector<Argument> literals)
      : schema_(&schema), values_(std::move(values)), literals_(std::move(literals)) {}
  const Schema& schema() const { return *schema_; }
  int size() const { return static_cast<int>(values_.size()); }
  bool IsNone(int i) const { return values_[i].is_none() && literals_[i].is_none(); }
  const lathe::Tensor& Tensor(int i) const { return values_[i].tensor(); }
  std::optional<lathe::Tensor> OptionalTensor(int i) const;
  std::vector<lathe::Tensor> Tensors(int i) const;  // undefined for none elements
  int64_t Int(int i) const;
  std::optional<int64_t> OptionalInt(int i) const;
  std::vector<int64_t> Ints(int i) const;
  std::optional<std::vector<int64_t>> OptionalInts(int i) const;
  bool Bool(int i) const;
  double Float(int i) const;
  std::optional<double> OptionalFloat(int i) const;
  Scalar Number(int i) const;
  std::optional<Scalar> OptionalNumber(int i) const;
  std::vector<Scalar> Numbers(int i) const;  // of a list
  const std::string& String(int i) const;
  std::optional<DType> OptionalDType(int i) const;
  // The parts as they were given: values (none where literal) and literals (none where a value).
  const HostValue& value(int i) const { return values_[i]; }
  const Argument& literal(int i) const { return literals_[i]; }

 private:
  const Schema* schema_;
  std::vector<HostValue> values_;   // tensors, numbers, lists of them; none where literal
  std::vector<Argument> literals_;  // strings, dtypes, devices, formats; none where a value
};

// Runs a sub-graph (a kGraph argument of a control op) on host values and gives its outputs.
using GraphRunner = std::function<absl::StatusOr<std::vector<HostValue>>(
    const Graph& graph, std::vector<HostValue> inputs)>;

struct EvaluateContext {
  const HostArgs& args;
  // The inferred result types with every size a number (an unbacked size: -1): dtype, sizes and
  // strides to produce. Allocate gives an empty tensor of result k's type.
  absl::Span<const ValueType> results;
  // Empty where no sub-graph can occur.
  GraphRunner run_graph = {};
  lathe::Tensor Allocate(int k = 0) const;
};
using EvaluateFunction =
    std::function<absl::StatusOr<std::vector<HostValue>>(const EvaluateContext&)>;

// ---- Views ----
// For a view op: the base updated so that its view becomes `updated` (functionalization):
// slice -> aten.slice_scatter, transpose -> aten.transpose of `updated`...
using ViewInverseFunction = std::function<absl::StatusOr<Argument>(
    Builder& builder, const OpArgs& args, Value* base, Value* updated)>;

// ---- The other rules ----
struct DerivativeRule {
  enum class Kind : uint8_t { kToCome, kByDecomposition, kNotDifferentiable };
  Kind kind = Kind::kToCome;
  std::string reason;
};
enum class BatchRule : uint8_t { kToCome, kElementwise, kByDecomposition };

struct OpRow {
  std::string schema;  // ATen's, with defaults and alias marks
  std::string doc;     // a sentence or two: what it computes, what is special
  Effect effect = Effect::kPure;
  InferFunction infer;
  LowerFunction lower;  // one of lower, decompose; or neither: evaluate alone
  DecomposeFunction decompose;
  bool composite = false;  // ATen's CompositeImplicit ops: decomposed before functionalization, so
                           // the decomposition must keep views and write no mutation of its own
  EvaluateFunction evaluate;
  ViewInverseFunction view_inverse;  // non-null exactly for view ops
  // For an in-place op "add_": the functional op whose result is written ("aten.add.Tensor");
  // arguments are the same. Found by name when empty.
  std::string functional;
  DerivativeRule derivative;
  BatchRule batch = BatchRule::kToCome;
  bool is_product = false;  // of matrices, vectors or windows: autocast gives it operands of the
                            // lower float type, whatever mixture they are
  std::vector<std::string>
      samples;  // "aten.tanh(f32[3])", "aten.add.Tensor(f32[3,1], f32[4], alpha=2)"

  // Filled by the registry.
  Schema parsed;
  bool infers_by_decomposition = false;  // it has no rule of its own for its types
  bool is_view() const { return static_cast<bool>(view_inverse); }
};

}  // namespace lathe

#endif  // LATHE_IR_OPS_OP_ROW_H_
