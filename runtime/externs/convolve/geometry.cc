#include "runtime/externs/convolve/geometry.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "dtypes/base/status.h"

namespace lathe::convolve {
namespace {

constexpr int64_t kMaxAttribute = int64_t{1} << 31;

// The numbers of an attribute at the last `count` places of a Spatial.
absl::Status ReadSpatial(const ExternAttributes& attributes, const char* key, int count,
                         int64_t least, Geometry::Spatial* target) {
  const auto found = attributes.find(key);
  if (found == attributes.end()) return absl::OkStatus();
  const std::vector<std::string> words = absl::StrSplit(found->second, ',');
  if (words.size() != 1 && words.size() != static_cast<size_t>(count)) {
    return InvalidArgument("convolution: ", key, "=", found->second, " for ", count, " dimensions");
  }
  for (int d = 0; d < count; ++d) {
    const std::string& word = words[words.size() == 1 ? 0 : static_cast<size_t>(d)];
    int64_t value = 0;
    if (!absl::SimpleAtoi(word, &value) || value < least || value > kMaxAttribute) {
      return InvalidArgument("convolution: ", key, "=", found->second);
    }
    (*target)[static_cast<size_t>(3 - count + d)] = value;
  }
  return absl::OkStatus();
}

absl::Status CheckOutput(const Geometry& g) {
  const Geometry::Spatial padded = g.Padded();
  for (size_t d = 0; d < 3; ++d) {
    const int64_t reach = g.dilation[d] * (g.kernel[d] - 1) + 1;
    const int64_t expected = padded[d] < reach ? 0 : (padded[d] - reach) / g.stride[d] + 1;
    if (g.kernel[d] < 1 || g.out[d] != expected) {
      return InvalidArgument("convolution: an input of ", g.in[d], " gives ", expected,
                             " places, the output has ", g.out[d]);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Geometry> GeometryOf(const Tensor& x, const Tensor& w, const Tensor& out,
                                    const ExternAttributes& attributes) {
  for (const Tensor* t : {&x, &w, &out}) {
    if (!t->is_defined() || t->rank() < 3 || t->rank() > 5 || t->rank() != x.rank()) {
      return InvalidArgument("convolution: input, weight and output need one rank from 3 to 5");
    }
  }
  Geometry g;
  const int spatial = x.rank() - 2;
  if (const auto found = attributes.find("groups"); found != attributes.end()) {
    if (!absl::SimpleAtoi(found->second, &g.groups) || g.groups < 1) {
      return InvalidArgument("convolution: groups=", found->second);
    }
  }
  if (const auto found = attributes.find("transposed");
      found != attributes.end() && found->second != "0" && found->second != "false") {
    return Unimplemented("convolution: transposed=", found->second);
  }
  LATHE_RETURN_IF_ERROR(ReadSpatial(attributes, "stride", spatial, 1, &g.stride));
  LATHE_RETURN_IF_ERROR(ReadSpatial(attributes, "padding", spatial, 0, &g.padding));
  LATHE_RETURN_IF_ERROR(ReadSpatial(attributes, "dilation", spatial, 1, &g.dilation));
  g.batch = x.sizes()[0];
  g.in_channels = w.sizes()[1];
  g.out_channels = w.sizes()[0] / g.groups;
  const bool fits = x.sizes()[1] == g.in_channels * g.groups &&
                    w.sizes()[0] == g.out_channels * g.groups && out.sizes()[0] == g.batch &&
                    out.sizes()[1] == w.sizes()[0];
  if (!fits) {
    return InvalidArgument("convolution: channels do not fit: ", TypeString(x), ", weight ",
                           TypeString(w), ", groups ", g.groups, " -> ", TypeString(out));
  }
  for (int d = 0; d < spatial; ++d) {
    const auto to = static_cast<size_t>(3 - spatial + d), from = static_cast<size_t>(2 + d);
    g.in[to] = x.sizes()[from];
    g.kernel[to] = w.sizes()[from];
    g.out[to] = out.sizes()[from];
  }
  LATHE_RETURN_IF_ERROR(CheckOutput(g));
  return g;
}

std::array<int64_t, 5> StridesOf(const Tensor& t) {
  std::array<int64_t, 5> strides{t.strides()[0], t.strides()[1], 0, 0, 0};
  const size_t spatial = t.sizes().size() - 2;
  for (size_t d = 0; d < spatial; ++d) strides[5 - spatial + d] = t.strides()[2 + d];
  return strides;
}

}  // namespace lathe::convolve
