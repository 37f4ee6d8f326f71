#ifndef LATHE_RUNTIME_EXTERNS_GEMM_GEMM_H_
#define LATHE_RUNTIME_EXTERNS_GEMM_GEMM_H_

// c[b] = a[b] * b[b] for every batch b, any strides, cut into tiles by the sizes alone.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "dtypes/dtype.h"
#include "runtime/externs/gemm/kernels.h"
#include "runtime/tensor/tensor.h"
#include "runtime/threads/thread_pool.h"

namespace lathe::gemm {

// Batches may have several dimensions, outermost first; those that all three operands step through
// evenly are merged into one, so few remain.
inline constexpr int kMaxBatchRank = 6;
using BatchSizes = std::array<int64_t, kMaxBatchRank>;

// Strides in elements; 0 over a batch dimension that one matrix serves.
struct Matrix {
  void* data = nullptr;
  Element type = Element::kF32;
  BatchSizes batch = {};
  int64_t row = 0, column = 0;
};

struct Problem {
  int batch_rank = 0;
  BatchSizes batch_sizes = {};
  int64_t m = 0, n = 0, k = 0;
  Matrix a, b, c;
  int64_t batches() const;
};

// Rows [begin, end) of c, batch * m of them, are final.
using RowsDone = std::function<absl::Status(int64_t begin, int64_t end, int worker)>;

// How a dtype is stored; nullopt for those that matrix products convert first or do not take.
std::optional<Element> ElementOf(DType dtype);
int64_t ElementBytes(Element e);
// The accumulator for a result of type `out` from operands of types a and b, nullptr when they do
// not go together (integers and floats).
const Kernels* KernelsOf(const KernelTable& table, Element a, Element b, Element out);
// The accumulator's type as an element (unsigned for integers), and whether `e` has its bits.
Element AccumulatorType(const KernelTable& table, const Kernels* kernels);
bool HasBitsOf(Element e, Element accumulator);

// b of one batch, packed for tiles on first use and kept. Any thread.
class PackedB {
 public:
  // The packed strips of p.b; nullptr when there is no memory, or when these are of another b.
  const char* Get(const Problem& p, const Kernels& kernels, int64_t accumulator_bytes,
                  ThreadPool* pool) const;

 private:
  mutable std::once_flag once_;
  mutable Matrix b_;
  mutable int64_t k_ = 0, n_ = 0;
  mutable const Kernels* kernels_ = nullptr;
  mutable std::shared_ptr<Storage> strips_;
};

// Rows [begin, end) of b's columns, as rows of k elements of p.b.type: b itself is in no memory.
using ColumnsOfB =
    std::function<absl::Status(int64_t begin, int64_t end, char* origin, int worker)>;
// Run, where b (one matrix for all batches) is computed strip by strip while it is packed.
absl::Status RunComputedB(const Problem& problem, const KernelTable& table, ThreadPool* pool,
                          const RowsDone& done, const ColumnsOfB& columns);

// `pool` may be null: serial. Every row is reported to `done` (may be empty) exactly once.
// `packed_b` may be null; given, it belongs to this b, which never changes.
absl::Status Run(const Problem& problem, const KernelTable& table, ThreadPool* pool,
                 const RowsDone& done, const PackedB* packed_b = nullptr);

}  // namespace lathe::gemm

#endif  // LATHE_RUNTIME_EXTERNS_GEMM_GEMM_H_
