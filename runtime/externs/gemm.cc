// "gemm": outputs[0] = inputs[0] x inputs[1], [m, k] x [k, n] or [batch, m, k] x [batch, k, n] with
// any strides (an operand of rank 2 or of batch size 1 serves every batch). Floats accumulate in
// f32 (f64 for f64), integers wrap at the width of the result. The result may be wider than the
// operands: f32 from bf16, i32 from i8.

#include "runtime/externs/gemm/gemm.h"

#include "dtypes/base/status.h"
#include "runtime/externs/builtin.h"

namespace lathe {
namespace {

gemm::Matrix MatrixOf(const Tensor& t) {
  const size_t d = t.sizes().size() - 2;
  gemm::Matrix m;
  m.data = t.data();
  m.type = *gemm::ElementOf(t.dtype());
  m.batch = d == 1 && t.sizes()[0] != 1 ? t.strides()[0] : 0;
  m.row = t.strides()[d];
  m.column = t.strides()[d + 1];
  return m;
}

// f8 operands have no loops of their own; everything else is read as it is.
Tensor Readable(const Tensor& t) { return IsF8(t.dtype()) ? t.To(DType::kF32) : t; }

absl::Status CheckSizes(const Tensor& a, const Tensor& b, const Tensor& c) {
  for (const Tensor* t : {&a, &b, &c}) {
    if (!t->is_defined() || t->rank() < 2 || t->rank() > 3) {
      return InvalidArgument("gemm: an operand is not a matrix or a batch of matrices");
    }
  }
  const auto size = [](const Tensor& t, int from_end) {
    return t.sizes()[t.sizes().size() - static_cast<size_t>(from_end)];
  };
  if (size(a, 1) != size(b, 2) || size(c, 2) != size(a, 2) || size(c, 1) != size(b, 1)) {
    return InvalidArgument("gemm: sizes do not fit: ", TypeString(a), " x ", TypeString(b), " -> ",
                           TypeString(c));
  }
  const int64_t batch = c.rank() == 3 ? c.sizes()[0] : 1;
  for (const Tensor* t : {&a, &b}) {
    if (t->rank() == 3 && t->sizes()[0] != batch && t->sizes()[0] != 1) {
      return InvalidArgument("gemm: batch sizes do not fit: ", TypeString(a), " x ", TypeString(b),
                             " -> ", TypeString(c));
    }
  }
  return absl::OkStatus();
}

struct PackedWeight final : PreparedInputs {
  gemm::PackedB b;
};

class Gemm final : public Extern {
 public:
  absl::string_view id() const override { return "gemm"; }
  std::unique_ptr<PreparedInputs> Prepare(const ExternCall& call,
                                          absl::Span<const bool> constant) const override {
    // f8 operands are converted anew in every call, to another place.
    if (constant.size() != 2 || !constant[1] || IsF8(call.inputs[1].dtype())) return nullptr;
    return std::make_unique<PackedWeight>();
  }
  bool has_row_epilogue() const override { return true; }
  absl::Status Run(const ExternCall& call) const override {
    if (call.inputs.size() != 2 || call.outputs.size() != 1) {
      return InvalidArgument("gemm: takes two tensors and gives one");
    }
    const Tensor& c = call.outputs[0];
    LATHE_RETURN_IF_ERROR(CheckSizes(call.inputs[0], call.inputs[1], c));
    const Tensor a = Readable(call.inputs[0]), b = Readable(call.inputs[1]);
    const auto ea = gemm::ElementOf(a.dtype()), eb = gemm::ElementOf(b.dtype());
    const auto ec = gemm::ElementOf(c.dtype());
    const gemm::KernelTable& table = gemm::BestTable();
    if (!ea || !eb || !ec || gemm::KernelsOf(table, *ea, *eb, *ec) == nullptr) {
      return Unimplemented("gemm: ", Name(call.inputs[0].dtype()), " x ",
                           Name(call.inputs[1].dtype()), " -> ", Name(c.dtype()));
    }
    gemm::Problem p;
    p.a = MatrixOf(a);
    p.b = MatrixOf(b);
    p.c = MatrixOf(c);
    p.batch = c.rank() == 3 ? c.sizes()[0] : 1;
    p.m = a.sizes()[a.sizes().size() - 2];
    p.k = a.sizes().back();
    p.n = b.sizes().back();
    const auto* prepared = static_cast<const PackedWeight*>(call.prepared);
    return gemm::Run(p, table, call.pool, call.epilogue,
                     prepared == nullptr ? nullptr : &prepared->b);
  }
};

}  // namespace

const Extern* GemmExtern() {
  static const Gemm gemm;
  return &gemm;
}

}  // namespace lathe
