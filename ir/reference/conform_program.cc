#include "ir/reference/conform_program.h"

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/host_call.h"
#include "ir/reference/evaluator.h"

namespace lathe {
namespace {

// One call inside the program of several.
struct PlacedCall {
  const RecordedCall* call = nullptr;
  const OpRow* row = nullptr;
  std::vector<std::optional<size_t>> input_of;  // by positional argument that is a tensor
  size_t first_output = 0, output_count = 0;
};

class BatchProgram {
 public:
  BatchProgram(const OpRegistry& registry, std::optional<Relayout> relayout)
      : registry_(registry),
        relayout_(relayout),
        builder_(*program_.main, registry, *program_.shapes) {}

  absl::Status Add(const RecordedCall& call) {
    PlacedCall placed;
    placed.call = &call;
    placed.row = registry_.Find(call.op);
    std::vector<CallArgument> arguments;
    std::vector<std::pair<std::string, CallArgument>> named;
    for (const Argument& a : call.arguments) {
      bool is_tensor = a.kind() == Argument::Kind::kTensor;
      placed.input_of.push_back(is_tensor ? std::optional(inputs_.size()) : std::nullopt);
      const size_t position = placed.input_of.size() - 1;
      const bool is_written = placed.row != nullptr &&
                              position < placed.row->parsed.arguments.size() &&
                              placed.row->parsed.arguments[position].is_written;
      arguments.emplace_back(Place(a, is_written));
    }
    for (const auto& [name, a] : call.named) named.emplace_back(name, Place(a, false));
    std::vector<Value*> results =
        builder_.CallMany(call.op, std::move(arguments), std::move(named));
    LATHE_RETURN_IF_ERROR(builder_.status());
    if (results.size() != call.results.size()) {
      return InvalidArgument(call.op, ": inferred ", results.size(), " results, recorded ",
                             call.results.size());
    }
    placed.first_output = program_.main->outputs().size();
    placed.output_count = results.size();
    for (Value* result : results) {
      program_.main->AddOutput(Argument::Of(result), OutputSpec::User());
    }
    calls_.push_back(std::move(placed));
    return absl::OkStatus();
  }

  // The answers in the order of the calls, or why the program did not run.
  absl::StatusOr<std::vector<ConformAnswer>> Check(const ProgramRunner& run) {
    std::vector<HostValue> copies;
    if (relayout_.has_value()) {
      for (const HostValue& input : inputs_) copies.push_back(CopyOf(input.tensor()));
    }
    LATHE_ASSIGN_OR_RETURN(std::vector<HostValue> outputs, run(program_, inputs_));
    if (relayout_ == Relayout::kExpanded) return CheckByReference(outputs, std::move(copies));
    if (outputs.size() != program_.main->outputs().size()) {
      return Internal("the program gave ", outputs.size(), " outputs in place of ",
                      program_.main->outputs().size());
    }
    std::vector<ConformAnswer> answers;
    for (const PlacedCall& placed : calls_) {
      std::string difference = Compare(placed, outputs);
      answers.push_back(
          {difference.empty() ? Conformity::kPassed : Conformity::kFailed, std::move(difference)});
    }
    return answers;
  }

  // Whether the reference refuses the program as well.
  bool IsRefused() const {
    std::vector<HostValue> copies;
    for (const HostValue& input : inputs_) copies.push_back(CopyOf(input.tensor()));
    return !EvaluateReference(program_, std::move(copies)).ok();
  }

 private:
  // In the same layout, in memory of its own.
  static Tensor CopyOf(const Tensor& t) {
    Tensor copy = Tensor::EmptyStrided(t.dtype(), t.sizes(), t.strides());
    copy.CopyFrom(t);
    return copy;
  }

  absl::StatusOr<std::vector<ConformAnswer>> CheckByReference(const std::vector<HostValue>& outputs,
                                                              std::vector<HostValue> inputs) {
    LATHE_ASSIGN_OR_RETURN(ReferenceResult expected, EvaluateReference(program_, inputs));
    std::vector<ConformAnswer> answers;
    for (const PlacedCall& placed : calls_) {
      std::string difference;
      const bool with_values = HasChosenValues(placed.call->op);
      for (size_t k = 0; k < placed.output_count && difference.empty(); ++k) {
        const HostValue &actual = outputs[placed.first_output + k],
                        &wanted = expected.outputs[placed.first_output + k];
        if (!actual.is_tensor() || !wanted.is_tensor()) continue;
        difference = CompareTensors(actual.tensor().Clone(), wanted.tensor().Clone(), with_values);
      }
      answers.push_back(
          {difference.empty() ? Conformity::kPassed : Conformity::kFailed, std::move(difference)});
    }
    return answers;
  }

