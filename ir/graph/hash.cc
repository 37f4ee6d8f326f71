#include "ir/graph/hash.h"

#include "absl/hash/hash.h"

namespace lathe {

size_t HashOf(const Argument& argument, size_t seed) {
  seed = absl::HashOf(seed, argument.kind());
  switch (argument.kind()) {
    case Argument::Kind::kValue:
      return absl::HashOf(seed, argument.value());
    case Argument::Kind::kInt:
      return absl::HashOf(seed, argument.expr());
    case Argument::Kind::kBool:
      return absl::HashOf(seed, argument.boolean());
    case Argument::Kind::kScalar:
      return absl::HashOf(seed, argument.number());
    case Argument::Kind::kString:
      return absl::HashOf(seed, argument.string());
    case Argument::Kind::kDType:
      return absl::HashOf(seed, argument.dtype());
    case Argument::Kind::kMemoryFormat:
      return absl::HashOf(seed, argument.memory_format());
    case Argument::Kind::kList:
      for (const Argument& item : argument.list()) seed = HashOf(item, seed);
      return seed;
    default:
      return seed;
  }
}

}  // namespace lathe
