#include "runtime/externs/gemm/gemm.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/externs/gemm/parallel.h"
#include "runtime/memory/pool.h"

namespace lathe::gemm {
namespace {

// Rows of c in one task: a packed block of 96 x 256 floats fills a fifth of a 512 KiB L2.
constexpr int64_t kPanelRows = 96;
// Below this many rows packing b costs more than it saves.
constexpr int64_t kFewRows = 24;
// Below this many rows a b that is contiguous along k is read in place, by dot products.
constexpr int64_t kDotRows = 8;
// Enough tasks for the threads of a large machine.
constexpr int64_t kWantedTasks = 16;
// Results of other types than the accumulator's wait in a block of this many columns.
constexpr int64_t kScratchColumns = 1024;
// Packed b at a time.
constexpr int64_t kPackedBytes = int64_t{32} << 20;
// Likewise where b is computed: it stays in a second-level cache.
constexpr int64_t kComputedBytes = int64_t{512} << 10;

char* At(const Problem& p, const Matrix& m, int64_t batch, int64_t row, int64_t column) {
  int64_t element = row * m.row + column * m.column;
  for (int d = p.batch_rank - 1; d > 0; --d) {
    element += batch % p.batch_sizes[d] * m.batch[d];
    batch /= p.batch_sizes[d];
  }
  element += batch * m.batch[0];
  return static_cast<char*>(m.data) + element * ElementBytes(m.type);
}

// One matrix serves every batch.
bool IsShared(const Problem& p, const Matrix& m) {
  return std::all_of(m.batch.begin(), m.batch.begin() + p.batch_rank,
                     [](int64_t stride) { return stride == 0; });
}

int StripColumns(const Problem& p, const Kernels& kernels, int64_t strip) {
  return static_cast<int>(std::min<int64_t>(kernels.columns, p.n - strip * kernels.columns));
}

// One strip of columns of b, over all of k.
void PackStrip(const Problem& p, const Kernels& kernels, int64_t batch, int64_t strip,
               char* target) {
  kernels.pack_columns(p.b.type, At(p, p.b, batch, 0, strip * kernels.columns), p.b.column, p.b.row,
                       StripColumns(p, kernels, strip), p.k, target);
}

// Reports rows when the last of their tiles is done.
class RowCounter {
 public:
  RowCounter(const Problem& p, int64_t panels, int64_t tiles_per_panel, const RowsDone& done)
      : p_(p), panels_(panels), done_(done) {
    if (!done) return;
    left_.reset(new std::atomic<int64_t>[static_cast<size_t>(p.batches() * panels)]);
    for (int64_t k = 0; k < p.batches() * panels; ++k) left_[k].store(tiles_per_panel);
  }
  absl::Status TileDone(int64_t batch, int64_t panel, int worker) {
    if (!done_) return absl::OkStatus();
    std::atomic<int64_t>& left = left_[batch * panels_ + panel];
    if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return absl::OkStatus();
    const int64_t begin = panel * kPanelRows;
    return done_(batch * p_.m + begin, batch * p_.m + std::min(begin + kPanelRows, p_.m), worker);
  }

 private:
  const Problem& p_;
  const int64_t panels_;
  const RowsDone& done_;
  std::unique_ptr<std::atomic<int64_t>[]> left_;
};

// c in tiles held in registers, over packed operands.
class Blocked {
 public:
  Blocked(const Problem& p, const Kernels& kernels, Element accumulator, ThreadPool* pool,
          const RowsDone& done, const char* packed_b, const ColumnsOfB& columns_of_b = nullptr)
      : p_(p),
        kernels_(kernels),
        packed_b_(packed_b),
        columns_of_b_(columns_of_b),
        bytes_(ElementBytes(accumulator)),
        pool_(pool),
        batches_(p.batches()),
        panels_(CeilDiv(p.m, kPanelRows)),
        strips_(CeilDiv(p.n, kernels.columns)),
        b_in_place_(packed_b == nullptr && !columns_of_b && p.m < kFewRows &&
                    p.b.type == accumulator && p.b.column == 1),
        c_in_place_(p.c.type == accumulator && p.c.column == 1) {
    Cut();
    counter_ = std::make_unique<RowCounter>(p_, panels_, CeilDiv(strips_, tile_strips_), done);
  }

