#include "capture/pt2/torch_save.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "capture/pt2/pickle.h"
#include "capture/pt2/record_storage.h"
#include "capture/pt2/zip_archive.h"
#include "dtypes/base/status.h"

namespace lathe::pt2 {
namespace {

// "archive/" of "archive/data.pkl".
absl::StatusOr<std::string> FindRoot(const ZipArchive& archive) {
  for (const auto& [name, entry] : archive.entries()) {
    absl::string_view root = name;
    if (absl::ConsumeSuffix(&root, "data.pkl") && (root.empty() || absl::EndsWith(root, "/"))) {
      return std::string(root);
    }
  }
  return DataLoss("there is no data.pkl");
}

absl::Status Read(const ZipArchive& archive, std::map<std::string, Tensor>& tensors) {
  LATHE_ASSIGN_OR_RETURN(std::string root, FindRoot(archive));
  std::string byteorder = absl::StrCat(root, "byteorder");
  if (archive.Find(byteorder) != nullptr) {
    LATHE_ASSIGN_OR_RETURN(ByteBlock order, archive.ReadChecked(byteorder));
    if (order.view() != "little") return Unimplemented("the bytes are not little-endian");
  }
  LATHE_ASSIGN_OR_RETURN(ByteBlock pickle, archive.ReadChecked(absl::StrCat(root, "data.pkl")));
  LATHE_ASSIGN_OR_RETURN(auto read, ReadTensorDict(pickle.view()));
  RecordStorages storages(&archive);
  for (auto& [name, pickled] : read) {
    LATHE_ASSIGN_OR_RETURN(std::shared_ptr<Storage> storage,
                           storages.Get(absl::StrCat(root, "data/", pickled.storage_key)));
    std::optional<int64_t> bytes = ByteSize(pickled.dtype, pickled.storage_elements);
    if (!bytes || *bytes != storage->size_bytes()) {
      return DataLoss("'", name, "' claims ", pickled.storage_elements, " elements of ",
                      Name(pickled.dtype), " in ", storage->size_bytes(), " bytes");
    }
    absl::StatusOr<Tensor> tensor = Tensor::Checked(pickled.dtype, pickled.sizes, pickled.strides,
                                                    pickled.offset, std::move(storage));
    if (!tensor.ok()) return Annotate(tensor.status(), name);
    if (!tensors.emplace(name, *std::move(tensor)).second) {
      return DataLoss("the name '", name, "' occurs twice");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadTorchSave(const std::string& record, ByteBlock bytes,
                           std::map<std::string, Tensor>& tensors) {
  absl::StatusOr<ZipArchive> archive = ZipArchive::Open(std::move(bytes));
  if (!archive.ok()) return Annotate(archive.status(), record);
  absl::Status status = Read(*archive, tensors);
  return status.ok() ? status : Annotate(status, record);
}

}  // namespace lathe::pt2
