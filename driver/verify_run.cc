#include "driver/verify_run.h"

#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/plan/emit_plan.h"
#include "driver/compare_tensors.h"
#include "driver/user_inputs.h"
#include "dtypes/base/status.h"
#include "ir/passes/pipeline.h"
#include "ir/reference/evaluator.h"

namespace lathe::driver {
namespace {

using IrValue = lathe::Value;  // driver::Value is a run-time value

// Tensors that nodes of the main graph compute, views apart, in order.
std::vector<IrValue*> ComputedTensors(const Program& program) {
  std::vector<IrValue*> values;
  for (const Node* node : program.main->nodes()) {
    if (node->row == nullptr || node->row->is_view()) continue;
    for (IrValue* result : node->results) {
      if (result->type.is_tensor()) values.push_back(result);
    }
  }
  return values;
}

absl::StatusOr<std::vector<IrValue*>> BorderTensors(const Program& program) {
  LATHE_ASSIGN_OR_RETURN(EmittedPlan emitted, EmitPlan(program));
  std::vector<IrValue*> values;
  for (IrValue* value : ComputedTensors(program)) {
    if (emitted.schedules.front().buffers.contains(value)) values.push_back(value);
  }
  return values;
}

Tolerance ToleranceFor(const Tensor& expected) {
  Tolerance tolerance = CheckTolerance(expected.dtype());
  if (!IsFloat(expected.dtype()) || IsF8(expected.dtype())) return tolerance;
  double largest = 0;
  for (int64_t k = 0; k < expected.numel(); ++k) {
    const double magnitude = std::abs(expected.AtLinear(k).ToDouble());
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  tolerance.absolute += tolerance.relative * largest;
  return tolerance;
}

std::string Place(const Node& node, const IrValue& value) {
  return absl::StrCat("%", value.name, " = ", node.op,
                      node.origin.source.empty() ? "" : absl::StrCat(" at ", node.origin.source));
}

class Verifier {
 public:
  explicit Verifier(absl::flat_hash_map<std::string, Tensor> compiled)
      : compiled_(std::move(compiled)) {}

  absl::Status Compare(const Node& node, absl::Span<const HostValue> results) {
    for (size_t k = 0; k < results.size(); ++k) {
      const auto found = compiled_.find(node.results[k]->name);
      if (found == compiled_.end() || !results[k].is_tensor()) continue;
      Tensor expected = results[k].tensor();
      ++result_.compared;
      const Comparison comparison =
          CompareTensors(found->second, expected, Tensor(), ToleranceFor(expected));
      if (!comparison.passed && result_.first_difference.empty()) {
        result_.first_difference =
            absl::StrCat(Place(node, *node.results[k]), ": ", comparison.difference);
      }
      if (found->second.dtype() != expected.dtype() || found->second.sizes() != expected.sizes()) {
        return absl::OkStatus();
      }
      expected.CopyFrom(found->second);
    }
    return absl::OkStatus();
  }

  Verification& result() { return result_; }

 private:
  absl::flat_hash_map<std::string, Tensor> compiled_;
  Verification result_;
};

}  // namespace

absl::StatusOr<Verification> VerifyRun(const Program& program, const CompileOptions& options,
                                       const std::vector<Value>& inputs, bool each) {
  Program exposed = program;
  exposed.main = program.main->Clone();
  const OpRegistry& ops = options.registry != nullptr ? *options.registry : OpRegistry::Builtin();
  LATHE_RETURN_IF_ERROR(RunPasses(exposed, ops, InferencePasses()));
  std::vector<IrValue*> values = ComputedTensors(exposed);
  if (!each) {
    LATHE_ASSIGN_OR_RETURN(values, BorderTensors(exposed));
  }
  for (IrValue* value : values) {
    exposed.main->AddOutput(Argument::Of(value), OutputSpec::User());
  }
  LATHE_ASSIGN_OR_RETURN(Executable executable, Compile(exposed, options));
  LATHE_ASSIGN_OR_RETURN(std::vector<Value> outputs, executable.Run(CloneValues(inputs)));
  absl::flat_hash_map<std::string, Tensor> compiled;
  const size_t own = outputs.size() - values.size();
  for (size_t k = 0; k < values.size(); ++k) {
    compiled[values[k]->name] = std::get<Tensor>(outputs[own + k]);
  }
  std::vector<HostValue> host;
  for (const Value& input : CloneValues(inputs)) {
    const Tensor* tensor = std::get_if<Tensor>(&input);
    host.push_back(tensor != nullptr ? HostValue(*tensor) : HostValue(std::get<Scalar>(input)));
  }
  Verifier verifier(std::move(compiled));
  LATHE_RETURN_IF_ERROR(
      EvaluateReference(exposed, std::move(host),
                        [&](const Node& node, absl::Span<const HostValue> results) {
                          return verifier.Compare(node, results);
                        })
          .status());
  return std::move(verifier.result());
}

}  // namespace lathe::driver
