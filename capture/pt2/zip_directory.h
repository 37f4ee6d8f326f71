#ifndef LATHE_CAPTURE_PT2_ZIP_DIRECTORY_H_
#define LATHE_CAPTURE_PT2_ZIP_DIRECTORY_H_

// The raw structures of a zip file: end record, ZIP64 records, central directory, local headers.

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "capture/pt2/zip_archive.h"

namespace lathe::pt2 {

// Entries in the directory's order, each with its place in `file` checked to lie before the
// directory.
absl::StatusOr<std::vector<ZipArchive::Entry>> ReadZipDirectory(absl::string_view file);

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_ZIP_DIRECTORY_H_
