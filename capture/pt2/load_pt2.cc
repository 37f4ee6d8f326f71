#include "capture/pt2/load_pt2.h"

#include "dtypes/base/status.h"

namespace lathe {
namespace {

absl::StatusOr<Program> Resolved(absl::StatusOr<Program> program, const OpRegistry& registry) {
  if (program.ok()) LATHE_RETURN_IF_ERROR(ResolveGraph(*program->main, registry));
  return program;
}

}  // namespace

absl::StatusOr<Program> LoadPt2(const std::string& path, const OpRegistry& registry,
                                const Pt2Options& options) {
  return Resolved(ReadPt2(path, options), registry);
}

absl::StatusOr<Program> LoadPt2Bytes(absl::string_view bytes, const OpRegistry& registry,
                                     const Pt2Options& options) {
  return Resolved(ReadPt2Bytes(bytes, options), registry);
}

}  // namespace lathe
