#include "runtime/files/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dtypes/base/status.h"
#include "dtypes/dtype.h"
#include "rapidjson/document.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"
#include "runtime/files/mapped_file.h"

namespace lathe {
namespace {

constexpr uint64_t kMaxHeader = 100'000'000;
constexpr char kMetadata[] = "__metadata__";

constexpr std::pair<DType, const char*> kNames[] = {
    {DType::kBool, "BOOL"},
    {DType::kU8, "U8"},
    {DType::kI8, "I8"},
    {DType::kU16, "U16"},
    {DType::kI16, "I16"},
    {DType::kU32, "U32"},
    {DType::kI32, "I32"},
    {DType::kU64, "U64"},
    {DType::kI64, "I64"},
    {DType::kF8E4M3FN, "F8_E4M3"},
    {DType::kF8E5M2, "F8_E5M2"},
    {DType::kF8E4M3FNUZ, "F8_E4M3FNUZ"},
    {DType::kF8E5M2FNUZ, "F8_E5M2FNUZ"},
    {DType::kF8E8M0FNU, "F8_E8M0"},
    {DType::kF16, "F16"},
    {DType::kBF16, "BF16"},
    {DType::kF32, "F32"},
    {DType::kF64, "F64"},
    {DType::kC64, "C64"},
};

const char* FormatName(DType dtype) {
  for (const auto& [type, name] : kNames) {
    if (type == dtype) return name;
  }
  return nullptr;
}
std::optional<DType> DTypeOfName(absl::string_view text) {
  for (const auto& [type, name] : kNames) {
    if (text == name) return type;
  }
  return std::nullopt;
}

using Json = rapidjson::Value;

absl::string_view Text(const Json& value) { return {value.GetString(), value.GetStringLength()}; }

// What the header says of one tensor.
struct Entry {
  std::string name;
  DType dtype = DType::kU8;
  Dims sizes;
  int64_t begin = 0, end = 0;
};

// "u3[4, 5]"; nullopt for other text.
std::optional<std::pair<DType, Dims>> ParseType(absl::string_view text) {
  const size_t bracket = text.find('[');
  if (bracket == absl::string_view::npos || !absl::ConsumeSuffix(&text, "]")) return std::nullopt;
  const std::optional<DType> dtype = ParseDType(text.substr(0, bracket));
  if (!dtype) return std::nullopt;
  Dims sizes;
  const absl::string_view list = text.substr(bracket + 1);
  if (list.empty()) return std::pair(*dtype, sizes);
  for (absl::string_view part : absl::StrSplit(list, ',')) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(part), &size) || size < 0) return std::nullopt;
    sizes.push_back(size);
  }
  return std::pair(*dtype, sizes);
}

// "u3[..." or "u9[...": meant as a type, right or wrong.
bool LooksPacked(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "u") && !absl::ConsumePrefix(&text, "i")) return false;
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return digits > 0 && absl::StartsWith(text.substr(digits), "[") && text.substr(0, digits) != "8";
}

// nullopt when the number of bytes overflows.
std::optional<int64_t> BytesOf(DType dtype, const Dims& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    if (__builtin_mul_overflow(count, size, &count)) return std::nullopt;
  }
  return ByteSize(dtype, count);
}

class HeaderReader {
 public:
  HeaderReader(const std::string& path, int64_t data_bytes)
      : path_(path), data_bytes_(data_bytes) {}

  absl::StatusOr<std::vector<Entry>> Read(absl::string_view text) {
    rapidjson::Document document;
    // Iterative: nesting must not use up the stack.
    document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
    if (document.HasParseError() || !document.IsObject()) {
      return Bad("the header is no JSON object (at byte ", document.GetErrorOffset(), ")");
    }
    std::vector<Entry> entries;
    for (const auto& member : document.GetObject()) {
      if (Text(member.name) == kMetadata) {
        LATHE_RETURN_IF_ERROR(ReadMetadata(member.value));
      } else {
        LATHE_ASSIGN_OR_RETURN(Entry entry, ReadEntry(Text(member.name), member.value));
        entries.push_back(std::move(entry));
      }
    }
    for (Entry& entry : entries) LATHE_RETURN_IF_ERROR(Finish(entry));
    LATHE_RETURN_IF_ERROR(CheckNames(entries));
    LATHE_RETURN_IF_ERROR(CheckPlaces(entries));
    return entries;
  }

 private:
  template <typename... Parts>
  absl::Status Bad(const Parts&... parts) const {
    return InvalidArgument(path_, ": ", parts...);
  }

