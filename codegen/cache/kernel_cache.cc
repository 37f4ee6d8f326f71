#include "codegen/cache/kernel_cache.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/cache/disk_store.h"
#include "codegen/cache/native_kernel.h"
#include "codegen/cpu/compiler.h"
#include "codegen/cpu/emit.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"

namespace lathe {
namespace {

using KernelPointer = std::shared_ptr<const Kernel>;

constexpr size_t kKernelsPerUnit = 32;

double Seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// Kernels that someone still holds, by name and target.
class MemoryLayer {
 public:
  KernelPointer Find(const std::string& key) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = kernels_.find(key);
    return it == kernels_.end() ? nullptr : it->second.lock();
  }
  void Add(const std::string& key, const KernelPointer& kernel) {
    std::lock_guard<std::mutex> lock(mutex_);
    kernels_[key] = kernel;
  }
  static MemoryLayer& Global() {
    static MemoryLayer* const layer = new MemoryLayer();
    return *layer;
  }

 private:
  std::mutex mutex_;
  absl::flat_hash_map<std::string, std::weak_ptr<const Kernel>> kernels_;
};

struct Pending {
  cpu::EmittedKernel emitted;
  std::string key;  // on disk
  std::vector<size_t> specs;
  KernelPointer kernel;
};

std::string FlagText(const std::vector<std::string>& flags, const Target& target) {
  return absl::StrCat(absl::StrJoin(flags, " "), " ", target.vector_bytes);
}

class Build {
 public:
  Build(absl::Span<const KernelSpec> specs, const Target& target, const NativeOptions& options,
        NativeReport& report)
      : specs_(specs),
        target_(target),
        options_(options),
        report_(report),
        flag_text_(FlagText(KernelFlags(target, false), target)) {}

  absl::StatusOr<std::vector<KernelPointer>> Run() {
    result_.resize(specs_.size());
    report_.kernels = static_cast<int>(specs_.size());
    LATHE_RETURN_IF_ERROR(Emit());
    if (!pending_.empty()) {
      LATHE_RETURN_IF_ERROR(Prepare());
      LATHE_RETURN_IF_ERROR(LoadFromDisk());
      LATHE_RETURN_IF_ERROR(CompileMissing());
    }
    for (const Pending& p : pending_) {
      for (size_t k : p.specs) result_[k] = p.kernel;
      if (options_.use_memory) {
        MemoryLayer::Global().Add(absl::StrCat(p.emitted.name, " ", flag_text_), p.kernel);
      }
    }
    return std::move(result_);
  }

 private:
  absl::Status Emit() {
    const double start = Seconds();
    absl::flat_hash_map<std::string, size_t> seen;  // name -> first spec, or pending
    for (size_t k = 0; k < specs_.size(); ++k) {
      const std::string name = cpu::KernelName(specs_[k]);
      auto [it, is_new] = seen.try_emplace(name, pending_.size());
      if (!is_new) {
        ++report_.deduplicated;
        if (it->second == kInMemory) {
          result_[k] = memory_[name];
        } else {
          pending_[it->second].specs.push_back(k);
        }
        continue;
      }
      if (options_.use_memory) {
        if (KernelPointer kernel =
                MemoryLayer::Global().Find(absl::StrCat(name, " ", flag_text_))) {
          ++report_.memory_hits;
          result_[k] = memory_[name] = kernel;
          it->second = kInMemory;
          continue;
        }
      }
      Pending p;
      LATHE_ASSIGN_OR_RETURN(p.emitted, cpu::EmitKernel(specs_[k], target_));
      p.specs.push_back(k);
      pending_.push_back(std::move(p));
    }
    report_.emit_seconds = Seconds() - start;
    return absl::OkStatus();
  }

  // The compiler (its absence matters only if something is missing), the folder, the keys.
  absl::Status Prepare() {
    compiler_ = cpu::FindCompiler();
    if (options_.use_disk) {
      absl::StatusOr<DiskStore> store =
          DiskStore::Open(options_.cache_dir.empty() ? DefaultCacheFolder() : options_.cache_dir);
      if (store.ok()) {
        store_.emplace(*std::move(store));
      } else {
        report_.cache_problem = std::string(store.status().message());
      }
    }
    if (!store_) {
      LATHE_ASSIGN_OR_RETURN(DiskStore store, DiskStore::Temporary());
      store_.emplace(std::move(store));
    }
    const cpu::Compiler compiler = compiler_.ok() ? *compiler_ : cpu::Compiler{"none", ""};
    for (Pending& p : pending_) {
      const std::vector<std::string> flags = KernelFlags(target_, p.emitted.is_small);
      p.key = KernelCacheKey(p.emitted, compiler, flags, target_);
    }
    return absl::OkStatus();
  }

