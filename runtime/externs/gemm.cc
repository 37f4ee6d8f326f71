// "gemm": outputs[0] = inputs[0] x inputs[1], [batch..., m, k] x [batch..., k, n] with any strides
// and up to six batch dimensions (an operand of rank 2, or a batch dimension of 1, serves every
// batch). Floats accumulate in f32 (f64 for f64), integers wrap at the width of the result. The
// result may be wider than the operands: f32 from bf16, i32 from i8.

#include "runtime/externs/gemm/gemm.h"

#include <algorithm>

#include "dtypes/base/status.h"
#include "runtime/externs/builtin.h"

namespace lathe {
namespace {

// `batch_rank` batch dimensions of the result; an operand of rank 2 has none of its own.
gemm::Matrix MatrixOf(const Tensor& t, int batch_rank) {
  const size_t d = t.sizes().size() - 2;
  gemm::Matrix m;
  m.data = t.data();
  m.type = *gemm::ElementOf(t.dtype());
  for (size_t k = 0; d > 0 && k < static_cast<size_t>(batch_rank); ++k) {
    m.batch[k] = t.sizes()[k] == 1 ? 0 : t.strides()[k];
  }
  m.row = t.strides()[d];
  m.column = t.strides()[d + 1];
  return m;
}

// f8 operands have no loops of their own; everything else is read as it is.
Tensor Readable(const Tensor& t) { return IsF8(t.dtype()) ? t.To(DType::kF32) : t; }

absl::Status CheckSizes(const Tensor& a, const Tensor& b, const Tensor& c) {
  for (const Tensor* t : {&a, &b, &c}) {
    if (!t->is_defined() || t->rank() < 2 || t->rank() > gemm::kMaxBatchRank + 2) {
      return InvalidArgument("gemm: an operand has neither two dimensions nor up to ",
                             gemm::kMaxBatchRank, " batch dimensions more");
    }
  }
  const auto size = [](const Tensor& t, int from_end) {
    return t.sizes()[t.sizes().size() - static_cast<size_t>(from_end)];
  };
  if (size(a, 1) != size(b, 2) || size(c, 2) != size(a, 2) || size(c, 1) != size(b, 1)) {
    return InvalidArgument("gemm: sizes do not fit: ", TypeString(a), " x ", TypeString(b), " -> ",
                           TypeString(c));
  }
  for (const Tensor* t : {&a, &b}) {
    bool fits = t->rank() == 2 || t->rank() == c.rank();
    for (size_t d = 0; fits && t->rank() > 2 && d < c.sizes().size() - 2; ++d) {
      fits = t->sizes()[d] == c.sizes()[d] || t->sizes()[d] == 1;
    }
    if (!fits) {
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
    if (constant.size() != 2 || !constant[1] || call.computed != nullptr ||
        IsF8(call.inputs[1].dtype()))
      return nullptr;
    return std::make_unique<PackedWeight>();
  }
  bool has_row_epilogue() const override { return true; }
  absl::Status Run(const ExternCall& call) const override {
    if (call.inputs.size() != 2 || call.outputs.size() != 1) {
      return InvalidArgument("gemm: takes two tensors and gives one");
    }
    const Tensor& c = call.outputs[0];
    if (call.computed != nullptr) return RunComputed(call);
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
    p.batch_rank = c.rank() - 2;
    std::copy_n(c.sizes().begin(), p.batch_rank, p.batch_sizes.begin());
    p.a = MatrixOf(a, p.batch_rank);
    p.b = MatrixOf(b, p.batch_rank);
    p.c = MatrixOf(c, p.batch_rank);
    p.m = a.sizes()[a.sizes().size() - 2];
    p.k = a.sizes().back();
    p.n = b.sizes().back();
    const auto* prepared = static_cast<const PackedWeight*>(call.prepared);
    return gemm::Run(p, table, call.pool, call.epilogue,
                     prepared == nullptr ? nullptr : &prepared->b);
  }

 private:
  // inputs[1] is [k, n], its columns computed.
  static absl::Status RunComputed(const ExternCall& call) {
    const Tensor& c = call.outputs[0];
    const Tensor& a = call.inputs[0];
    if (!a.is_defined() || call.inputs[1].is_defined() || a.rank() < 2 || c.rank() != a.rank()) {
      return InvalidArgument("gemm: a computed operand takes the place of the second, of rank 2");
    }
    const auto ea = gemm::ElementOf(a.dtype()), eb = gemm::ElementOf(call.computed->dtype);
    const auto ec = gemm::ElementOf(c.dtype());
    const gemm::KernelTable& table = gemm::BestTable();
    if (!ea || !eb || !ec || gemm::KernelsOf(table, *ea, *eb, *ec) == nullptr) {
      return Unimplemented("gemm: ", Name(a.dtype()), " x ", Name(call.computed->dtype), " -> ",
                           Name(c.dtype()));
    }
    gemm::Problem p;
    p.batch_rank = c.rank() - 2;
    std::copy_n(c.sizes().begin(), p.batch_rank, p.batch_sizes.begin());
    p.a = MatrixOf(a, p.batch_rank);
    p.c = MatrixOf(c, p.batch_rank);
    p.b.type = *eb;
    p.b.row = 1;
    p.m = a.sizes()[a.sizes().size() - 2];
    p.k = p.b.column = a.sizes().back();
    p.n = c.sizes().back();
    return gemm::RunComputedB(p, table, call.pool, call.epilogue, call.computed->compute);
  }
};

}  // namespace

const Extern* GemmExtern() {
  static const Gemm gemm;
  return &gemm;
}

}  // namespace lathe
