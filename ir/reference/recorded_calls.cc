#include "ir/reference/recorded_calls.h"

#include <cstring>
#include <limits>
#include <map>

#include "absl/strings/str_split.h"
#include "dtypes/base/status.h"
#include "rapidjson/document.h"

namespace lathe {
namespace {

using Json = rapidjson::Value;

// The data of each tensor in the file, by name.
using Elements = std::map<std::string, absl::string_view>;

absl::StatusOr<Elements> ReadSafetensors(absl::string_view bytes) {
  uint64_t header_size = 0;
  if (bytes.size() < 8) return InvalidArgument("safetensors: too short");
  std::memcpy(&header_size, bytes.data(), 8);
  if (header_size > bytes.size() - 8) return InvalidArgument("safetensors: header past the end");
  absl::string_view data = bytes.substr(8 + header_size);
  rapidjson::Document header;
  header.Parse(bytes.data() + 8, header_size);
  if (header.HasParseError() || !header.IsObject()) {
    return InvalidArgument("safetensors: the header is no JSON object");
  }
  Elements elements;
  for (const auto& member : header.GetObject()) {
    if (!member.value.IsObject() || !member.value.HasMember("data_offsets")) continue;
    const Json& offsets = member.value["data_offsets"];
    uint64_t begin = offsets[0].GetUint64(), end = offsets[1].GetUint64();
    if (begin > end || end > data.size()) return InvalidArgument("safetensors: data past the end");
    elements[member.name.GetString()] = data.substr(begin, end - begin);
  }
  return elements;
}

class CallReader {
 public:
  explicit CallReader(const Elements& elements) : elements_(elements) {}

  absl::StatusOr<RecordedCall> Read(absl::string_view line) {
    rapidjson::Document document;
    document.Parse(line.data(), line.size());
    if (document.HasParseError() || !document.IsObject()) {
      return InvalidArgument("a recorded call is no JSON object");
    }
    RecordedCall call;
    call.op = document["op"].GetString();
    call.id = document["id"].GetInt64();
    LATHE_ASSIGN_OR_RETURN(call.arguments, ReadList(document["args"]));
    for (const auto& member : document["kwargs"].GetObject()) {
      LATHE_ASSIGN_OR_RETURN(Argument value, ReadValue(member.value));
      call.named.push_back({member.name.GetString(), std::move(value)});
    }
    for (const Json& result : document["out"].GetArray()) {
      LATHE_ASSIGN_OR_RETURN(Argument value, ReadValue(result));
      if (value.is_list()) {
        for (Argument& item : value.list()) call.results.push_back(std::move(item));
      } else {
        call.results.push_back(std::move(value));
      }
    }
    // What gives nothing is recorded as one None.
    if (call.results.size() == 1 && call.results[0].is_none()) call.results.clear();
    if (document.HasMember("args_after")) {
      LATHE_ASSIGN_OR_RETURN(call.arguments_after, ReadList(document["args_after"]));
    }
    return call;
  }

 private:
  absl::StatusOr<std::vector<Argument>> ReadList(const Json& json) {
    std::vector<Argument> items;
    for (const Json& item : json.GetArray()) {
      LATHE_ASSIGN_OR_RETURN(Argument value, ReadValue(item));
      items.push_back(std::move(value));
    }
    return items;
  }

  absl::StatusOr<Argument> ReadValue(const Json& json) {
    if (json.IsNull()) return Argument::None();
    if (json.IsBool()) return Argument::Bool(json.GetBool());
    if (json.IsInt64()) return Argument::Int(json.GetInt64());
    if (json.IsUint64()) return Argument::Number(json.GetUint64());
    if (json.IsDouble()) return Argument::Float(json.GetDouble());
    if (json.IsString()) return Argument::String(json.GetString());
    if (json.IsArray()) {
      LATHE_ASSIGN_OR_RETURN(std::vector<Argument> items, ReadList(json));
      return Argument::List(std::move(items));
    }
    if (json.HasMember("tensor")) return ReadTensor(json);
    if (json.HasMember("int")) return ReadInteger(json["int"]);
    if (json.HasMember("float")) return ReadFloat(json["float"]);
    return ReadName(json);
  }

