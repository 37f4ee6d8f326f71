#include "symbolic/source.h"

#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"

namespace lathe::symbolic {
namespace {

Source Make(Source::Kind kind, int input, int dimension, absl::string_view node) {
  Source s;
  s.kind = kind;
  s.input = input;
  s.dimension = dimension;
  s.node = std::string(node);
  return s;
}

constexpr absl::string_view kWords[] = {"none",   "size", "stride",   "offset",
                                        "scalar", "item", "attribute"};

bool HasNode(Source::Kind kind) {
  return kind == Source::Kind::kItem || kind == Source::Kind::kAttribute;
}
bool HasDimension(Source::Kind kind) {
  return kind == Source::Kind::kInputSize || kind == Source::Kind::kInputStride;
}

}  // namespace

Source Source::InputSize(int input, int dimension) {
  return Make(Kind::kInputSize, input, dimension, "");
}
Source Source::InputStride(int input, int dimension) {
  return Make(Kind::kInputStride, input, dimension, "");
}
Source Source::InputOffset(int input) { return Make(Kind::kInputOffset, input, -1, ""); }
Source Source::InputScalar(int input) { return Make(Kind::kInputScalar, input, -1, ""); }
Source Source::Item(absl::string_view node) { return Make(Kind::kItem, -1, -1, node); }
Source Source::Attribute(absl::string_view path) { return Make(Kind::kAttribute, -1, -1, path); }

std::string Source::ToString() const {
  switch (kind) {
    case Kind::kNone:
      return "unknown source";
    case Kind::kInputSize:
      return absl::StrCat("size ", dimension, " of input ", input);
    case Kind::kInputStride:
      return absl::StrCat("stride ", dimension, " of input ", input);
    case Kind::kInputOffset:
      return absl::StrCat("offset of input ", input);
    case Kind::kInputScalar:
      return absl::StrCat("input ", input);
    case Kind::kItem:
      return absl::StrCat("item of ", node);
    case Kind::kAttribute:
      return absl::StrCat("attribute ", node);
  }
  LATHE_UNREACHABLE();
}

std::string Source::Key() const {
  const absl::string_view word = kWords[static_cast<size_t>(kind)];
  if (kind == Kind::kNone) return std::string(word);
  if (HasNode(kind)) return absl::StrCat(word, ":", node);
  return HasDimension(kind) ? absl::StrCat(word, ":", input, ":", dimension)
                            : absl::StrCat(word, ":", input);
}

absl::StatusOr<Source> Source::FromKey(absl::string_view key) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(key, absl::MaxSplits(':', 1));
  for (size_t k = 0; k < std::size(kWords); ++k) {
    if (parts.first != kWords[k]) continue;
    const Kind kind = static_cast<Kind>(k);
    if (kind == Kind::kNone && key == kWords[k]) return Source();
    if (HasNode(kind)) return Make(kind, -1, -1, parts.second);
    const std::vector<absl::string_view> numbers = absl::StrSplit(parts.second, ':');
    int input = -1, dimension = -1;
    if (numbers.size() != (HasDimension(kind) ? 2u : 1u)) break;
    if (!absl::SimpleAtoi(numbers[0], &input) || input < 0) break;
    if (HasDimension(kind) && (!absl::SimpleAtoi(numbers[1], &dimension) || dimension < 0)) break;
    return Make(kind, input, dimension, "");
  }
  return InvalidArgument("not a source: '", key, "'");
}

bool operator<(const Source& a, const Source& b) {
  return std::tie(a.kind, a.input, a.dimension, a.node) <
         std::tie(b.kind, b.input, b.dimension, b.node);
}

std::string Asker::ToString() const {
  if (node.empty() && source_line.empty()) return "";
  if (source_line.empty()) return absl::StrCat(" (asked by ", node, ")");
  if (node.empty()) return absl::StrCat(" (asked at ", source_line, ")");
  return absl::StrCat(" (asked by ", node, " at ", source_line, ")");
}

}  // namespace lathe::symbolic
