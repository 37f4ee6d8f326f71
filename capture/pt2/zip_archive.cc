#include "capture/pt2/zip_archive.h"

#include <zlib.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "capture/pt2/zip_directory.h"
#include "dtypes/base/status.h"

namespace lathe::pt2 {
namespace {

// Records that lathe unpacks are JSON and small strings; weights are stored.
constexpr uint64_t kLargestInflated = uint64_t{1} << 30;

absl::Status CheckName(absl::string_view name) {
  bool bad = name.empty() || name[0] == '/' || absl::StrContains(name, '\\') ||
             name.find('\0') != absl::string_view::npos || absl::StrContains(name, ':');
  for (absl::string_view part : absl::StrSplit(name, '/')) bad |= part == "..";
  if (!bad) return absl::OkStatus();
  return InvalidArgument("zip: the name '", absl::CHexEscape(name), "' leaves the archive");
}

absl::Status CheckOverlaps(const std::vector<ZipArchive::Entry>& entries) {
  std::vector<const ZipArchive::Entry*> order;
  for (const ZipArchive::Entry& e : entries) order.push_back(&e);
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return a->header < b->header; });
  for (size_t k = 1; k < order.size(); ++k) {
    if (order[k - 1]->begin + order[k - 1]->packed_size > order[k]->header) {
      return DataLoss("zip: ", order[k - 1]->name, " and ", order[k]->name, " overlap");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ByteBlock> Inflate(const ZipArchive::Entry& entry, ByteBlock packed) {
  if (entry.size > kLargestInflated || packed.size > kLargestInflated) {
    return ResourceExhausted("zip: ", entry.name, " would unpack to ", entry.size, " bytes");
  }
  std::string out(entry.size, '\0');
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return ResourceExhausted("zlib has no memory");
  stream.next_in = reinterpret_cast<Bytef*>(packed.data);
  stream.avail_in = static_cast<uInt>(packed.size);
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  int result = inflate(&stream, Z_FINISH);
  bool complete = result == Z_STREAM_END && stream.total_out == out.size();
  inflateEnd(&stream);
  if (!complete) return DataLoss("zip: ", entry.name, ": its compressed data is damaged");
  return CopyBytes(out);
}

uint32_t Checksum(absl::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

absl::StatusOr<ZipArchive> ZipArchive::Open(ByteBlock file) {
  LATHE_ASSIGN_OR_RETURN(std::vector<Entry> entries, ReadZipDirectory(file.view()));
  LATHE_RETURN_IF_ERROR(CheckOverlaps(entries));
  ZipArchive archive;
  archive.file_ = std::move(file);
  for (Entry& entry : entries) {
    LATHE_RETURN_IF_ERROR(CheckName(entry.name));
    if (absl::EndsWith(entry.name, "/")) continue;  // a folder
    std::string name = entry.name;
    if (!archive.entries_.emplace(name, std::move(entry)).second) {
      return DataLoss("zip: two entries are named ", name);
    }
  }
  return archive;
}

const ZipArchive::Entry* ZipArchive::Find(const std::string& name) const {
  auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : &it->second;
}

absl::StatusOr<ByteBlock> ZipArchive::Read(const std::string& name) const {
  const Entry* entry = Find(name);
  if (entry == nullptr) return NotFound("the archive has no record ", name);
  ByteBlock packed = file_.Part(entry->begin, entry->packed_size);
  return entry->method == 0 ? packed : Inflate(*entry, std::move(packed));
}

absl::StatusOr<ByteBlock> ZipArchive::ReadChecked(const std::string& name) const {
  LATHE_ASSIGN_OR_RETURN(ByteBlock bytes, Read(name));
  if (Checksum(bytes.view()) != Find(name)->crc) {
    return DataLoss(name, ": the checksum does not match; the record is damaged");
  }
  return bytes;
}

}  // namespace lathe::pt2
