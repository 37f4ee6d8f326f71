// Conversions at memory size on one thread, against a plain loop that reads and writes the same
// numbers of bytes:
//
//   ./bazelw run //dtypes:dtypes_benchmark
//
// Each repetition runs the conversion, the loop with ordinary stores and the loop with non-temporal
// ones, one after the other, so that what else the machine does meets all three. `ratio` is the
// time of the better loop divided by the conversion's, medians both: 1 is the speed of memory.

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "dtypes/base/check.h"
#include "dtypes/convert.h"
#include "dtypes/dtype.h"
#include "dtypes/memory_floor.h"

namespace lathe {
namespace {

constexpr int64_t kLargerSide = int64_t{256} << 20;

// Memory on huge pages, touched.
class HugeBuffer {
 public:
  explicit HugeBuffer(int64_t size) : size_(size + kHugePage) {
    void* pages = mmap(nullptr, static_cast<size_t>(size_), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    LATHE_CHECK(pages != MAP_FAILED);
    pages_ = static_cast<uint8_t*>(pages);
    madvise(pages_, static_cast<size_t>(size_), MADV_HUGEPAGE);
    std::fill(data(), data() + size, uint8_t{0x35});
  }
  HugeBuffer(const HugeBuffer&) = delete;
  HugeBuffer& operator=(const HugeBuffer&) = delete;
  ~HugeBuffer() { munmap(pages_, static_cast<size_t>(size_)); }

  uint8_t* data() const {
    return pages_ + (-reinterpret_cast<uintptr_t>(pages_) & (kHugePage - 1));
  }

 private:
  static constexpr int64_t kHugePage = int64_t{2} << 20;
  int64_t size_;
  uint8_t* pages_;
};

// Of this thread alone: the turns of other programs are not counted.
double ThreadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
template <typename F>
double Seconds(F&& f) {
  const double start = ThreadSeconds();
  f();
  benchmark::ClobberMemory();
  return ThreadSeconds() - start;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Values that fit every type, zero among them.
void FillSource(DType dtype, uint8_t* bytes, int64_t count) {
  std::vector<float> values(4096);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13);
  for (int64_t k = 0; k < count; k += 4096) {
    const absl::Status status = ConvertBuffer(values.data(), DType::kF32, 0, bytes, dtype, k,
                                              std::min<int64_t>(4096, count - k));
    LATHE_CHECK(status.ok());
  }
}

void BM_Convert(benchmark::State& state, DType from, DType to) {
  const int from_bits = BitWidth(from), to_bits = BitWidth(to);
  const int64_t count = kLargerSide * 8 / std::max(from_bits, to_bits);
  const int64_t from_bytes = *ByteSize(from, count), to_bytes = *ByteSize(to, count);
  const HugeBuffer source(from_bytes), target(to_bytes);
  FillSource(from, source.data(), count);
  const int common = std::gcd(from_bits, to_bits);
  const int reads = from_bits / common, writes = to_bits / common;
  const int64_t steps = from_bytes / (32 * reads);
  std::vector<double> conversion, ordinary, streamed;
  for (auto _ : state) {
    conversion.push_back(Seconds([&] {
      LATHE_CHECK(ConvertBuffer(source.data(), from, 0, target.data(), to, 0, count).ok());
    }));
    const auto loop = [&](bool streams) {
      return Seconds(
          [&] { ReadAndWrite(source.data(), reads, target.data(), writes, steps, streams); });
    };
    ordinary.push_back(loop(false));
    streamed.push_back(loop(true));
    state.SetIterationTime(conversion.back());
  }
  const double floor = std::min(Median(ordinary), Median(streamed));
  const double gigabytes = static_cast<double>(from_bytes + to_bytes) * 1e-9;
  state.counters["GB/s"] = gigabytes / Median(conversion);
  state.counters["loop_GB/s"] = gigabytes / floor;
  state.counters["ratio"] = floor / Median(conversion);
}

void Register(DType from, DType to) {
  const std::string name = std::string(Name(from)) + " to " + std::string(Name(to));
  benchmark::RegisterBenchmark(name.c_str(), BM_Convert, from, to)
      ->UseManualTime()
      ->Iterations(21)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace lathe

int main(int argc, char** argv) {
  using lathe::DType;
  lathe::Register(DType::kU4, DType::kF32);
  lathe::Register(DType::kU4, DType::kBF16);
  lathe::Register(DType::kF32, DType::kU4);
  for (DType small : {DType::kBF16, DType::kF16, DType::kF8E4M3FN, DType::kF8E5M2,
                      DType::kF8E4M3FNUZ, DType::kF8E5M2FNUZ, DType::kF8E8M0FNU}) {
    lathe::Register(DType::kF32, small);
    lathe::Register(small, DType::kF32);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
