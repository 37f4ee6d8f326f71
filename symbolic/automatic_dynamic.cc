#include "symbolic/automatic_dynamic.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "dtypes/base/status.h"

namespace lathe::symbolic {
namespace {

using State = SeenNumber::State;

constexpr absl::string_view kName = "lathe automatic dynamic ";
constexpr int kVersion = 2;

// FNV-1a: against accidents, not against malice.
uint64_t Checksum(absl::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

std::string EndLine(absl::string_view lines) {
  const auto count = std::count(lines.begin(), lines.end(), '\n') - 1;  // without the header
  return absl::StrFormat("end %d %016x\n", count, Checksum(lines));
}

// The inner dimension that each stride steps over: the nearest one in storage whose size times
// stride it is, so that a contiguous tensor of any sizes has the same strides here. An empty
// dimension counts as 1, as it does in the strides of a new tensor.
std::vector<SeenNumber> RelativeStrides(absl::Span<const int64_t> sizes,
                                        absl::Span<const int64_t> strides) {
  std::vector<size_t> order;
  for (size_t d = sizes.size(); d-- > 0;) order.push_back(d);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return strides[a] < strides[b]; });
  std::vector<SeenNumber> result(sizes.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t d = order[i];
    result[d] = SeenNumber::Of(strides[d]);
    for (size_t j = i; j-- > 0;) {
      const size_t inner = order[j];
      int64_t step;
      if (__builtin_mul_overflow(std::max<int64_t>(sizes[inner], 1), strides[inner], &step) ||
          step != strides[d]) {
        continue;
      }
      result[d] = SeenNumber::Relative(static_cast<int64_t>(inner));
      break;
    }
  }
  return result;
}

std::vector<SeenNumber> JoinAll(const std::vector<SeenNumber>& a,
                                const std::vector<SeenNumber>& b) {
  std::vector<SeenNumber> result;
  for (size_t i = 0; i < a.size(); ++i) result.push_back(Join(a[i], b[i]));
  return result;
}

std::string Text(const SeenNumber& n) {
  switch (n.state) {
    case State::kUnset:
      return "?";
    case State::kValue:
      return absl::StrCat(n.value);
    case State::kRelative:
      return absl::StrCat("@", n.value);
    default:
      return "*";
  }
}

bool ParseNumber(absl::string_view text, SeenNumber& n) {
  if (text == "?") return true;
  if (text == "*") return n = SeenNumber::Dynamic(), true;
  n.state = !text.empty() && text[0] == '@' ? State::kRelative : State::kValue;
  if (n.state == State::kRelative) text.remove_prefix(1);
  return absl::SimpleAtoi(text, &n.value) && (n.state != State::kRelative || n.value >= 0);
}

// A name without blanks or line ends.
std::string Quote(absl::string_view name) {
  return absl::StrReplaceAll(absl::CEscape(name), {{" ", "\\040"}});
}

// "x sizes 8 * strides @1 1" or "x any"
bool ParseTensor(absl::Span<const absl::string_view> words, SeenInput& input) {
  input.is_tensor = true;
  if (words.size() == 1 && words[0] == "any") return input.any_rank = true;
  if (words.empty() || words[0] != "sizes") return false;
  std::vector<SeenNumber>* to = &input.sizes;
  for (const absl::string_view word : words.subspan(1)) {
    if (word == "strides" && to == &input.sizes) {
      to = &input.strides;
      continue;
    }
    SeenNumber n;
    if (!ParseNumber(word, n)) return false;
    to->push_back(n);
  }
  const auto rank = static_cast<int64_t>(input.sizes.size());
  const auto is_relative = [](const SeenNumber& n) { return n.state == State::kRelative; };
  return to == &input.strides && input.strides.size() == input.sizes.size() &&
         std::none_of(input.sizes.begin(), input.sizes.end(), is_relative) &&
         std::none_of(input.strides.begin(), input.strides.end(),
                      [&](const SeenNumber& n) { return is_relative(n) && n.value >= rank; });
}

bool ParseLine(absl::string_view line, std::map<std::string, SeenInput>& inputs) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  std::string name;
  if (words.size() < 3 || !absl::CUnescape(words[1], &name) || inputs.contains(name)) return false;
  SeenInput& input = inputs[name];
  if (words[0] == "scalar") return words.size() == 3 && ParseNumber(words[2], input.scalar);
  return words[0] == "tensor" && ParseTensor(absl::MakeConstSpan(words).subspan(2), input);
}

}  // namespace

SeenNumber Join(const SeenNumber& a, const SeenNumber& b) {
  if (a.state == State::kUnset) return b;
  if (b.state == State::kUnset || a == b) return a;
  return SeenNumber::Dynamic();
}

SeenInput Join(const SeenInput& a, const SeenInput& b) {
  SeenInput r;
  r.scalar = Join(a.scalar, b.scalar);
  r.is_tensor = a.is_tensor || b.is_tensor;
  const bool both = a.is_tensor && b.is_tensor;
  r.any_rank = a.any_rank || b.any_rank || (both && a.sizes.size() != b.sizes.size());
  if (r.any_rank) return r;
  r.sizes = !a.is_tensor ? b.sizes : !b.is_tensor ? a.sizes : JoinAll(a.sizes, b.sizes);
  r.strides = !a.is_tensor ? b.strides : !b.is_tensor ? a.strides : JoinAll(a.strides, b.strides);
  return r;
}

