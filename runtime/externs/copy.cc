// "copy": outputs[0] = inputs[0], same sizes; another dtype is converted element by element.

#include "dtypes/base/status.h"
#include "runtime/externs/builtin.h"

namespace lathe {
namespace {

class Copy final : public Extern {
 public:
  absl::string_view id() const override { return "copy"; }
  absl::Status Run(const ExternCall& call) const override {
    if (call.inputs.size() != 1 || call.outputs.size() != 1 || !call.inputs[0].is_defined() ||
        !call.outputs[0].is_defined() || !(call.inputs[0].sizes() == call.outputs[0].sizes())) {
      return InvalidArgument("copy: takes one tensor and gives one of the same sizes");
    }
    const DType dtype = call.outputs[0].dtype();
    const Tensor& from = call.inputs[0];
    call.outputs[0].CopyFrom(from.dtype() == dtype ? from : from.To(dtype));
    return absl::OkStatus();
  }
};

}  // namespace

const Extern* CopyExtern() {
  static const Copy copy;
  return &copy;
}

}  // namespace lathe
