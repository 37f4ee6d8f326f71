// The folder under processes that die, damage files, and write at once.

#include "codegen/cache/disk_store.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

constexpr int kKeys = 40;

std::string KeyOf(int k) { return HashText(absl::StrCat("key ", k)); }
// Long enough to be written in several pieces.
std::string LibraryOf(int k) {
  return std::string(20000 + 500 * k, static_cast<char>('a' + k % 26));
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

absl::Status WriteEntry(const DiskStore& store, int k) {
  const std::string temporary = store.FreshPath(".so");
  absl::Status written = WriteFile(temporary, LibraryOf(k));
  if (!written.ok()) return written;
  absl::StatusOr<std::string> library = store.Keep(temporary);
  return library.ok() ? store.AddKey(KeyOf(k), *library) : library.status();
}

std::string Folder(const std::string& name) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/store-", name);
  fs::remove_all(folder);
  return folder;
}

TEST(DiskStore, KilledWritersLeaveWholeEntriesOrNone) {
  const std::string folder = Folder("kill");
  std::mt19937 random(1);
  int found = 0;
  for (int round = 0; round < 15; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      absl::StatusOr<DiskStore> store = DiskStore::Open(folder);
      for (int k = 0; store.ok(); k = (k + 1) % kKeys) {
        if (!WriteEntry(*store, (k + round) % kKeys).ok()) _exit(1);
      }
      _exit(1);
    }
    usleep(2000 + random() % 8000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed";

    absl::StatusOr<DiskStore> store = DiskStore::Open(folder);
    ASSERT_TRUE(store.ok()) << store.status();
    for (int k = 0; k < kKeys; ++k) {
      absl::StatusOr<std::string> path = store->Find(KeyOf(k));
      if (path.ok()) {
        ++found;
        ASSERT_EQ(Read(*path), LibraryOf(k)) << k;
      } else {
        ASSERT_EQ(path.status().code(), absl::StatusCode::kNotFound) << path.status();
      }
    }
  }
  EXPECT_GT(found, 0);
  // What was lost can be written again.
  absl::StatusOr<DiskStore> store = DiskStore::Open(folder);
  for (int k = 0; k < kKeys; ++k) {
    ASSERT_TRUE(WriteEntry(*store, k).ok());
    EXPECT_TRUE(store->Find(KeyOf(k)).ok());
  }
}

TEST(DiskStore, WritersAtOnce) {
  const std::string folder = Folder("many");
  std::vector<pid_t> children;
  for (int writer = 0; writer < 4; ++writer) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    absl::StatusOr<DiskStore> store = DiskStore::Open(folder);
    if (!store.ok()) _exit(1);
    for (int round = 0; round < 3; ++round) {
      for (int k = 0; k < kKeys; ++k) {
        if (!WriteEntry(*store, k).ok()) _exit(2);
        // Whatever the others do meanwhile.
        absl::StatusOr<std::string> path = store->Find(KeyOf(k));
        if (!path.ok() || Read(*path) != LibraryOf(k)) _exit(3);
      }
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  // One entry and one library a key, nothing temporary.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2 * kKeys);
}

TEST(DiskStore, DamageIsFound) {
  absl::StatusOr<DiskStore> store = DiskStore::Open(Folder("damage"));
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE(WriteEntry(*store, 0).ok());
  const std::string library = *store->Find(KeyOf(0));
  const std::string entry =
      absl::StrCat(fs::path(library).parent_path().string(), "/", KeyOf(0), ".kernel");
  const std::string good_entry = Read(entry);
  EXPECT_EQ(store->Find(KeyOf(1)).status().code(), absl::StatusCode::kNotFound);

  const auto expect_damage = [&](const std::string& what) {
    absl::Status status = store->Find(KeyOf(0)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << what;
    EXPECT_TRUE(absl::StrContains(status.message(), KeyOf(0))) << status;
  };
  for (size_t k = 0; k < good_entry.size(); ++k) {
    ASSERT_TRUE(WriteFile(entry, good_entry.substr(0, k)).ok());
    expect_damage(absl::StrCat("entry cut at ", k));
    std::string flipped = good_entry;
    flipped[k] = static_cast<char>(flipped[k] ^ 1);
    ASSERT_TRUE(WriteFile(entry, flipped).ok());
    expect_damage(absl::StrCat("entry flipped at ", k));
  }
  ASSERT_TRUE(WriteFile(entry, absl::StrCat("lathe-kernel-2\n../", KeyOf(1), ".so\n")).ok());
  expect_damage("an entry that leaves the folder");
  ASSERT_TRUE(WriteFile(entry, good_entry).ok());
  EXPECT_TRUE(store->Find(KeyOf(0)).ok());

  fs::resize_file(library, 19999);
  expect_damage("library cut short");
  fs::remove(library);
  expect_damage("library missing");
  ASSERT_TRUE(WriteEntry(*store, 0).ok());
  EXPECT_EQ(*store->Find(KeyOf(0)), library);
}

}  // namespace
}  // namespace lathe