  absl::Status ReadMetadata(const Json& value) {
    if (!value.IsObject()) return Bad(kMetadata, " is no object");
    for (const auto& member : value.GetObject()) {
      if (!member.value.IsString()) return Bad(kMetadata, " holds something else than texts");
      metadata_[std::string(Text(member.name))] = std::string(Text(member.value));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Entry> ReadEntry(absl::string_view name, const Json& value) const {
    Entry entry;
    entry.name = std::string(name);
    if (!value.IsObject()) return Bad("tensor '", name, "' is no object");
    const auto dtype = value.FindMember("dtype"), shape = value.FindMember("shape");
    const auto offsets = value.FindMember("data_offsets");
    if (dtype == value.MemberEnd() || !dtype->value.IsString() || shape == value.MemberEnd() ||
        !shape->value.IsArray() || offsets == value.MemberEnd() || !offsets->value.IsArray() ||
        offsets->value.Size() != 2 || value.MemberCount() != 3) {
      return Bad("tensor '", name, "' needs dtype, shape and data_offsets");
    }
    const std::optional<DType> type = DTypeOfName(Text(dtype->value));
    if (!type) return Bad("tensor '", name, "' has the unknown dtype ", Text(dtype->value));
    entry.dtype = *type;
    for (const Json& size : shape->value.GetArray()) {
      if (!size.IsInt64() || size.GetInt64() < 0) return Bad("tensor '", name, "': bad shape");
      entry.sizes.push_back(size.GetInt64());
    }
    const Json &begin = offsets->value[0], &end = offsets->value[1];
    if (!begin.IsInt64() || !end.IsInt64() || begin.GetInt64() < 0 ||
        begin.GetInt64() > end.GetInt64() || end.GetInt64() > data_bytes_) {
      return Bad("tensor '", name, "' lies outside the file's ", data_bytes_, " bytes of data");
    }
    entry.begin = begin.GetInt64();
    entry.end = end.GetInt64();
    return entry;
  }

  // What the metadata says, then whether the bytes are as many as the type needs.
  absl::Status Finish(Entry& entry) const {
    if (BytesOf(entry.dtype, entry.sizes) != entry.end - entry.begin) {
      return Bad("tensor '", entry.name, "': ", Name(entry.dtype), "[",
                 absl::StrJoin(entry.sizes, ", "), "] does not take ", entry.end - entry.begin,
                 " bytes");
    }
    const auto found = metadata_.find(entry.name);
    if (found == metadata_.end() || entry.dtype != DType::kU8) return absl::OkStatus();
    // Any other metadata may happen to have a tensor's name.
    const auto type = ParseType(found->second);
    const bool is_packed = type.has_value() && FormatName(type->first) == nullptr;
    if (!is_packed && !LooksPacked(found->second)) return absl::OkStatus();
    if (!is_packed || entry.sizes.size() != 1) {
      return Bad("tensor '", entry.name, "': its metadata '", found->second,
                 "' is no type of packed integers, as u3[4, 5], of a U8 tensor of one dimension");
    }
    if (BytesOf(type->first, type->second) != entry.end - entry.begin) {
      return Bad("tensor '", entry.name, "': ", found->second, " does not take ",
                 entry.end - entry.begin, " bytes");
    }
    entry.dtype = type->first;
    entry.sizes = type->second;
    return absl::OkStatus();
  }

  absl::Status CheckNames(std::vector<Entry>& entries) const {
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.name < b.name; });
    for (size_t k = 1; k < entries.size(); ++k) {
      if (entries[k].name == entries[k - 1].name) {
        return Bad("two tensors are called '", entries[k].name, "'");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckPlaces(const std::vector<Entry>& entries) const {
    std::vector<const Entry*> order;
    for (const Entry& entry : entries) order.push_back(&entry);
    std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
      return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
    });
    for (size_t k = 1; k < order.size(); ++k) {
      if (order[k]->begin < order[k - 1]->end) {
        return Bad("tensors '", order[k - 1]->name, "' and '", order[k]->name, "' overlap");
      }
    }
    return absl::OkStatus();
  }

  const std::string& path_;
  const int64_t data_bytes_;
  std::map<std::string, std::string> metadata_;
};

// Alignment that code which reads elements through pointers relies on.
int64_t AlignmentOf(DType dtype) {
  const int64_t bytes = BitWidth(dtype) / 8;
  return IsComplex(dtype) ? bytes / 2 : std::max<int64_t>(bytes, 1);
}

// Where each tensor goes: large elements first, so that all are aligned.
std::vector<std::pair<std::string, Tensor>> InFileOrder(
    const std::map<std::string, Tensor>& tensors) {
  std::vector<std::pair<std::string, Tensor>> order(tensors.begin(), tensors.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return AlignmentOf(a.second.dtype()) > AlignmentOf(b.second.dtype());
  });
  return order;
}

using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

