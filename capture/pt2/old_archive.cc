#include "capture/pt2/old_archive.h"

#include "absl/strings/match.h"
#include "capture/pt2/read_program.h"
#include "capture/pt2/torch_save.h"
#include "dtypes/base/status.h"

namespace lathe::pt2 {
namespace {

constexpr char kProgram[] = "serialized_exported_program.json";

}  // namespace

bool IsOldArchive(const ZipArchive& archive) { return archive.Find(kProgram) != nullptr; }

absl::StatusOr<Program> ReadOldArchive(const ZipArchive& archive) {
  // "8.2"; the JSON says it again, but a file without it is not whole.
  LATHE_ASSIGN_OR_RETURN(ByteBlock version, archive.ReadChecked("version"));
  if (!absl::StartsWith(version.view(), "8.")) {
    return Unimplemented("version: the export schema is ", version.view(),
                         "; lathe reads version 8");
  }
  std::map<std::string, Tensor> tensors;
  for (const char* record : {"serialized_state_dict.pt", "serialized_constants.pt"}) {
    // The oldest writers named these .json, with the same content.
    std::string name = record;
    if (archive.Find(name) == nullptr) name.replace(name.size() - 2, 2, "json");
    LATHE_ASSIGN_OR_RETURN(ByteBlock bytes, archive.Read(name));
    if (bytes.size == 0) continue;
    LATHE_RETURN_IF_ERROR(ReadTorchSave(name, std::move(bytes), tensors));
  }
  LATHE_ASSIGN_OR_RETURN(ByteBlock json, archive.ReadChecked(kProgram));
  return ReadProgram(kProgram, json.view(), tensors);
}

}  // namespace lathe::pt2