  absl::Status LoadFromDisk() {
    Libraries libraries;
    for (Pending& p : pending_) {
      absl::StatusOr<KernelPointer> kernel = LoadOne(p, libraries);
      if (kernel.ok()) {
        p.kernel = *std::move(kernel);
        ++report_.disk_hits;
      } else if (!absl::IsNotFound(kernel.status())) {
        ++report_.damaged;
        report_.cache_problem = absl::StrCat("built again, since ", kernel.status().message());
      }
    }
    return absl::OkStatus();
  }

  using Libraries = absl::flat_hash_map<std::string, std::shared_ptr<KernelLibrary>>;
  // NotFound when there is no entry, DataLoss when there is one that is of no use.
  absl::StatusOr<KernelPointer> LoadOne(const Pending& p, Libraries& libraries) {
    LATHE_ASSIGN_OR_RETURN(const std::string path, store_->Find(p.key));
    std::shared_ptr<KernelLibrary>& library = libraries[path];
    if (library == nullptr) {
      absl::StatusOr<std::shared_ptr<KernelLibrary>> opened = KernelLibrary::Open(path);
      if (!opened.ok()) return DataLoss(opened.status().message());
      library = *std::move(opened);
    }
    absl::StatusOr<KernelPointer> kernel = library->Find(p.emitted.name);
    if (!kernel.ok()) return DataLoss(path, ": ", kernel.status().message());
    return kernel;
  }

  // Kernels of one translation unit. A fast one holds small kernels alone; small kernels beside
  // large ones get better code than they ask for: the same values.
  struct Unit {
    std::vector<Pending*> kernels;
    bool is_fast = false;
    double cost = 0;
    cpu::CompileTask task;

    double CostWith(const Pending& p) const {
      return cost + static_cast<double>(CostOf(p)) * (is_fast ? kFastShare : 1);
    }
    bool IsFull() const { return kernels.size() >= kKernelsPerUnit; }
  };

  // What a fast compilation takes of a thorough one (compiler.h).
  static constexpr double kFastShare = 0.7;

  // What compiling costs, in bytes of plain code: a function of vector math is as much as a page.
  static size_t CostOf(const Pending& p) {
    constexpr size_t kMathBytes = 8000;
    size_t calls = 0;
    for (size_t at = p.emitted.code.find("vm::"); at != std::string::npos;
         at = p.emitted.code.find("vm::", at + 1)) {
      ++calls;
    }
    return p.emitted.code.size() + calls * kMathBytes;
  }

  // As many units as compilers may run, evenly filled.
  std::vector<Unit> Divide() {
    std::vector<Pending*> missing;
    for (Pending& p : pending_) {
      if (p.kernel == nullptr) missing.push_back(&p);
    }
    const size_t jobs = std::max(options_.jobs, 1);
    std::vector<Unit> units(std::max((missing.size() + kKernelsPerUnit - 1) / kKernelsPerUnit,
                                     std::min(missing.size(), jobs)));
    for (size_t k = ThoroughUnits(missing, units.size()); k < units.size(); ++k) {
      units[k].is_fast = true;
    }
    // Those that fit fewer units first, then dearest first, each to the unit that then has least:
    // compilers end together.
    std::stable_sort(missing.begin(), missing.end(), [](const Pending* a, const Pending* b) {
      if (a->emitted.is_small != b->emitted.is_small) return b->emitted.is_small;
      return CostOf(*a) > CostOf(*b);
    });
    for (Pending* p : missing) Place(p, units);
    units.erase(std::remove_if(units.begin(), units.end(),
                               [](const Unit& unit) { return unit.kernels.empty(); }),
                units.end());
    return units;
  }