  absl::Status Run() {
    if (columns_of_b_) return RunComputed();
    if (packed_b_ != nullptr) {
      Multiply(0, batches_, 0, strips_, packed_b_, true);
      return error_.status();
    }
    const bool shared_b = IsShared(p_, p_.b);
    const int64_t strip_bytes = p_.k * kernels_.columns * bytes_;
    // As many whole tiles of columns as fit, then as many batches.
    const int64_t fitting = std::max<int64_t>(1, kPackedBytes / std::max<int64_t>(strip_bytes, 1));
    const int64_t chunk =
        std::min(strips_, std::max<int64_t>(1, fitting / tile_strips_) * tile_strips_);
    const int64_t group = shared_b ? batches_ : std::clamp<int64_t>(fitting / chunk, 1, batches_);
    const int64_t packed_batches = shared_b ? 1 : group;
    const Scratch packed(packed_batches * chunk * strip_bytes);
    if (packed.data() == nullptr) return OutOfMemory();
    for (int64_t batch = 0; batch < batches_; batch += group) {
      const int64_t batches = std::min(group, batches_ - batch);
      for (int64_t strip = 0; strip < strips_; strip += chunk) {
        const int64_t strips = std::min(chunk, strips_ - strip);
        const int64_t to_pack = shared_b ? 1 : batches;
        PackB(batch, to_pack, strip, strips, packed.data());
        Multiply(batch, batches, strip, strips, packed.data(), shared_b);
        if (error_.failed()) return error_.status();
      }
    }
    return absl::OkStatus();
  }

 private:
  // Each task computes some strips of b, packs them and is done with them.
  absl::Status RunComputed() {
    const int64_t strip_bytes = p_.k * kernels_.columns * bytes_;
    const int64_t tiles = CeilDiv(strips_, tile_strips_);
    const int64_t work = batches_ * p_.m * tile_strips_ * kernels_.columns * p_.k;
    ForEachTask(pool_, tiles, work, [&](int64_t tile, int worker) {
      if (error_.failed()) return;
      const int64_t first = tile * tile_strips_, strips = std::min(tile_strips_, strips_ - first);
      const Scratch packed(strips * strip_bytes);
      error_.Set(packed.data() == nullptr ? OutOfMemory()
                                          : ComputeStrips(first, strips, packed.data(), worker));
      for (int64_t t = 0; t < batches_ * panels_ && !error_.failed(); ++t) {
        const int64_t batch = t / panels_, panel = t % panels_;
        error_.Set(Task(batch, panel, first, strips, packed.data()));
        if (!error_.failed()) error_.Set(counter_->TileDone(batch, panel, worker));
      }
    });
    return error_.status();
  }

  absl::Status ComputeStrips(int64_t first, int64_t strips, char* packed, int worker) {
    const int64_t row_bytes = p_.k * ElementBytes(p_.b.type);
    const Scratch rows(kernels_.columns * row_bytes);
    if (rows.data() == nullptr) return OutOfMemory();
    for (int64_t s = first; s < first + strips; ++s) {
      const int64_t begin = s * kernels_.columns;
      // Where row 0 would lie.
      char* const origin = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(rows.data()) -
                                                   static_cast<uintptr_t>(begin * row_bytes));
      absl::Status status = columns_of_b_(begin, begin + Columns(s), origin, worker);
      if (!status.ok()) return status;
      kernels_.pack_columns(p_.b.type, rows.data(), p_.k, 1, Columns(s), p_.k,
                            packed + (s - first) * p_.k * kernels_.columns * bytes_);
    }
    return absl::OkStatus();
  }

  void Cut() {
    const int64_t wanted = CeilDiv(kWantedTasks, columns_of_b_ ? 1 : panels_ * batches_);
    const int64_t most = std::max<int64_t>(1, p_.n / 128);
    tile_strips_ = CeilDiv(strips_, std::min(wanted, most));
    if (columns_of_b_) {
      const int64_t strip_bytes = std::max<int64_t>(p_.k * kernels_.columns * bytes_, 1);
      tile_strips_ = std::clamp<int64_t>(kComputedBytes / strip_bytes, 1, tile_strips_);
    }
    if (!c_in_place_) {
      tile_strips_ = std::min<int64_t>(tile_strips_, kScratchColumns / kernels_.columns);
    }
  }

  int Columns(int64_t strip) const { return StripColumns(p_, kernels_, strip); }

  void PackB(int64_t batch, int64_t batches, int64_t strip, int64_t strips, char* packed) {
    const int64_t strip_bytes = p_.k * kernels_.columns * bytes_;
    ForEachTask(pool_, batches * strips, p_.k * kernels_.columns, [&](int64_t task, int) {
      const int64_t s = strip + task % strips;
      if (b_in_place_ && Columns(s) == kernels_.columns) return;
      PackStrip(p_, kernels_, batch + task / strips, s, packed + task * strip_bytes);
    });
  }

