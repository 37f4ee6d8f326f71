#ifndef LATHE_CAPTURE_PT2_OLD_ARCHIVE_H_
#define LATHE_CAPTURE_PT2_OLD_ARCHIVE_H_

// The flat layout that torch.export.save wrote before PyTorch 2.8.

#include "absl/status/statusor.h"
#include "capture/pt2/zip_archive.h"
#include "ir/graph/program.h"

namespace lathe::pt2 {

bool IsOldArchive(const ZipArchive& archive);
absl::StatusOr<Program> ReadOldArchive(const ZipArchive& archive);

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_OLD_ARCHIVE_H_