void WriteText(JsonWriter& writer, absl::string_view text) {
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void WriteMetadata(JsonWriter& writer, const std::vector<std::pair<std::string, Tensor>>& tensors) {
  bool any = false;
  for (const auto& [name, tensor] : tensors) {
    if (FormatName(tensor.dtype()) != nullptr) continue;
    if (!any) {
      writer.Key(kMetadata);
      writer.StartObject();
    }
    any = true;
    WriteText(writer, name);
    WriteText(writer,
              absl::StrCat(Name(tensor.dtype()), "[", absl::StrJoin(tensor.sizes(), ", "), "]"));
  }
  if (any) writer.EndObject();
}

std::string Header(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  rapidjson::StringBuffer buffer;
  JsonWriter writer(buffer);
  writer.StartObject();
  WriteMetadata(writer, tensors);
  int64_t place = 0;
  for (const auto& [name, tensor] : tensors) {
    const int64_t bytes = *ByteSize(tensor.dtype(), tensor.numel());
    const char* format_name = FormatName(tensor.dtype());
    WriteText(writer, name);
    writer.StartObject();
    writer.Key("dtype");
    writer.String(format_name == nullptr ? "U8" : format_name);
    writer.Key("shape");
    writer.StartArray();
    if (format_name == nullptr) {
      writer.Int64(bytes);
    } else {
      for (const int64_t size : tensor.sizes()) writer.Int64(size);
    }
    writer.EndArray();
    writer.Key("data_offsets");
    writer.StartArray();
    writer.Int64(place);
    writer.Int64(place + bytes);
    writer.EndArray();
    writer.EndObject();
    place += bytes;
  }
  writer.EndObject();
  std::string text(buffer.GetString(), buffer.GetSize());
  text.append((8 - text.size() % 8) % 8, ' ');  // the data starts aligned
  return text;
}

absl::StatusOr<std::map<std::string, Tensor>> TensorsOf(const std::shared_ptr<MappedFile>& file,
                                                        const std::string& path) {
  const absl::string_view bytes = file->bytes();
  uint64_t header_bytes = 0;
  if (bytes.size() < sizeof(header_bytes)) return DataLoss(path, ": cut short");
  std::memcpy(&header_bytes, bytes.data(), sizeof(header_bytes));
  if (header_bytes > kMaxHeader) {
    return InvalidArgument(path, ": not a safetensors file (a header of ", header_bytes, " bytes)");
  }
  if (header_bytes > bytes.size() - 8) return DataLoss(path, ": cut short in its header");
  const auto data = static_cast<int64_t>(8 + header_bytes);
  HeaderReader reader(path, static_cast<int64_t>(bytes.size()) - data);
  LATHE_ASSIGN_OR_RETURN(const std::vector<Entry> entries,
                         reader.Read(bytes.substr(8, header_bytes)));
  std::map<std::string, Tensor> tensors;
  for (const Entry& entry : entries) {
    std::shared_ptr<Storage> storage = MappedFile::Piece(
        file, data + entry.begin, entry.end - entry.begin, AlignmentOf(entry.dtype));
    if (storage == nullptr) return ResourceExhausted(path, ": no memory for '", entry.name, "'");
    LATHE_ASSIGN_OR_RETURN(tensors[entry.name],
                           Tensor::Checked(entry.dtype, entry.sizes, ContiguousStrides(entry.sizes),
                                           0, std::move(storage)));
  }
  return tensors;
}

}  // namespace

absl::StatusOr<std::map<std::string, Tensor>> ReadSafetensors(const std::string& path) {
  LATHE_ASSIGN_OR_RETURN(const std::shared_ptr<MappedFile> file, MappedFile::Open(path));
  return TensorsOf(file, path);
}

absl::StatusOr<std::map<std::string, Tensor>> ParseSafetensors(absl::string_view bytes,
                                                               const std::string& name) {
  LATHE_ASSIGN_OR_RETURN(const std::shared_ptr<MappedFile> file, MappedFile::CopyOf(bytes));
  return TensorsOf(file, name);
}

absl::Status WriteSafetensors(const std::string& path,
                              const std::map<std::string, Tensor>& tensors) {
  std::vector<std::pair<std::string, Tensor>> order = InFileOrder(tensors);
  for (auto& [name, tensor] : order) {
    if (name == kMetadata) return InvalidArgument(path, ": a tensor cannot be called ", name);
    if (!tensor.is_defined() || tensor.device() != Device::Cpu()) {
      return InvalidArgument(path, ": tensor '", name, "' is not on the CPU");
    }
    const bool packed_elsewhere = IsSubByte(tensor.dtype()) && tensor.offset() != 0;
    tensor = packed_elsewhere ? tensor.Clone() : tensor.Contiguous();
  }
  const std::string header = Header(order);
  const uint64_t header_bytes = header.size();
  std::vector<absl::string_view> pieces = {
      {reinterpret_cast<const char*>(&header_bytes), sizeof(header_bytes)}, header};
  for (const auto& [name, tensor] : order) {
    const int64_t bytes = *ByteSize(tensor.dtype(), tensor.numel());
    pieces.emplace_back(static_cast<const char*>(tensor.data()), static_cast<size_t>(bytes));
  }
  return WriteFileAtomically(path, pieces);
}

}  // namespace lathe
