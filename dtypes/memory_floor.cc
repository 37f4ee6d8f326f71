#include "dtypes/memory_floor.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dtypes/memory_floor.cc"
#include "hwy/foreach_target.h"
// After it.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <int kReads, int kWrites, bool kStreams>
void Loop(const uint64_t* src, uint64_t* dst, int64_t steps) {
  const hn::CappedTag<uint64_t, 4> d;
  const int64_t lanes = hn::Lanes(d), vectors = 4 / lanes;  // of each 32 bytes
  auto sum = hn::Zero(d);
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t r = 0; r < kReads * vectors; ++r, src += lanes) {
      sum = hn::Xor(sum, hn::LoadU(d, src));
    }
    for (int64_t w = 0; w < kWrites * vectors; ++w, dst += lanes) {
      if (kStreams) {
        hn::Stream(sum, d, dst);
      } else {
        hn::StoreU(sum, d, dst);
      }
    }
  }
  if (kStreams) hwy::FlushStream();
}

template <bool kStreams>
void Pick(const uint64_t* src, int reads, uint64_t* dst, int writes, int64_t steps) {
  switch (10 * reads + writes) {
    case 11:
      return Loop<1, 1, kStreams>(src, dst, steps);
    case 12:
      return Loop<1, 2, kStreams>(src, dst, steps);
    case 14:
      return Loop<1, 4, kStreams>(src, dst, steps);
    case 18:
      return Loop<1, 8, kStreams>(src, dst, steps);
    case 21:
      return Loop<2, 1, kStreams>(src, dst, steps);
    case 41:
      return Loop<4, 1, kStreams>(src, dst, steps);
    case 81:
      return Loop<8, 1, kStreams>(src, dst, steps);
    default:
      HWY_ABORT("no loop of %d reads and %d writes", reads, writes);
  }
}

}  // namespace

void ReadAndWriteImpl(const void* src, int reads, void* dst, int writes, int64_t steps,
                      bool streams) {
  const uint64_t* from = static_cast<const uint64_t*>(src);
  uint64_t* to = static_cast<uint64_t*>(dst);
  if (streams) return Pick<true>(from, reads, to, writes, steps);
  Pick<false>(from, reads, to, writes, steps);
}

}  // namespace HWY_NAMESPACE
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe {
HWY_EXPORT(ReadAndWriteImpl);
void ReadAndWrite(const void* src, int reads, void* dst, int writes, int64_t steps, bool streams) {
  HWY_DYNAMIC_DISPATCH(ReadAndWriteImpl)(src, reads, dst, writes, steps, streams);
}
}  // namespace lathe
#endif
