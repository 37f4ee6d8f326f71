#ifndef LATHE_CAPTURE_PT2_READ_SIGNATURE_H_
#define LATHE_CAPTURE_PT2_READ_SIGNATURE_H_

// The schema's GraphSignature: what each input and output of the main graph is.

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "capture/pt2/guard_sources.h"
#include "capture/pt2/read_graph.h"

namespace lathe::pt2 {

class SignatureReader {
 public:
  SignatureReader(Program* program, GraphReader* graphs, GraphBuilder* builder,
                  const ValueTypes* types, const std::map<std::string, Tensor>* weights)
      : program_(program), graphs_(graphs), builder_(builder), types_(types), weights_(weights) {}

  absl::Status ReadInputs(const JsonValue& specs);
  // After the nodes.
  absl::Status ReadOutputs(const JsonValue& specs);
  // Each user argument in order, constants included.
  const std::vector<UserArgument>& user_arguments() const { return user_arguments_; }

 private:
  absl::Status ReadInput(const JsonValue& spec);
  absl::Status ReadUserInput(const JsonValue& spec);
  absl::Status ReadConstantInput(const JsonValue& spec);
  void AddConstantArgument(const Argument& value);
  absl::Status ReadWeight(const JsonValue& spec, InputSpec::Kind kind,
                          absl::string_view target_field);
  absl::Status ReadOutput(const JsonValue& spec);
  // An output {arg: {name}, TARGET_FIELD: ...} that belongs to an input.
  absl::Status ReadInputOutput(const JsonValue& spec, OutputSpec::Kind kind,
                               absl::string_view target_field);
  // A value is written back into an input of its own type, once.
  absl::Status CheckMutation(const Argument& value, int input) const;

  Program* program_;
  GraphReader* graphs_;
  GraphBuilder* builder_;
  const ValueTypes* types_;
  const std::map<std::string, Tensor>* weights_;
  std::vector<UserArgument> user_arguments_;
};

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_READ_SIGNATURE_H_
