// A Plan as bytes: "LATHPLAN", version (4 bytes), length of the body (8), XXH3 of the body (8), the
// body. In the body integers are zigzag varints, strings and lists have their length first.

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "dtypes/base/status.h"
#include "runtime/abi/plan.h"
#include "runtime/abi/plan_fields.h"
#include "xxhash.h"

namespace lathe {
namespace {

constexpr char kMagic[] = "LATHPLAN";
constexpr size_t kMagicBytes = 8, kHeaderBytes = 28;
// Plans nest as control flow does; deeper than this is an attack on the stack.
constexpr int kMaxNesting = 64;

class Writer {
 public:
  template <typename... T>
  void operator()(const T&... fields) {
    (Write(fields), ...);
  }
  std::string Take() { return std::move(out_); }

 private:
  template <typename T>
  void Write(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      WriteInt(static_cast<int64_t>(value));
    } else if constexpr (std::is_integral_v<T>) {
      WriteInt(value);
    } else {
      // Fields is shared with the reader, so it takes non-const; the writer only looks.
      plan_internal::Fields(*this, const_cast<T&>(value));
    }
  }
  void Write(const std::string& value) {
    WriteInt(static_cast<int64_t>(value.size()));
    out_ += value;
  }
  template <typename T>
  void Write(const std::vector<T>& values) {
    WriteInt(static_cast<int64_t>(values.size()));
    for (const T& value : values) Write(value);
  }
  void Write(const PlanStep& step) {
    WriteInt(static_cast<int64_t>(step.index()));
    std::visit([&](const auto& s) { Write(s); }, step);
  }
  void WriteInt(int64_t value) {
    uint64_t rest = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
    for (; rest >= 0x80; rest >>= 7) out_ += static_cast<char>(rest | 0x80);
    out_ += static_cast<char>(rest);
  }

  std::string out_;
};

// How many values an enum has; a byte past it is damage.
template <typename T>
constexpr int64_t EnumCount();
template <>
constexpr int64_t EnumCount<DType>() {
  return kDTypeCount;
}
template <>
constexpr int64_t EnumCount<SizeOp>() {
  return kSizeOpCount;
}
template <>
constexpr int64_t EnumCount<ReturnStep::Output::Kind>() {
  return static_cast<int64_t>(ReturnStep::Output::Kind::kNone) + 1;
}

// After the first failure everything reads as nothing, so callers check once, at the end.
class Reader {
 public:
  explicit Reader(absl::string_view bytes) : rest_(bytes) {}
  template <typename... T>
  void operator()(T&... fields) {
    (Read(fields), ...);
  }
  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }

 private:
  template <typename T>
  void Read(T& value) {
    if constexpr (std::is_enum_v<T>) {
      const int64_t v = ReadInt();
      if (v < 0 || v >= EnumCount<T>()) return Fail();
      value = static_cast<T>(v);
    } else if constexpr (std::is_same_v<T, bool>) {
      const int64_t v = ReadInt();
      if (v != 0 && v != 1) return Fail();
      value = v == 1;
    } else if constexpr (std::is_integral_v<T>) {
      const int64_t v = ReadInt();
      if (!std::in_range<T>(v)) return Fail();
      value = static_cast<T>(v);
    } else if constexpr (std::is_same_v<T, Plan>) {
      if (++nesting_ > kMaxNesting) return Fail();
      plan_internal::Fields(*this, value);
      --nesting_;
    } else {
      plan_internal::Fields(*this, value);
    }
  }
  void Read(std::string& value) {
    const size_t size = ReadCount();
    value.assign(rest_.data(), size);
    rest_.remove_prefix(size);
  }
  template <typename T>
  void Read(std::vector<T>& values) {
    // No reserve: a false count must not cost memory that the bytes do not pay for.
    for (size_t n = ReadCount(); n > 0 && !failed_; --n) Read(values.emplace_back());
  }
  void Read(PlanStep& step) { ReadStep(step, ReadInt(), std::make_index_sequence<kStepKinds>()); }
  template <size_t... kIndex>
  void ReadStep(PlanStep& step, int64_t kind, std::index_sequence<kIndex...>) {
    const bool known =
        ((kind == static_cast<int64_t>(kIndex) && (Read(step.emplace<kIndex>()), true)) || ...);
    if (!known) Fail();
  }
  // A number of elements: each takes at least one byte, so more than is left is damage.
  size_t ReadCount() {
    const int64_t n = ReadInt();
    if (n < 0 || static_cast<uint64_t>(n) > rest_.size()) return Fail(), 0;
    return static_cast<size_t>(n);
  }
  int64_t ReadInt() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
    }
    return Fail(), 0;
  }
  void Fail() {
    failed_ = true;
    rest_ = absl::string_view();
  }

  static constexpr size_t kStepKinds = std::variant_size_v<PlanStep>;
  absl::string_view rest_;
  bool failed_ = false;
  int nesting_ = 0;
};

template <typename T>
void Append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}
template <typename T>
T Extract(absl::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

}  // namespace

std::string SerializePlan(const Plan& plan) {
  Writer writer;
  writer(plan);
  const std::string body = writer.Take();
  std::string out(kMagic, kMagicBytes);
  Append(out, static_cast<uint32_t>(Plan::kVersion));
  Append(out, static_cast<uint64_t>(body.size()));
  Append(out, static_cast<uint64_t>(XXH3_64bits(body.data(), body.size())));
  return out + body;
}

absl::StatusOr<Plan> ParsePlan(absl::string_view bytes) {
  if (bytes.size() < kHeaderBytes || bytes.substr(0, kMagicBytes) != kMagic) {
    return DataLoss("plan: not a plan (", bytes.size(), " bytes without the mark ", kMagic, ")");
  }
  const auto version = Extract<uint32_t>(bytes, kMagicBytes);
  if (version != static_cast<uint32_t>(Plan::kVersion)) {
    return InvalidArgument("plan: version ", version, ", this lathe reads version ",
                           Plan::kVersion);
  }
  const absl::string_view body = bytes.substr(kHeaderBytes);
  const auto length = Extract<uint64_t>(bytes, 12);
  if (length != body.size()) {
    return DataLoss("plan: ", body.size(), " bytes after the header that says ", length);
  }
  if (Extract<uint64_t>(bytes, 20) != XXH3_64bits(body.data(), body.size())) {
    return DataLoss("plan: the checksum does not match, the bytes are damaged");
  }
  Plan plan;
  Reader reader(body);
  reader(plan);
  if (reader.failed() || !reader.at_end()) return DataLoss("plan: the body does not add up");
  LATHE_RETURN_IF_ERROR(ValidatePlan(plan));
  return plan;
}

}  // namespace lathe