  void Multiply(int64_t batch, int64_t batches, int64_t strip, int64_t strips, const char* packed,
                bool shared_b) {
    const int64_t tiles = CeilDiv(strips, tile_strips_);
    const int64_t work = std::min(kPanelRows, p_.m) * tile_strips_ * kernels_.columns * p_.k;
    ForEachTask(pool_, batches * panels_ * tiles, work, [&](int64_t task, int worker) {
      if (error_.failed()) return;
      const int64_t tile = task % tiles, panel = task / tiles % panels_;
      const int64_t b = task / tiles / panels_;
      const int64_t first = tile * tile_strips_;
      const int64_t count = std::min(tile_strips_, strips - first);
      const int64_t strip_bytes = p_.k * kernels_.columns * bytes_;
      const char* packed_b = packed + ((shared_b ? 0 : b * strips) + first) * strip_bytes;
      error_.Set(Task(batch + b, panel, strip + first, count, packed_b));
      if (!error_.failed()) error_.Set(counter_->TileDone(batch + b, panel, worker));
    });
  }

  // Rows of a panel times `strips` strips of columns, over all of k.
  absl::Status Task(int64_t batch, int64_t panel, int64_t strip, int64_t strips,
                    const char* packed_b) {
    const int64_t row = panel * kPanelRows, rows = std::min(kPanelRows, p_.m - row);
    const int64_t column = strip * kernels_.columns;
    const int64_t columns = std::min(strips * kernels_.columns, p_.n - column);
    const int64_t a_bytes = RoundUp(rows, kernels_.rows) * std::min(kDepth, p_.k) * bytes_;
    const Scratch scratch(a_bytes + (c_in_place_ ? 0 : rows * columns * bytes_));
    if (scratch.data() == nullptr) return OutOfMemory();
    char* c = c_in_place_ ? At(p_, p_.c, batch, row, column) : scratch.data() + a_bytes;
    const int64_t c_row = c_in_place_ ? p_.c.row : columns;
    for (int64_t k = 0; k == 0 || k < p_.k; k += kDepth) {
      const int64_t depth = std::min(kDepth, p_.k - k);
      PackA(batch, row, rows, k, depth, scratch.data());
      for (int64_t s = 0; s < strips; ++s) {
        const char* b = packed_b + (s * p_.k + k) * kernels_.columns * bytes_;
        int64_t b_step = kernels_.columns;
        if (b_in_place_ && Columns(strip + s) == kernels_.columns) {
          b = At(p_, p_.b, batch, k, column + s * kernels_.columns);
          b_step = p_.b.row;
        }
        char* c_strip = c + s * kernels_.columns * bytes_;
        for (int64_t i = 0; i < rows; i += kernels_.rows) {
          const int count = static_cast<int>(std::min<int64_t>(kernels_.rows, rows - i));
          kernels_.multiply(count, Columns(strip + s), depth, scratch.data() + i * depth * bytes_,
                            b, b_step, c_strip + i * c_row * bytes_, c_row, k > 0);
        }
      }
    }
    for (int64_t i = 0; !c_in_place_ && i < rows; ++i) {
      kernels_.store(c + i * columns * bytes_, columns, p_.c.type,
                     At(p_, p_.c, batch, row + i, column), p_.c.column);
    }
    return absl::OkStatus();
  }

  void PackA(int64_t batch, int64_t row, int64_t rows, int64_t k, int64_t depth, char* packed) {
    for (int64_t i = 0; i < rows; i += kernels_.rows) {
      const int count = static_cast<int>(std::min<int64_t>(kernels_.rows, rows - i));
      kernels_.pack_rows(p_.a.type, At(p_, p_.a, batch, row + i, k), p_.a.row, p_.a.column, count,
                         depth, packed + i * depth * bytes_);
    }
  }