  Argument Place(const Argument& a, bool is_written) {
    if (a.kind() == Argument::Kind::kTensor) {
      // A copy with the recorded strides: the program may write into it.
      const Tensor& recorded = a.tensor();
      const bool moves = relayout_.has_value() && !(is_written && relayout_ == Relayout::kExpanded);
      HostValue value = moves ? InLayout(recorded, *relayout_) : CopyOf(recorded);
      inputs_.push_back(value);
      return Argument::Of(program_.main->AddInput(absl::StrCat("x", inputs_.size() - 1),
                                                  lathe::TypeOf(value), InputSpec::User()));
    }
    if (!a.is_list()) return a;
    std::vector<Argument> items;
    for (const Argument& item : a.list()) items.push_back(Place(item, is_written));
    return Argument::List(std::move(items));
  }

  std::string Compare(const PlacedCall& placed, const std::vector<HostValue>& outputs) const {
    const bool with_values = HasChosenValues(placed.call->op);
    const std::vector<Schema::Return>& returns = placed.row->parsed.returns;
    std::vector<HostValue> actual(outputs.begin() + placed.first_output,
                                  outputs.begin() + placed.first_output + placed.output_count);
    std::vector<Argument> expected = placed.call->results;
    if (relayout_.has_value()) {
      for (HostValue& v : actual) {
        if (v.is_tensor() && v.tensor().is_defined()) v = v.tensor().Clone();
      }
      for (Argument& e : expected) {
        if (e.kind() == Argument::Kind::kTensor) e = Argument::Of(e.tensor().Clone());
      }
    }
    std::string difference = CompareResults(placed.call->op, actual, expected, [&](size_t k) {
      return k < returns.size() && returns[k].is_written;
    });
    if (!difference.empty()) return difference;
    const std::vector<Argument>& after = placed.call->arguments_after;
    for (size_t k = 0; k < after.size() && k < placed.input_of.size(); ++k) {
      if (after[k].kind() != Argument::Kind::kTensor || !placed.input_of[k]) continue;
      Tensor actual = inputs_[*placed.input_of[k]].tensor();
      // What became another view (squeeze_) is a new handle there.
      if (!(actual.sizes() == after[k].tensor().sizes())) continue;
      if (relayout_.has_value()) actual = actual.Clone();
      difference = CompareValue(actual, after[k], with_values, true);
      if (!difference.empty()) {
        return absl::StrCat("argument ", k, " after the call: ", difference);
      }
    }
    return "";
  }

  const OpRegistry& registry_;
  const std::optional<Relayout> relayout_;
  Program program_ = NewProgram("calls");
  Builder builder_;
  std::vector<HostValue> inputs_;
  std::vector<PlacedCall> calls_;
};

// Operators that see the storage beneath a tensor answer otherwise in another layout.
bool SeesStorage(const RecordedCall& call) {
  return absl::StrContains(call.op, "as_strided") || absl::StrContains(call.op, "_reshape_alias");
}

void CheckSpan(absl::Span<const RecordedCall> calls, const OpRegistry& registry,
               const ProgramRunner& run, std::optional<Relayout> relayout,
               std::vector<ConformAnswer>& answers) {
  if (calls.empty()) return;
  if (calls.size() == 1 && ReadsOutsideItsRecord(calls[0])) {
    answers.push_back(
        {Conformity::kUnsupported, "it reads elements that the record does not hold"});
    return;
  }
  if (calls.size() == 1 && relayout.has_value() && SeesStorage(calls[0])) {
    answers.push_back({Conformity::kUnsupported, "it sees the storage beneath its tensors"});
    return;
  }
  BatchProgram batch(registry, relayout);
  absl::Status status;
  for (const RecordedCall& call : calls) {
    if (relayout.has_value() && SeesStorage(call)) status = Unimplemented("it sees its storage");
    if (ReadsOutsideItsRecord(call)) status = Unimplemented("an incomplete record");
    if (status.ok()) status = batch.Add(call);
  }
  if (status.ok()) {
    absl::StatusOr<std::vector<ConformAnswer>> checked = batch.Check(run);
    if (checked.ok()) {
      answers.insert(answers.end(), checked->begin(), checked->end());
      return;
    }
    status = checked.status();
  }
  if (calls.size() == 1) {
    if (relayout.has_value() && (absl::IsInvalidArgument(status) || batch.IsRefused())) {
      answers.push_back(
          {Conformity::kUnsupported, absl::StrCat("refused in this layout: ", status.message())});
      return;
    }
    bool is_missing = status.code() == absl::StatusCode::kUnimplemented;
    answers.push_back(
        {is_missing ? Conformity::kUnsupported : Conformity::kFailed, Describe(status)});
    return;
  }
  CheckSpan(calls.first(calls.size() / 2), registry, run, relayout, answers);
  CheckSpan(calls.subspan(calls.size() / 2), registry, run, relayout, answers);
}

}  // namespace

std::vector<ConformAnswer> CheckByProgram(absl::Span<const RecordedCall> calls,
                                          const OpRegistry& registry, const ProgramRunner& run,
                                          std::optional<Relayout> relayout) {
  std::vector<ConformAnswer> answers;
  CheckSpan(calls, registry, run, relayout, answers);
  return answers;
}

}  // namespace lathe
