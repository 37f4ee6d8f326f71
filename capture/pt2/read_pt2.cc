#include "capture/pt2/read_pt2.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "capture/pt2/byte_block.h"
#include "capture/pt2/old_archive.h"
#include "capture/pt2/read_program.h"
#include "capture/pt2/torch_save.h"
#include "capture/pt2/weights.h"
#include "capture/pt2/zip_archive.h"
#include "dtypes/base/status.h"

namespace lathe {
namespace {

using pt2::ByteBlock;
using pt2::RecordStorages;
using pt2::ZipArchive;

// "mlp/": the folder that holds archive_format.
absl::StatusOr<std::string> FindRoot(const ZipArchive& archive) {
  for (const auto& [name, entry] : archive.entries()) {
    absl::string_view root = name;
    if (absl::ConsumeSuffix(&root, "archive_format") &&
        (root.empty() || root.find('/') == root.size() - 1)) {
      return std::string(root);
    }
  }
  return InvalidArgument(
      "the zip archive is not one that torch.export.save wrote: it has no "
      "archive_format and no serialized_exported_program.json");
}

absl::Status CheckRecord(const ZipArchive& archive, const std::string& name,
                         absl::string_view expected) {
  LATHE_ASSIGN_OR_RETURN(ByteBlock bytes, archive.ReadChecked(name));
  if (bytes.view() == expected) return absl::OkStatus();
  return Unimplemented(name, ": is '", absl::CHexEscape(bytes.view().substr(0, 40)),
                       "', lathe reads '", expected, "'");
}

absl::StatusOr<std::string> ChooseModel(const ZipArchive& archive, const std::string& root,
                                        const std::string& wanted) {
  std::vector<std::string> models;
  for (const auto& [name, entry] : archive.entries()) {
    absl::string_view model = name;
    if (!absl::ConsumePrefix(&model, root) || !absl::ConsumePrefix(&model, "models/")) continue;
    if (absl::ConsumeSuffix(&model, ".json")) models.emplace_back(model);
  }
  if (models.empty()) return DataLoss("the archive holds no program under models/");
  for (const std::string& model : models) {
    if (wanted.empty() ? models.size() == 1 : model == wanted) return model;
  }
  if (!wanted.empty()) return NotFound("the archive holds no program named '", wanted, "'");
  return InvalidArgument("the archive holds several programs; name one of: ",
                         absl::StrJoin(models, ", "));
}

// The table of one kind of tensors: what Python's packager writes, what other producers write, or
// a whole torch.save file.
absl::Status ReadTensors(const ZipArchive& archive, const std::string& root,
                         const std::string& kind, const std::string& model,
                         RecordStorages& storages, std::map<std::string, Tensor>& tensors) {
  std::string folder = absl::StrCat(root, "data/", kind);
  std::string table = absl::StrCat(folder, "/", model, "_", kind, "_config.json");
  std::string other =
      absl::StrCat(folder, "/", model,
                   kind == "weights" ? "_model_param_config.json" : "_model_constants_config.json");
  std::string pickled = absl::StrCat(folder, "/", model, ".pt");
  for (const std::string& record : {table, other}) {
    if (archive.Find(record) == nullptr) continue;
    return ReadPayloads(archive, record, folder, storages, tensors);
  }
  if (archive.Find(pickled) == nullptr) return DataLoss("the archive has no record ", table);
  LATHE_ASSIGN_OR_RETURN(ByteBlock bytes, archive.Read(pickled));
  return bytes.size == 0 ? absl::OkStatus() : ReadTorchSave(pickled, std::move(bytes), tensors);
}

absl::StatusOr<Program> ReadArchive(const ZipArchive& archive, const Pt2Options& options) {
  LATHE_ASSIGN_OR_RETURN(std::string root, FindRoot(archive));
  LATHE_RETURN_IF_ERROR(CheckRecord(archive, absl::StrCat(root, "archive_format"), "pt2"));
  LATHE_RETURN_IF_ERROR(CheckRecord(archive, absl::StrCat(root, "archive_version"), "0"));
  std::string byteorder = absl::StrCat(root, "byteorder");
  if (archive.Find(byteorder) != nullptr) {
    LATHE_RETURN_IF_ERROR(CheckRecord(archive, byteorder, "little"));
  }
  LATHE_ASSIGN_OR_RETURN(std::string model, ChooseModel(archive, root, options.model));
  std::map<std::string, Tensor> tensors;
  RecordStorages storages(&archive);
  for (const char* kind : {"weights", "constants"}) {
    LATHE_RETURN_IF_ERROR(ReadTensors(archive, root, kind, model, storages, tensors));
  }
  std::string record = absl::StrCat("models/", model, ".json");
  LATHE_ASSIGN_OR_RETURN(ByteBlock json, archive.ReadChecked(absl::StrCat(root, record)));
  return pt2::ReadProgram(record, json.view(), tensors);
}

absl::StatusOr<Program> ReadBlock(ByteBlock bytes, const Pt2Options& options) {
  LATHE_ASSIGN_OR_RETURN(ZipArchive archive, ZipArchive::Open(std::move(bytes)));
  return IsOldArchive(archive) ? ReadOldArchive(archive) : ReadArchive(archive, options);
}

}  // namespace

absl::StatusOr<Program> ReadPt2(const std::string& path, const Pt2Options& options) {
  LATHE_ASSIGN_OR_RETURN(ByteBlock bytes, pt2::MapFile(path));
  absl::StatusOr<Program> program = ReadBlock(std::move(bytes), options);
  if (!program.ok()) return Annotate(program.status(), path);
  program->archive = path;
  return program;
}

absl::StatusOr<Program> ReadPt2Bytes(absl::string_view bytes, const Pt2Options& options) {
  return ReadBlock(pt2::CopyBytes(bytes), options);
}

}  // namespace lathe
