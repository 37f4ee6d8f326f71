#ifndef LATHE_CODEGEN_TILE_STREAM_TILE_H_
#define LATHE_CODEGEN_TILE_STREAM_TILE_H_

// Tiles of results and operands that no cache keeps.

#include <cstdint>

namespace lathe::tile {

// Copies a tile of a multiple of 64 bytes past the caches; an ordinary copy where `to` is not at
// a multiple of 64.
void StreamTile(void* to, const void* from, int64_t bytes);

// Orders what was streamed before what the thread stores from here on.
void FinishStreams();

// Asks memory for what is read soon; it may lie behind the end of a buffer.
inline void FetchTile(const char* from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(from + at);
}

}  // namespace lathe::tile

#endif  // LATHE_CODEGEN_TILE_STREAM_TILE_H_
