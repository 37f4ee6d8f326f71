#include "runtime/trace/md5_hex.h"

#include <md5.h>

#include <cstdint>

#include "absl/strings/escaping.h"

namespace lathe {

std::string Md5Hex(absl::string_view bytes) {
  MD5_CTX context;
  MD5Init(&context);
  MD5Update(&context, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  uint8_t digest[MD5_DIGEST_LENGTH];
  MD5Final(digest, &context);
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest), MD5_DIGEST_LENGTH});
}

}  // namespace lathe
