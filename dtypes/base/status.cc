#include "dtypes/base/status.h"

#include "absl/strings/cord.h"

namespace lathe {
namespace {

constexpr absl::string_view kNodeUrl = "lathe/node";
constexpr absl::string_view kSourceUrl = "lathe/source";

std::string Payload(const absl::Status& status, absl::string_view url) {
  const auto payload = status.GetPayload(url);
  return payload.has_value() ? std::string(*payload) : std::string();
}

}  // namespace

absl::Status AtNode(absl::Status status, absl::string_view node, absl::string_view source) {
  if (status.ok() || node.empty() || status.GetPayload(kNodeUrl).has_value()) return status;
  status.SetPayload(kNodeUrl, absl::Cord(node));
  if (!source.empty()) status.SetPayload(kSourceUrl, absl::Cord(source));
  return status;
}

std::string NodeOf(const absl::Status& status) { return Payload(status, kNodeUrl); }
std::string SourceOf(const absl::Status& status) { return Payload(status, kSourceUrl); }

absl::Status Annotate(const absl::Status& status, absl::string_view prefix) {
  if (status.ok()) return status;
  absl::Status result(status.code(), absl::StrCat(prefix, ": ", status.message()));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { result.SetPayload(url, payload); });
  return result;
}

std::string Describe(const absl::Status& status) {
  std::string text(status.message());
  const std::string node = NodeOf(status), source = SourceOf(status);
  if (!node.empty()) absl::StrAppend(&text, " (at ", node);
  if (!source.empty()) absl::StrAppend(&text, node.empty() ? " (at " : ", ", source);
  if (!node.empty() || !source.empty()) text += ")";
  return text;
}

int ExitCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kResourceExhausted:
      return 2;
    case absl::StatusCode::kUnimplemented:
      return 3;
    default:
      return 4;
  }
}

}  // namespace lathe