  // How many of `count` units are to compile large kernels: what ends first.
  static size_t ThoroughUnits(const std::vector<Pending*>& missing, size_t count) {
    double large = 0, small = 0;
    size_t large_kernels = 0;
    for (const Pending* p : missing) {
      (p->emitted.is_small ? small : large) += static_cast<double>(CostOf(*p));
      if (!p->emitted.is_small) ++large_kernels;
    }
    if (large == 0) return 0;
    size_t best = count;
    double least = (large + small) / static_cast<double>(count);
    const size_t fewest = (large_kernels + kKernelsPerUnit - 1) / kKernelsPerUnit;
    for (size_t units = fewest; small > 0 && units < count; ++units) {
      const double time = std::max(large / static_cast<double>(units),
                                   (large + small * kFastShare) / static_cast<double>(count));
      if (time >= least) continue;
      least = time;
      best = units;
    }
    return best;
  }

  static void Place(Pending* p, std::vector<Unit>& units) {
    Unit* best = nullptr;
    for (Unit& unit : units) {
      if (unit.IsFull() || (unit.is_fast && !p->emitted.is_small)) continue;
      if (best == nullptr || unit.CostWith(*p) < best->CostWith(*p)) best = &unit;
    }
    best->cost = best->CostWith(*p);
    best->kernels.push_back(p);
  }

  absl::Status CompileMissing() {
    std::vector<Unit> units = Divide();
    if (units.empty()) return absl::OkStatus();
    if (!compiler_.ok()) return compiler_.status();
    const double start = Seconds();
    std::vector<cpu::CompileTask> tasks;
    for (Unit& unit : units) {
      std::vector<cpu::EmittedKernel> kernels;
      for (const Pending* p : unit.kernels) kernels.push_back(p->emitted);
      unit.task = {store_->FreshPath(".cc"), store_->FreshPath(".so"),
                   KernelFlags(target_, unit.is_fast)};
      LATHE_RETURN_IF_ERROR(WriteFile(unit.task.source, cpu::TranslationUnit(kernels)));
      tasks.push_back(unit.task);
    }
    const absl::Status status = cpu::RunCompiler(*compiler_, tasks, options_.jobs);
    for (const cpu::CompileTask& task : tasks) unlink(task.source.c_str());
    if (!status.ok()) {
      for (const cpu::CompileTask& task : tasks) unlink(task.output.c_str());
      return status;
    }
    for (Unit& unit : units) LATHE_RETURN_IF_ERROR(Take(unit));
    report_.units = static_cast<int>(units.size());
    report_.compile_seconds = Seconds() - start;
    return absl::OkStatus();
  }

  absl::Status Take(Unit& unit) {
    LATHE_ASSIGN_OR_RETURN(const std::string path, store_->Keep(unit.task.output));
    LATHE_ASSIGN_OR_RETURN(std::shared_ptr<KernelLibrary> library, KernelLibrary::Open(path));
    for (Pending* p : unit.kernels) {
      LATHE_ASSIGN_OR_RETURN(p->kernel, library->Find(p->emitted.name));
      ++report_.compiled;
      // A full disk costs the entry, not the program.
      if (absl::Status status = store_->AddKey(p->key, path); !status.ok()) {
        report_.cache_problem = std::string(status.message());
      }
    }
    return absl::OkStatus();
  }

  static constexpr size_t kInMemory = static_cast<size_t>(-1);

  absl::Span<const KernelSpec> specs_;
  const Target& target_;
  const NativeOptions& options_;
  NativeReport& report_;
  const std::string flag_text_;
  std::vector<KernelPointer> result_;
  absl::flat_hash_map<std::string, KernelPointer> memory_;
  std::vector<Pending> pending_;
  absl::StatusOr<cpu::Compiler> compiler_ = absl::NotFoundError("");
  std::optional<DiskStore> store_;
};

}  // namespace

std::vector<std::string> KernelFlags(const Target& target, bool is_small) {
  std::vector<std::string> flags = cpu::CompilerFlags(target, is_small);
  // Without symbols a library does not hold the name of its source: equal code, equal bytes.
  flags.push_back("-s");
  return flags;
}

std::string KernelCacheKey(const cpu::EmittedKernel& kernel, const cpu::Compiler& compiler,
                           const std::vector<std::string>& flags, const Target& target) {
  return HashText(absl::StrCat(cpu::TranslationUnit({kernel}), "\n", compiler.path,
                               compiler.version, "\n", FlagText(flags, target)));
}

absl::StatusOr<std::vector<std::shared_ptr<const Kernel>>> CompileKernels(
    absl::Span<const KernelSpec> specs, const Target& target, const NativeOptions& options,
    NativeReport* report) {
  NativeReport ignored;
  return Build(specs, target, options, report != nullptr ? *report : ignored).Run();
}

}  // namespace lathe
