#include "codegen/tile/stream_tile.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codegen/tile/stream_tile.cc"
#include "hwy/foreach_target.h"
// After it.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void StreamVectors(void* to, const void* from, int64_t bytes) {
  const hn::ScalableTag<uint8_t> d;
  uint8_t* out = static_cast<uint8_t*>(to);
  const uint8_t* in = static_cast<const uint8_t*>(from);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < bytes; i += lanes) hn::Stream(hn::LoadU(d, in + i), d, out + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace tile
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe::tile {
HWY_EXPORT(StreamVectors);

void StreamTile(void* to, const void* from, int64_t bytes) {
  if (reinterpret_cast<uintptr_t>(to) % 64 != 0) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  HWY_DYNAMIC_DISPATCH(StreamVectors)(to, from, bytes);
}

void FinishStreams() { hwy::FlushStream(); }

}  // namespace lathe::tile
#endif
