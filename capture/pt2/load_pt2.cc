#include "capture/pt2/load_pt2.h"

#include "capture/pt2/autocast.h"
#include "dtypes/base/status.h"

namespace lathe {
namespace {

// Whether an operator of several results gives one of another rank than the archive says: torch
// records [layers, 1, batch, hidden] for the last states of an LSTM, eager gives them without
// the 1. What an operator refuses is for InferTypes to say.
bool HasWrongRank(const Node& node, ShapeEnv& shapes) {
  if (node.results.size() < 2 || node.row == nullptr || !node.row->infers_by_decomposition) {
    return false;
  }
  const OpArgs args(node.row->parsed, node.arguments);
  const auto types = node.row->infer({args, shapes, {node.op, node.origin.source}});
  if (!types.ok() || types->size() != node.results.size()) return false;
  for (size_t k = 0; k < types->size(); ++k) {
    const ValueType &given = (*types)[k], &recorded = node.results[k]->type;
    if (given.is_tensor() && recorded.is_tensor() &&
        given.tensor().rank() != recorded.tensor().rank()) {
      return true;
    }
  }
  return false;
}

absl::Status CorrectRanks(Program& program) {
  for (const Node* node = program.main->first(); node != nullptr; node = node->next) {
    if (HasWrongRank(*node, *program.shapes)) {
      return InferTypes(*program.main, *program.shapes).status();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Program> Resolved(absl::StatusOr<Program> program, const OpRegistry& registry) {
  LATHE_RETURN_IF_ERROR(program.status());
  LATHE_RETURN_IF_ERROR(ResolveGraph(*program->main, registry));
  LATHE_RETURN_IF_ERROR(WriteAutocastCasts(*program, registry));
  LATHE_RETURN_IF_ERROR(CorrectRanks(*program));
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