  const Problem& p_;
  const Kernels& kernels_;
  const char* const packed_b_;
  const ColumnsOfB columns_of_b_;
  const int64_t bytes_;
  ThreadPool* const pool_;
  const int64_t batches_, panels_, strips_;
  const bool b_in_place_, c_in_place_;
  int64_t tile_strips_ = 1;
  std::unique_ptr<RowCounter> counter_;
  FirstError error_;
};

// Few rows of a against columns of b that are contiguous along k: b is read once, in place.
absl::Status DotRows(const Problem& p, const Kernels& kernels, Element type, ThreadPool* pool,
                     const RowsDone& block_done) {
  constexpr int64_t kBlock = 64;
  const int64_t bytes = ElementBytes(type), blocks = CeilDiv(p.n, kBlock);
  const bool a_in_place = p.a.type == type && p.a.column == 1;
  const Scratch a(a_in_place ? 0 : p.batches() * p.m * p.k * bytes);
  if (a.data() == nullptr) return OutOfMemory();
  for (int64_t row = 0; !a_in_place && row < p.batches() * p.m; ++row) {
    kernels.load(p.a.type, At(p, p.a, row / p.m, row % p.m, 0), p.a.column, p.k,
                 a.data() + row * p.k * bytes);
  }
  FirstError error;
  ForEachTask(pool, p.batches() * blocks, p.m * p.k * kBlock, [&](int64_t task, int worker) {
    if (error.failed()) return;
    const int64_t batch = task / blocks, first = task % blocks * kBlock;
    const int64_t count = std::min(kBlock, p.n - first);
    alignas(64) char sums[kDotColumns * 8];
    for (int64_t j = 0; j < count; j += kDotColumns) {
      const int columns = static_cast<int>(std::min<int64_t>(kDotColumns, count - j));
      for (int64_t i = 0; i < p.m; ++i) {
        const char* row =
            a_in_place ? At(p, p.a, batch, i, 0) : a.data() + (batch * p.m + i) * p.k * bytes;
        kernels.dot(row, p.k, p.b.type, At(p, p.b, batch, 0, first + j), p.b.column, columns, sums);
        kernels.store(sums, columns, p.c.type, At(p, p.c, batch, i, first + j), p.c.column);
      }
    }
    if (block_done) error.Set(block_done(batch * p.n + first, batch * p.n + first + count, worker));
  });
  return error.status();
}

Matrix Transposed(const Matrix& m) { return {m.data, m.type, m.batch, m.column, m.row}; }

// Drops batch dimensions of one and merges neighbours that every operand steps through evenly.
void MergeBatches(Problem* p) {
  int rank = 0;
  for (int d = 0; d < p->batch_rank; ++d) {
    const int64_t size = p->batch_sizes[d];
    if (size == 1) continue;
    const auto even = [&](const Matrix& m) { return m.batch[rank - 1] == m.batch[d] * size; };
    const bool merges = rank > 0 && even(p->a) && even(p->b) && even(p->c);
    if (!merges) ++rank;
    p->batch_sizes[rank - 1] = merges ? p->batch_sizes[rank - 1] * size : size;
    for (Matrix* m : {&p->a, &p->b, &p->c}) m->batch[rank - 1] = m->batch[d];
  }
  p->batch_rank = rank;
  if (rank == 0) p->a.batch[0] = p->b.batch[0] = p->c.batch[0] = 0;
}

// Batches that share b and lie behind one another in a and c are rows of one product.
Problem Collapsed(Problem p) {
  MergeBatches(&p);
  if (p.batch_rank == 1 && IsShared(p, p.b) && p.a.batch[0] == p.m * p.a.row &&
      p.c.batch[0] == p.m * p.c.row) {
    p.m *= p.batch_sizes[0];
    p.batch_rank = 0;
    p.a.batch[0] = p.c.batch[0] = 0;
  }
  return p;
}

bool IsFloat(Element e) { return e <= Element::kBF16; }

}  // namespace

int64_t Problem::batches() const {
  return std::accumulate(batch_sizes.begin(), batch_sizes.begin() + batch_rank, int64_t{1},
                         std::multiplies<>());
}

std::optional<Element> ElementOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return Element::kF32;
    case DType::kF64:
      return Element::kF64;
    case DType::kF16:
      return Element::kF16;
    case DType::kBF16:
      return Element::kBF16;
    case DType::kI8:
      return Element::kI8;
    case DType::kU8:
      return Element::kU8;
    case DType::kI16:
      return Element::kI16;
    case DType::kU16:
      return Element::kU16;
    case DType::kI32:
      return Element::kI32;
    case DType::kU32:
      return Element::kU32;
    case DType::kI64:
      return Element::kI64;
    case DType::kU64:
      return Element::kU64;
    default:
      return std::nullopt;
  }
}

int64_t ElementBytes(Element e) {
  static constexpr int8_t kBytes[] = {4, 8, 2, 2, 1, 1, 2, 2, 4, 4, 8, 8};
  return kBytes[static_cast<size_t>(e)];
}

