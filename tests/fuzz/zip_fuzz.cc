// Any bytes as an archive: every entry is read.

#include "absl/strings/string_view.h"
#include "capture/pt2/read_pt2.h"
#include "capture/pt2/zip_archive.h"
#include "tests/fuzz/fuzz.h"

void FuzzOne(absl::string_view input) {
  using lathe::pt2::ZipArchive;
  absl::StatusOr<ZipArchive> archive = ZipArchive::Open(lathe::pt2::CopyBytes(input));
  if (archive.ok()) {
    for (const auto& [name, entry] : archive->entries()) {
      if (entry.size < (1 << 20)) (void)archive->ReadChecked(name);
    }
  }
  (void)lathe::ReadPt2Bytes(input);
}
