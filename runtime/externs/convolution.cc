// "conv2d" and "convnd": outputs[0] [N, O, places...] = the correlation of inputs[0] [N, C,
// sizes...] with inputs[1] [O, C/groups, kernel...], any strides, one to three spatial dimensions,
// plus inputs[2] [O] when there is one. Attributes: "stride=1,1;padding=1,1;dilation=1,1;groups=1".

#include "runtime/externs/builtin.h"
#include "runtime/externs/convolve/convolve.h"

namespace lathe {
namespace {

struct PackedWeight final : PreparedInputs {
  convolve::PackedWeights w;
};

class Convolution final : public Extern {
 public:
  explicit Convolution(absl::string_view id) : id_(id) {}
  absl::string_view id() const override { return id_; }
  bool has_row_epilogue() const override { return true; }
  std::unique_ptr<PreparedInputs> Prepare(const ExternCall& call,
                                          absl::Span<const bool> constant) const override {
    if (constant.size() < 2 || !constant[1] || IsF8(call.inputs[1].dtype())) return nullptr;
    return std::make_unique<PackedWeight>();
  }
  absl::Status Run(const ExternCall& call) const override {
    const auto* prepared = static_cast<const PackedWeight*>(call.prepared);
    return convolve::Run(call, gemm::BestTable(), prepared == nullptr ? nullptr : &prepared->w);
  }

 private:
  absl::string_view id_;
};

}  // namespace

const Extern* Conv2dExtern() {
  static const Convolution convolution("conv2d");
  return &convolution;
}

const Extern* ConvNdExtern() {
  static const Convolution convolution("convnd");
  return &convolution;
}

}  // namespace lathe
