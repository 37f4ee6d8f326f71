#include "capture/pt2/zip_directory.h"

#include <cstring>
#include <optional>

#include "dtypes/base/status.h"

namespace lathe::pt2 {
namespace {

using Entry = ZipArchive::Entry;

constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr uint32_t kDirectorySignature = 0x02014b50;
constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr size_t kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20, kDirectoryEntrySize = 46,
                 kLocalSize = 30;

// A little-endian field; the caller has checked that it lies inside.
template <typename T>
T Field(absl::string_view bytes, size_t offset) {
  T value;
  memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

struct DirectoryPlace {
  uint64_t offset = 0, size = 0, count = 0;
};

std::optional<size_t> FindEndRecord(absl::string_view file) {
  if (file.size() < kEndSize) return std::nullopt;
  size_t last = file.size() - kEndSize;
  size_t first = last > 0xffff ? last - 0xffff : 0;
  for (size_t at = last + 1; at-- > first;) {
    if (Field<uint32_t>(file, at) != kEndSignature) continue;
    // Its comment ends the file exactly; else the signature lies in other bytes by chance.
    if (at + kEndSize + Field<uint16_t>(file, at + 20) == file.size()) return at;
  }
  return std::nullopt;
}

absl::StatusOr<DirectoryPlace> ReadEnd64(absl::string_view file, size_t end) {
  if (end < kLocatorSize || Field<uint32_t>(file, end - kLocatorSize) != kLocator64Signature) {
    return DataLoss("zip: the ZIP64 locator is missing");
  }
  uint64_t at = Field<uint64_t>(file, end - kLocatorSize + 8);
  if (at > file.size() || file.size() - at < kEnd64Size ||
      Field<uint32_t>(file, at) != kEnd64Signature) {
    return DataLoss("zip: the ZIP64 end record is missing");
  }
  return DirectoryPlace{Field<uint64_t>(file, at + 48), Field<uint64_t>(file, at + 40),
                        Field<uint64_t>(file, at + 32)};
}

absl::StatusOr<DirectoryPlace> FindDirectory(absl::string_view file) {
  std::optional<size_t> end = FindEndRecord(file);
  if (!end) return DataLoss("not a zip archive, or one cut short: no end record");
  DirectoryPlace place{Field<uint32_t>(file, *end + 16), Field<uint32_t>(file, *end + 12),
                       Field<uint16_t>(file, *end + 10)};
  if (Field<uint16_t>(file, *end + 4) != 0 && Field<uint16_t>(file, *end + 4) != 0xffff) {
    return Unimplemented("zip: archives of several volumes are not supported");
  }
  if (place.offset == 0xffffffff || place.size == 0xffffffff || place.count == 0xffff) {
    LATHE_ASSIGN_OR_RETURN(place, ReadEnd64(file, *end));
  }
  if (place.offset > *end || place.size > *end - place.offset) {
    return DataLoss("zip: the directory lies outside the file");
  }
  if (place.count > place.size / kDirectoryEntrySize) {
    return DataLoss("zip: the directory claims ", place.count, " entries in ", place.size,
                    " bytes");
  }
  return place;
}

// Replaces the fields that are all ones by those of the ZIP64 extra field, in its fixed order.
absl::Status ApplyZip64(absl::string_view extra, Entry& entry) {
  bool size = entry.size == 0xffffffff, packed = entry.packed_size == 0xffffffff,
       header = entry.header == 0xffffffff;
  if (!size && !packed && !header) return absl::OkStatus();
  while (extra.size() >= 4) {
    uint16_t id = Field<uint16_t>(extra, 0), length = Field<uint16_t>(extra, 2);
    extra.remove_prefix(4);
    if (length > extra.size()) break;
    if (id != 1) {
      extra.remove_prefix(length);
      continue;
    }
    absl::string_view fields = extra.substr(0, length);
    for (auto [wanted, target] :
         {std::pair(size, &entry.size), {packed, &entry.packed_size}, {header, &entry.header}}) {
      if (!wanted) continue;
      if (fields.size() < 8) return DataLoss("zip: ", entry.name, ": ZIP64 field cut short");
      *target = Field<uint64_t>(fields, 0);
      fields.remove_prefix(8);
    }
    return absl::OkStatus();
  }
  return DataLoss("zip: ", entry.name, ": ZIP64 sizes are missing");
}

// Where the bytes start: the local header has a name and an extra field of its own.
absl::Status FindBytes(absl::string_view file, uint64_t limit, Entry& entry) {
  if (entry.header > limit || limit - entry.header < kLocalSize) {
    return DataLoss("zip: ", entry.name, " lies outside the archive");
  }
  if (Field<uint32_t>(file, entry.header) != kLocalSignature) {
    return DataLoss("zip: ", entry.name, ": its local header is damaged");
  }
  uint64_t name_size = Field<uint16_t>(file, entry.header + 26);
  uint64_t extra_size = Field<uint16_t>(file, entry.header + 28);
  uint64_t room = limit - entry.header - kLocalSize;
  if (name_size + extra_size > room || entry.packed_size > room - name_size - extra_size) {
    return DataLoss("zip: ", entry.name, " claims ", entry.packed_size,
                    " bytes, which the archive does not hold");
  }
  if (file.substr(entry.header + kLocalSize, name_size) != entry.name) {
    return DataLoss("zip: ", entry.name, ": directory and local header name different entries");
  }
  entry.begin = entry.header + kLocalSize + name_size + extra_size;
  return absl::OkStatus();
}

absl::Status CheckMethod(const Entry& entry, uint16_t flags) {
  if (flags & 0x2041) return Unimplemented("zip: ", entry.name, " is encrypted");
  if (entry.method == 0) {
    if (entry.size == entry.packed_size) return absl::OkStatus();
    return DataLoss("zip: ", entry.name, " is stored, but its two sizes differ");
  }
  if (entry.method != 8) {
    return Unimplemented("zip: ", entry.name, ": compression method ", entry.method);
  }
  // Deflate shrinks to 1/1032 at best.
  if (entry.size / 1032 > entry.packed_size) {
    return DataLoss("zip: ", entry.name, " claims to unpack from ", entry.packed_size, " to ",
                    entry.size, " bytes");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Entry>> ReadZipDirectory(absl::string_view file) {
  LATHE_ASSIGN_OR_RETURN(DirectoryPlace place, FindDirectory(file));
  absl::string_view rest = file.substr(place.offset, place.size);
  std::vector<Entry> entries;
  for (uint64_t k = 0; k < place.count; ++k) {
    if (rest.size() < kDirectoryEntrySize || Field<uint32_t>(rest, 0) != kDirectorySignature) {
      return DataLoss("zip: directory entry ", k, " is damaged");
    }
    size_t name_size = Field<uint16_t>(rest, 28), extra_size = Field<uint16_t>(rest, 30);
    size_t whole = kDirectoryEntrySize + name_size + extra_size + Field<uint16_t>(rest, 32);
    if (whole > rest.size()) return DataLoss("zip: directory entry ", k, " is cut short");
    Entry entry;
    entry.name = std::string(rest.substr(kDirectoryEntrySize, name_size));
    entry.method = Field<uint16_t>(rest, 10);
    entry.crc = Field<uint32_t>(rest, 16);
    entry.packed_size = Field<uint32_t>(rest, 20);
    entry.size = Field<uint32_t>(rest, 24);
    entry.header = Field<uint32_t>(rest, 42);
    uint16_t flags = Field<uint16_t>(rest, 8);
    LATHE_RETURN_IF_ERROR(
        ApplyZip64(rest.substr(kDirectoryEntrySize + name_size, extra_size), entry));
    rest.remove_prefix(whole);
    LATHE_RETURN_IF_ERROR(CheckMethod(entry, flags));
    LATHE_RETURN_IF_ERROR(FindBytes(file, place.offset, entry));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace lathe::pt2
