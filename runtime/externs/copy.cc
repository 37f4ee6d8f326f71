// "copy": outputs[0] = inputs[0], same sizes; another dtype is converted element by element.
// Attribute bits=1: the same bits in row-major order as elements of another dtype, whose widths and
// sizes may differ; inputs[0] is contiguous.

#include <cstring>

#include "dtypes/base/status.h"
#include "runtime/externs/builtin.h"

namespace lathe {
namespace {

class Copy final : public Extern {
 public:
  absl::string_view id() const override { return "copy"; }
  absl::Status Run(const ExternCall& call) const override {
    if (call.attributes != nullptr && call.attributes->count("bits") != 0) return CopyBits(call);
    if (call.inputs.size() != 1 || call.outputs.size() != 1 || !call.inputs[0].is_defined() ||
        !call.outputs[0].is_defined() || !(call.inputs[0].sizes() == call.outputs[0].sizes())) {
      return InvalidArgument("copy: takes one tensor and gives one of the same sizes");
    }
    const DType dtype = call.outputs[0].dtype();
    const Tensor& from = call.inputs[0];
    call.outputs[0].CopyFrom(from.dtype() == dtype ? from : from.To(dtype));
    return absl::OkStatus();
  }

 private:
  static int64_t Bits(const Tensor& t) { return t.numel() * BitWidth(t.dtype()); }
  static bool StartsAtByte(const Tensor& t) { return !IsSubByte(t.dtype()) || t.offset() == 0; }

  absl::Status CopyBits(const ExternCall& call) const {
    if (call.inputs.size() != 1 || call.outputs.size() != 1 || !call.inputs[0].is_defined() ||
        !call.outputs[0].is_defined() || Bits(call.inputs[0]) != Bits(call.outputs[0])) {
      return InvalidArgument("copy: takes one tensor and gives one of as many bits");
    }
    Tensor from = call.inputs[0].Contiguous();
    if (!StartsAtByte(from)) from = from.Clone();
    Tensor& out = call.outputs[0];
    const bool direct = out.is_contiguous() && StartsAtByte(out);
    const Tensor to = direct ? out : Tensor::Empty(out.dtype(), out.sizes());
    const int64_t bytes = (Bits(from) + 7) / 8;
    if (bytes != 0) std::memcpy(to.data(), from.data(), bytes);
    if (!direct) out.CopyFrom(to);
    return absl::OkStatus();
  }
};

}  // namespace

const Extern* CopyExtern() {
  static const Copy copy;
  return &copy;
}

}  // namespace lathe