const Kernels* KernelsOf(const KernelTable& table, Element a, Element b, Element out) {
  if (IsFloat(a) != IsFloat(b) || IsFloat(a) != IsFloat(out)) return nullptr;
  if (!IsFloat(a)) return ElementBytes(out) == 8 ? &table.u64 : &table.u32;
  const bool has_half = ElementBytes(a) == 2 || ElementBytes(b) == 2;
  const bool has_double = a == Element::kF64 || b == Element::kF64 || out == Element::kF64;
  // Doubles are not read from halves; nobody multiplies these.
  if (has_double) return has_half || ElementBytes(out) == 2 ? nullptr : &table.f64;
  return &table.f32;
}

Element AccumulatorType(const KernelTable& table, const Kernels* kernels) {
  if (kernels == &table.f32) return Element::kF32;
  if (kernels == &table.f64) return Element::kF64;
  return kernels == &table.u32 ? Element::kU32 : Element::kU64;
}

bool HasBitsOf(Element e, Element accumulator) {
  return e == accumulator || (e == Element::kI32 && accumulator == Element::kU32) ||
         (e == Element::kI64 && accumulator == Element::kU64);
}

const char* PackedB::Get(const Problem& p, const Kernels& kernels, int64_t accumulator_bytes,
                         ThreadPool* pool) const {
  std::call_once(once_, [&] {
    b_ = p.b;
    k_ = p.k;
    n_ = p.n;
    kernels_ = &kernels;
    const int64_t strips = CeilDiv(p.n, kernels.columns);
    const int64_t strip_bytes = p.k * kernels.columns * accumulator_bytes;
    strips_ = PoolAllocate(strips * strip_bytes);
    if (strips_ == nullptr) return;
    char* const target = static_cast<char*>(strips_->data());
    ForEachTask(pool, strips, p.k * kernels.columns, [&](int64_t strip, int) {
      PackStrip(p, kernels, 0, strip, target + strip * strip_bytes);
    });
  });
  const bool same = b_.data == p.b.data && b_.type == p.b.type && b_.row == p.b.row &&
                    b_.column == p.b.column && k_ == p.k && n_ == p.n && kernels_ == &kernels;
  return same && strips_ != nullptr ? static_cast<const char*>(strips_->data()) : nullptr;
}

namespace {

// With `columns`, b is computed strip by strip instead of read.
absl::Status RunEither(const Problem& problem, const KernelTable& table, ThreadPool* pool,
                       const RowsDone& done, const PackedB* packed_b, const ColumnsOfB& columns) {
  Problem p = Collapsed(problem);
  const int64_t rows = p.batches() * p.m;
  if (rows == 0) return absl::OkStatus();
  if (p.n == 0) return done ? done(0, rows, 0) : absl::OkStatus();
  const Kernels* kernels = KernelsOf(table, p.a.type, p.b.type, p.c.type);
  if (kernels == nullptr) return absl::InvalidArgumentError("operand types do not go together");
  const Element type = AccumulatorType(table, kernels);
  for (Matrix* m : {&p.a, &p.b, &p.c}) m->type = HasBitsOf(m->type, type) ? type : m->type;
  if (columns) return Blocked(p, *kernels, type, pool, done, nullptr, columns).Run();
  if (p.n < kDotRows && p.a.column == 1 && p.k > 0) {
    // A matrix times few vectors: the columns of the transposed product are the rows of this one.
    Problem t = p;
    std::swap(t.m, t.n);
    t.a = Transposed(p.b);
    t.b = Transposed(p.a);
    t.c = Transposed(p.c);
    return DotRows(t, *kernels, type, pool, done);
  }
  if (p.m < kDotRows && p.b.row == 1 && p.k > 0) {
    if (absl::Status s = DotRows(p, *kernels, type, pool, nullptr); !s.ok()) return s;
    return done ? done(0, rows, 0) : absl::OkStatus();
  }
  const char* packed = nullptr;
  if (packed_b != nullptr && IsShared(p, p.b)) {
    packed = packed_b->Get(p, *kernels, ElementBytes(type), pool);
  }
  return Blocked(p, *kernels, type, pool, done, packed).Run();
}

}  // namespace

absl::Status RunComputedB(const Problem& problem, const KernelTable& table, ThreadPool* pool,
                          const RowsDone& done, const ColumnsOfB& columns) {
  return RunEither(problem, table, pool, done, nullptr, columns);
}

absl::Status Run(const Problem& problem, const KernelTable& table, ThreadPool* pool,
                 const RowsDone& done, const PackedB* packed_b) {
  return RunEither(problem, table, pool, done, packed_b, nullptr);
}

}  // namespace lathe::gemm