  absl::StatusOr<Argument> ReadInteger(const Json& json) {
    if (json.IsString()) {
      LATHE_ASSIGN_OR_RETURN(Scalar value, ParseScalar(json.GetString()));
      return Argument::Number(value);
    }
    return ReadValue(json);
  }

  absl::StatusOr<Argument> ReadFloat(const Json& json) {
    if (!json.IsString()) return Argument::Float(json.GetDouble());
    std::string text = json.GetString();
    if (text == "nan") return Argument::Float(std::numeric_limits<double>::quiet_NaN());
    double infinity = std::numeric_limits<double>::infinity();
    return Argument::Float(text == "-inf" ? -infinity : infinity);
  }

  absl::StatusOr<Argument> ReadName(const Json& json) {
    if (json.HasMember("dtype")) {
      std::optional<DType> dtype = ParseDType(json["dtype"].GetString());
      if (!dtype) return InvalidArgument("unknown dtype ", json["dtype"].GetString());
      return Argument::Of(*dtype);
    }
    if (json.HasMember("device")) return Argument::Of(Device::Cpu());
    if (json.HasMember("layout")) return Argument::Of(Layout::kStrided);
    if (json.HasMember("memory_format")) {
      std::string name = json["memory_format"].GetString();
      if (name == "channels_last") return Argument::Of(MemoryFormat::kChannelsLast);
      if (name == "channels_last_3d") return Argument::Of(MemoryFormat::kChannelsLast3d);
      if (name == "preserve_format") return Argument::Of(MemoryFormat::kPreserve);
      return Argument::Of(MemoryFormat::kContiguous);
    }
    return InvalidArgument("a recorded value of unknown kind");
  }

  static Dims ReadDims(const Json& json) {
    Dims dims;
    for (const Json& item : json.GetArray()) dims.push_back(item.GetInt64());
    return dims;
  }

  // The recorded elements are the logical ones in row-major order; the strides are rebuilt.
  absl::StatusOr<Argument> ReadTensor(const Json& json) {
    std::string key = json["tensor"].GetString();
    auto it = elements_.find(key);
    std::optional<DType> dtype = ParseDType(json["dtype"].GetString());
    if (it == elements_.end() || !dtype) return InvalidArgument("no recorded tensor '", key, "'");
    Dims sizes = ReadDims(json["sizes"]), strides = ReadDims(json["strides"]);
    Tensor dense = Tensor::Empty(*dtype, sizes);
    if (ByteSize(*dtype, dense.numel()) != static_cast<int64_t>(it->second.size())) {
      return InvalidArgument("recorded tensor '", key, "' has the wrong size");
    }
    std::memcpy(dense.data(), it->second.data(), it->second.size());
    int64_t offset = json["offset"].GetInt64(), last = offset;
    if (strides == dense.strides() && offset == 0) return Argument::Of(dense);
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] > 0) last += (sizes[d] - 1) * strides[d];
    }
    Tensor tensor = Tensor::Zeros(*dtype, {last + 1}).AsStrided(sizes, strides, offset);
    tensor.CopyFrom(dense);
    return Argument::Of(tensor);
  }

  const Elements& elements_;
};

}  // namespace

absl::StatusOr<std::vector<RecordedCall>> ReadRecordedCalls(absl::string_view json_lines,
                                                            absl::string_view safetensors) {
  LATHE_ASSIGN_OR_RETURN(Elements elements, ReadSafetensors(safetensors));
  CallReader reader(elements);
  std::vector<RecordedCall> calls;
  for (absl::string_view line : absl::StrSplit(json_lines, '\n', absl::SkipEmpty())) {
    LATHE_ASSIGN_OR_RETURN(RecordedCall call, reader.Read(line));
    calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace lathe