void AutomaticDynamic::ObserveTensor(absl::string_view input, absl::Span<const int64_t> sizes,
                                     absl::Span<const int64_t> strides) {
  SeenInput seen;
  seen.is_tensor = true;
  for (const int64_t size : sizes) seen.sizes.push_back(SeenNumber::Of(size));
  seen.strides = RelativeStrides(sizes, strides);
  SeenInput& known = inputs_[std::string(input)];
  known = Join(known, seen);
}

void AutomaticDynamic::ObserveScalar(absl::string_view input, int64_t value) {
  SeenInput& known = inputs_[std::string(input)];
  known.scalar = Join(known.scalar, SeenNumber::Of(value));
}

void AutomaticDynamic::Merge(const AutomaticDynamic& other) {
  for (const auto& [name, seen] : other.inputs_) {
    SeenInput& known = inputs_[name];
    known = Join(known, seen);
  }
}

const SeenInput* AutomaticDynamic::Find(absl::string_view input) const {
  const auto it = inputs_.find(std::string(input));
  return it == inputs_.end() ? nullptr : &it->second;
}

DimPolicy AutomaticDynamic::SizePolicy(absl::string_view input, int dimension) const {
  const SeenInput* seen = Find(input);
  if (seen == nullptr) return DimPolicy::kStatic;
  if (seen->any_rank) return DimPolicy::kDuck;
  const size_t d = static_cast<size_t>(dimension);
  const bool changed = d < seen->sizes.size() && seen->sizes[d].state == State::kDynamic;
  return changed ? DimPolicy::kDuck : DimPolicy::kStatic;
}

DimPolicy AutomaticDynamic::ScalarPolicy(absl::string_view input) const {
  const SeenInput* seen = Find(input);
  const bool changed = seen != nullptr && seen->scalar.state == State::kDynamic;
  return changed ? DimPolicy::kDynamic : DimPolicy::kStatic;
}

DimPolicy AutomaticDynamic::StridePolicy(absl::string_view input, int dimension) const {
  const SeenInput* seen = Find(input);
  const size_t d = static_cast<size_t>(dimension);
  if (seen == nullptr || seen->any_rank || d >= seen->strides.size()) return DimPolicy::kStatic;
  return seen->strides[d].state == State::kDynamic ? DimPolicy::kDynamic : DimPolicy::kStatic;
}

bool AutomaticDynamic::IsAnyRank(absl::string_view input) const {
  const SeenInput* seen = Find(input);
  return seen != nullptr && seen->any_rank;
}

std::string AutomaticDynamic::Serialize() const {
  std::string text = absl::StrCat(kName, kVersion, "\n");
  for (const auto& [name, seen] : inputs_) {
    // An input that was seen as both has two lines; the second is marked by its word.
    if (seen.is_tensor) {
      absl::StrAppend(&text, "tensor ", Quote(name), seen.any_rank ? " any" : " sizes");
      for (const SeenNumber& n : seen.sizes) absl::StrAppend(&text, " ", Text(n));
      if (!seen.any_rank) text += " strides";
      for (const SeenNumber& n : seen.strides) absl::StrAppend(&text, " ", Text(n));
      text += "\n";
    }
    if (seen.scalar.state != State::kUnset) {
      absl::StrAppend(&text, "scalar ", Quote(name), " ", Text(seen.scalar), "\n");
    }
  }
  return text + EndLine(text);
}

absl::StatusOr<AutomaticDynamic> AutomaticDynamic::Parse(absl::string_view text) {
  const std::string header = absl::StrCat(kName, kVersion, "\n");
  if (!absl::StartsWith(text, header)) {
    const absl::string_view first = text.substr(0, std::min<size_t>(text.find('\n'), 60));
    return InvalidArgument("line 1: expected '", kName, kVersion, "', not '",
                           absl::CHexEscape(first), "'");
  }
  const size_t end = text.rfind("\nend ");
  if (end == absl::string_view::npos || text.substr(end + 1) != EndLine(text.substr(0, end + 1))) {
    return InvalidArgument("line ", std::count(text.begin(), text.end(), '\n'),
                           ": the end does not fit the lines before it: the state was cut or "
                           "damaged");
  }
  AutomaticDynamic result;
  int64_t number = 1;
  for (const absl::string_view line :
       absl::StrSplit(text.substr(header.size(), end + 1 - header.size()), '\n')) {
    ++number;
    if (line.empty()) continue;
    std::map<std::string, SeenInput> one;
    if (!ParseLine(line, one)) {
      return InvalidArgument("line ", number, ": not a state of automatic dynamic: '",
                             absl::CHexEscape(line.substr(0, 80)), "'");
    }
    for (const auto& [name, seen] : one) {
      SeenInput& known = result.inputs_[name];
      known = Join(known, seen);
    }
  }
  return result;
}

absl::Status AutomaticDynamic::Save(const std::string& path) const {
  struct stat there;
  if (lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISLNK(there.st_mode)) {
    return FailedPrecondition("cannot write ", path, ": it is no file");
  }
  static std::atomic<int64_t> next{0};  // several threads may save to one path
  const std::string temporary = absl::StrCat(path, ".", getpid(), ".", next++, ".tmp");
  std::ofstream out(temporary, std::ios::binary);
  out << Serialize();
  out.close();
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::remove(temporary.c_str());
    return FailedPrecondition("cannot write ", path, ": ", std::strerror(error));
  }
  return absl::OkStatus();
}

absl::StatusOr<AutomaticDynamic> AutomaticDynamic::Load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return NotFound("no file ", path);
  std::stringstream bytes;
  bytes << in.rdbuf();
  absl::StatusOr<AutomaticDynamic> result = Parse(bytes.str());
  if (!result.ok()) return Annotate(result.status(), path);
  return result;
}

}  // namespace lathe::symbolic
