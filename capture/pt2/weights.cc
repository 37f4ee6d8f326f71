#include "capture/pt2/weights.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "capture/pt2/json.h"
#include "capture/pt2/read_types.h"
#include "capture/pt2/symbols.h"
#include "dtypes/base/status.h"

namespace lathe::pt2 {
namespace {

absl::StatusOr<Dims> ConstantDims(const JsonValue& meta, const std::vector<Expr>& values) {
  Dims dims;
  for (const Expr& e : values) {
    if (!e.is_const()) return meta.Invalid("a stored tensor cannot have symbolic sizes");
    dims.push_back(*e.AsInt());
  }
  return dims;
}

absl::StatusOr<Tensor> ReadPayload(const JsonValue& payload, const std::string& folder,
                                   RecordStorages& storages, Symbols& symbols) {
  LATHE_RETURN_IF_ERROR(
      payload.CheckFields({"path_name", "is_param", "use_pickle", "tensor_meta"}));
  LATHE_ASSIGN_OR_RETURN(absl::string_view path, payload.StringField("path_name"));
  if (std::optional<JsonValue> pickled = payload.Find("use_pickle")) {
    LATHE_ASSIGN_OR_RETURN(bool yes, pickled->Bool());
    if (yes) {
      return payload.Unsupported("the record ", path,
                                 " is a pickle (a tensor subclass or an object); it is not read");
    }
  }
  LATHE_ASSIGN_OR_RETURN(JsonValue meta, payload.ObjectField("tensor_meta"));
  LATHE_ASSIGN_OR_RETURN(TensorType type, ReadTensorType(meta, symbols));
  LATHE_ASSIGN_OR_RETURN(Dims sizes, ConstantDims(meta, type.sizes));
  LATHE_ASSIGN_OR_RETURN(Dims strides, ConstantDims(meta, type.strides));
  if (!type.offset.is_const()) return meta.Invalid("the offset is symbolic");
  absl::StatusOr<std::shared_ptr<Storage>> storage = storages.Get(absl::StrCat(folder, "/", path));
  if (!storage.ok()) return payload.Annotated(storage.status());
  absl::StatusOr<Tensor> tensor =
      TensorOverStorage(type.dtype, sizes, strides, *type.offset.AsInt(), *std::move(storage));
  if (!tensor.ok()) return payload.Annotated(tensor.status());
  return tensor;
}

}  // namespace

absl::StatusOr<Tensor> TensorOverStorage(DType dtype, Dims sizes, Dims strides, int64_t offset,
                                         std::shared_ptr<Storage> storage) {
  if (storage->size_bytes() > 0) {
    return Tensor::Checked(dtype, sizes, strides, offset, std::move(storage));
  }
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (__builtin_mul_overflow(count, size, &count)) return InvalidArgument("too many elements");
  }
  std::optional<int64_t> bytes = ByteSize(dtype, count);
  // An empty record says nothing of the size; what a hostile one may ask for is bounded here.
  if (!bytes || *bytes > (int64_t{1} << 32)) {
    return ResourceExhausted("an empty record stands for ", count, " zeros");
  }
  return Tensor::Zeros(dtype, sizes);
}

absl::Status ReadPayloads(const ZipArchive& archive, const std::string& config_record,
                          const std::string& folder, RecordStorages& storages,
                          std::map<std::string, Tensor>& tensors) {
  LATHE_ASSIGN_OR_RETURN(ByteBlock text, archive.ReadChecked(config_record));
  LATHE_ASSIGN_OR_RETURN(std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(config_record, text.view()));
  LATHE_RETURN_IF_ERROR(document->root().CheckFields({"config"}));
  LATHE_ASSIGN_OR_RETURN(JsonValue config, document->root().ObjectField("config"));
  ShapeEnv shapes(std::make_shared<ExprContext>());
  Symbols symbols(&shapes);
  for (auto& [name, payload] : config.Members()) {
    LATHE_ASSIGN_OR_RETURN(Tensor tensor, ReadPayload(payload, folder, storages, symbols));
    if (!tensors.emplace(std::string(name), std::move(tensor)).second) {
      return payload.Invalid("the name occurs twice");
    }
  }
  return absl::OkStatus();
}

}  // namespace lathe::pt2
