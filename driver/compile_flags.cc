#include "driver/compile_flags.h"

#include <cmath>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"

namespace lathe::driver {
namespace {

absl::StatusOr<Tier> ParseTier(const std::string& text) {
  for (Tier tier : {Tier::kAuto, Tier::kTile, Tier::kNative, Tier::kReference}) {
    if (text == TierName(tier)) return tier;
  }
  return InvalidArgument("--tier must be auto, tile, native or reference, not '", text, "'");
}

std::string ElementJson(const Scalar& value, DType dtype) {
  if (value.is_bool()) return value.ToBool() ? "true" : "false";
  if (value.is_complex()) return JsonString(FormatElement(value, dtype));
  if (value.is_float() && !std::isfinite(value.ToDouble())) return JsonString(value.ToString());
  return FormatElement(value, dtype);
}

}  // namespace

std::vector<Option> WithCompileFlags(std::vector<Option> more) {
  for (const Option& option :
       {Option{"device", Option::kValue}, Option{"tier", Option::kValue},
        Option{"threads", Option::kValue}, Option{"trace", Option::kValue},
        Option{"numerics", Option::kValue}, Option{"strict"}, Option{"json"}}) {
    more.push_back(option);
  }
  return more;
}

absl::StatusOr<CompileOptions> CompileOptionsFrom(const Arguments& arguments) {
  CompileOptions options;
  if (std::optional<std::string> text = arguments.Value("device")) {
    std::optional<Device> device = ParseDevice(*text);
    if (!device) return InvalidArgument("--device must be cpu, cuda or cuda:N, not '", *text, "'");
    options.device = *device;
  }
  if (std::optional<std::string> text = arguments.Value("tier")) {
    LATHE_ASSIGN_OR_RETURN(options.tier, ParseTier(*text));
  }
  LATHE_ASSIGN_OR_RETURN(int64_t threads, arguments.Integer("threads", 0, 1, 4096));
  options.threads = static_cast<int>(threads);
  options.strict = arguments.Has("strict");
  std::string numerics = arguments.Value("numerics").value_or("eager");
  if (numerics == "fast") {
    options.numerics = CompileOptions::Numerics::kFast;
  } else if (numerics != "eager") {
    return InvalidArgument("--numerics must be eager or fast, not '", numerics, "'");
  }
  return options;
}

absl::StatusOr<CompileOptions> OptionsForOneCall(const Arguments& arguments) {
  LATHE_ASSIGN_OR_RETURN(CompileOptions options, CompileOptionsFrom(arguments));
  if (options.tier == Tier::kAuto) options.tier = Tier::kTile;
  return options;
}

void PrintFallbacks(const CompileReport& report) {
  for (const std::string& line : report.fallbacks) fprintf(stderr, "lathe: %s\n", line.c_str());
}

JsonObject ReportJson(const CompileReport& report) {
  JsonObject o, seconds;
  for (const auto& [phase, time] : report.seconds) seconds.Add(phase, time);
  std::vector<std::string> fallbacks;
  for (const std::string& line : report.fallbacks) fallbacks.push_back(JsonString(line));
  o.Add("tier", report.tier)
      .Add("nodes_imported", report.nodes_imported)
      .Add("nodes_compiled", report.nodes_compiled)
      .Add("kernels", report.kernels)
      .Add("distinct_kernels", report.distinct_kernels)
      .Add("externs", report.externs)
      .Add("opaque_calls", report.opaque_calls)
      .Add("cache_hits", report.cache_hits)
      .AddRaw("fallbacks", JsonArray(fallbacks))
      .AddRaw("seconds", seconds.Text());
  return o;
}

std::string ValueJson(const std::variant<Tensor, Scalar>& value) {
  if (const Scalar* number = std::get_if<Scalar>(&value)) {
    return ElementJson(
        *number, number->DefaultDType() == DType::kF32 ? DType::kF64 : number->DefaultDType());
  }
  const Tensor& tensor = std::get<Tensor>(value);
  if (!tensor.is_defined()) return "null";
  std::vector<std::string> sizes, values;
  for (int64_t size : tensor.sizes()) sizes.push_back(std::to_string(size));
  Tensor dense = tensor.Contiguous();
  for (int64_t k = 0, n = dense.numel(); k < n; ++k) {
    values.push_back(ElementJson(dense.AtLinear(k), dense.dtype()));
  }
  JsonObject o;
  o.Add("dtype", Name(tensor.dtype()))
      .AddRaw("sizes", JsonArray(sizes))
      .AddRaw("values", JsonArray(values));
  return o.Text();
}

}  // namespace lathe::driver
