#ifndef LATHE_RUNTIME_EXTERNS_CONVOLVE_CONVOLVE_H_
#define LATHE_RUNTIME_EXTERNS_CONVOLVE_CONVOLVE_H_

#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "runtime/externs/extern.h"
#include "runtime/externs/gemm/kernels.h"

namespace lathe::convolve {

// Weights in the layout of the inner loops, made on first use and kept. Any thread.
class PackedWeights {
 public:
  // Runs `pack` once, whatever thread comes first; the storage it gave, nullptr for another w.
  template <typename Pack>
  std::shared_ptr<Storage> Get(const Tensor& w, const gemm::Kernels* kernels, Pack pack) const {
    std::call_once(once_, [&] {
      w_ = w;
      kernels_ = kernels;
      packed_ = pack();
    });
    const bool same = w_.data() == w.data() && w_.dtype() == w.dtype() && w_.sizes() == w.sizes() &&
                      w_.strides() == w.strides() && kernels_ == kernels;
    return same ? packed_ : nullptr;
  }

  // Whether w, which never changes, has elements that are not finite; `look` runs once.
  template <typename Look>
  bool HasNonFinite(Look look) const {
    std::call_once(looked_, [&] { has_non_finite_ = look(); });
    return has_non_finite_;
  }

 private:
  mutable std::once_flag once_, looked_;
  mutable bool has_non_finite_ = false;
  mutable Tensor w_;
  mutable const gemm::Kernels* kernels_ = nullptr;
  mutable std::shared_ptr<Storage> packed_;
};

// inputs: x, w and, if a third is defined, a bias [O]; outputs[0] as GeometryOf says. Floats
// accumulate as in matrix products. The bits depend on sizes and values alone.
// `packed` may be null; given, it belongs to this w, which never changes.
absl::Status Run(const ExternCall& call, const gemm::KernelTable& table,
                 const PackedWeights* packed = nullptr);

}  // namespace lathe::convolve

#endif  // LATHE_RUNTIME_EXTERNS_CONVOLVE_CONVOLVE_H_
