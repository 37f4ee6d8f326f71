#include "ir/loops/stage_work.h"

#include <algorithm>

namespace lathe {
namespace {

constexpr int64_t kUnknownExtent = 32;
constexpr double kFewElements = 1 << 20;

}  // namespace

std::vector<int> AxesAround(const KernelSpec& spec, const SpecStage& stage) {
  std::vector<int> axes = spec.outer;
  for (int axis : stage.axes) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  }
  return axes;
}

double ExpectedElements(const KernelSpec& spec, const SpecStage& stage) {
  double elements = 1;
  for (int axis : AxesAround(spec, stage)) {
    elements *= static_cast<double>(spec.axes[axis].extent.AsInt().value_or(kUnknownExtent));
  }
  return elements;
}

bool IsSmall(const KernelSpec& spec) {
  return std::all_of(spec.stages.begin(), spec.stages.end(), [&](const SpecStage& stage) {
    return ExpectedElements(spec, stage) < kFewElements;
  });
}

}  // namespace lathe
