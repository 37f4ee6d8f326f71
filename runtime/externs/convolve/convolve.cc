#include "runtime/externs/convolve/convolve.h"

#include <cstring>
#include <memory>
#include <vector>

#include "dtypes/base/status.h"
#include "runtime/externs/convolve/geometry.h"
#include "runtime/externs/convolve/plain.h"
#include "runtime/externs/gemm/gemm.h"
#include "runtime/externs/gemm/parallel.h"
#include "runtime/memory/pool.h"

namespace lathe::convolve {
namespace {

using gemm::CeilDiv;
using gemm::Element;
using gemm::FirstError;
using gemm::ForEachTask;
using gemm::kDepth;
using gemm::Kernels;
using gemm::RoundUp;
using gemm::Scratch;

// Output places of one task: 256 x kDepth floats of packed input are half of a 512 KiB L2.
constexpr int64_t kTileColumns = 256;
// A group of fewer output channels is computed directly: packing its input would cost more.
constexpr int64_t kDirectChannels = 8;
// Rows shorter than this are computed several at once, with the padding between them.
constexpr int64_t kShortRow = 64;
constexpr int64_t kWantedTasks = 16;
// What pack_taps may read behind the padded images.
constexpr int64_t kReadsPast = 64;
// Padded images at a time.
constexpr int64_t kPaddedBytes = int64_t{32} << 20;

// The input as the inner loops want it: the accumulator's type, padded, the last stride 1.
struct Source {
  const char* data = nullptr;
  int64_t batch = 0, channel = 0;
  int64_t plane = 0, row = 0;  // strides of the two outer spatial dimensions
};

class Convolution {
 public:
  Convolution(const ExternCall& call, const Geometry& g, const gemm::KernelTable& table,
              const Kernels& kernels, const PackedWeights* packed)
      : call_(call),
        packed_(packed),
        g_(g),
        kernels_(kernels),
        accumulator_(gemm::AccumulatorType(table, &kernels)),
        bytes_(gemm::ElementBytes(accumulator_)),
        out_(call.outputs[0]),
        out_type_(*gemm::ElementOf(out_.dtype())),
        out_strides_(StridesOf(out_)),
        out_in_place_(gemm::HasBitsOf(out_type_, accumulator_) && SpatialContiguous(out_strides_)),
        direct_(g.out_channels < kDirectChannels) {
    const Tensor& x = call.inputs[0];
    x_in_place_ = gemm::HasBitsOf(*gemm::ElementOf(x.dtype()), accumulator_) &&
                  StridesOf(x)[4] == 1 && g.padding == Geometry::Spatial{0, 0, 0};
  }

  absl::Status Run() {
    if (out_.numel() == 0) {
      const int64_t rows = g_.batch * Channels() * g_.rows();
      return call_.epilogue && rows > 0 ? call_.epilogue(0, rows, 0) : absl::OkStatus();
    }
    LATHE_RETURN_IF_ERROR(LoadWeights());
    const int64_t image_bytes =
        x_in_place_ ? 1 : g_.groups * g_.in_channels * PlaneElements() * bytes_;
    const int64_t at_once =
        std::clamp<int64_t>(kPaddedBytes / std::max<int64_t>(image_bytes, 1), 1, g_.batch);
    for (int64_t n = 0; n < g_.batch; n += at_once) {
      const int64_t images = std::min(at_once, g_.batch - n);
      const Scratch padded(x_in_place_ ? 0 : images * image_bytes + kReadsPast);
      if (padded.data() == nullptr) return gemm::OutOfMemory();
      const Source source = x_in_place_ ? InPlace(n) : Pad(n, images, padded.data());
      SetOffsets(source);
      direct_ ? RunDirect(source, n, images) : RunTiles(source, n, images);
      if (error_.failed()) return error_.status();
    }
    return absl::OkStatus();
  }

 private:
  bool SpatialContiguous(const std::array<int64_t, 5>& s) const {
    return s[4] == 1 && (g_.out[1] == 1 || s[3] == g_.out[2]) &&
           (g_.out[0] == 1 || s[2] == g_.out[1] * g_.out[2]);
  }
  int64_t PlaneElements() const {
    const auto padded = g_.Padded();
    return padded[0] * padded[1] * padded[2];
  }
  int64_t Channels() const { return g_.groups * g_.out_channels; }

  // --- The input. ---
  Source InPlace(int64_t n) const {
    const Tensor& x = call_.inputs[0];
    const auto s = StridesOf(x);
    return {static_cast<const char*>(x.data()) + n * s[0] * bytes_, s[0], s[1], s[2], s[3]};
  }

  Source Pad(int64_t n, int64_t images, char* target) {
    const Tensor& x = call_.inputs[0];
    const Element type = *gemm::ElementOf(x.dtype());
    const auto s = StridesOf(x);
    const auto padded = g_.Padded();
    const int64_t channels = g_.groups * g_.in_channels, plane = PlaneElements();
    ForEachTask(call_.pool, images * channels, plane, [&](int64_t task, int) {
      char* to = target + task * plane * bytes_;
      std::memset(to, 0, static_cast<size_t>(plane * bytes_));
      const int64_t base = (n + task / channels) * s[0] + task % channels * s[1];
      for (int64_t i = 0; i < g_.in[0]; ++i) {
        for (int64_t j = 0; j < g_.in[1]; ++j) {
          const int64_t from = base + i * s[2] + j * s[3];
          const int64_t at = ((i + g_.padding[0]) * padded[1] + j + g_.padding[1]) * padded[2];
          kernels_.load(type, static_cast<const char*>(x.data()) + from * gemm::ElementBytes(type),
                        s[4], g_.in[2], to + (at + g_.padding[2]) * bytes_);
        }
      }
    });
    return {target, channels * plane, plane, padded[1] * padded[2], padded[2]};
  }

  // Where each tap reads, relative to a place of the output.
  void SetOffsets(const Source& source) {
    offsets_.clear();
    for (int64_t c = 0; c < g_.in_channels; ++c) {
      for (int64_t i = 0; i < g_.kernel[0]; ++i) {
        for (int64_t j = 0; j < g_.kernel[1]; ++j) {
          for (int64_t k = 0; k < g_.kernel[2]; ++k) {
            offsets_.push_back(c * source.channel + i * g_.dilation[0] * source.plane +
                               j * g_.dilation[1] * source.row + k * g_.dilation[2]);
          }
        }
      }
    }
  }
  // Where row r of an output plane starts to read.
  int64_t RowStart(const Source& source, int64_t r) const {
    return r / g_.out[1] * g_.stride[0] * source.plane + r % g_.out[1] * g_.stride[1] * source.row;
  }

  // --- Weights and bias: rows of `taps` for direct sums, packed strips of rows for tiles. ---
  std::shared_ptr<Storage> PackWeights() const {
    const Tensor w = call_.inputs[1].Contiguous();
    const Element type = *gemm::ElementOf(w.dtype());
    const int64_t taps = g_.taps(), strips = CeilDiv(g_.out_channels, kernels_.rows);
    const int64_t rows = direct_ ? Channels() : g_.groups * strips * kernels_.rows;
    std::shared_ptr<Storage> packed = PoolAllocate(rows * taps * bytes_);
    if (packed == nullptr) return nullptr;
    char* const to = static_cast<char*>(packed->data());
    const char* from = static_cast<const char*>(w.data());
    const int64_t row_bytes = taps * gemm::ElementBytes(type);
    if (direct_) {
      kernels_.load(type, from, 1, Channels() * taps, to);
      return packed;
    }
    ForEachTask(call_.pool, g_.groups * strips, taps * kernels_.rows, [&](int64_t task, int) {
      const int64_t o = task % strips * kernels_.rows;
      const int count = static_cast<int>(std::min<int64_t>(kernels_.rows, g_.out_channels - o));
      kernels_.pack_rows(type, from + (task / strips * g_.out_channels + o) * row_bytes, taps, 1,
                         count, taps, to + task * kernels_.rows * taps * bytes_);
    });
    return packed;
  }

  absl::Status LoadWeights() {
    if (packed_ != nullptr) {
      weights_ = packed_->Get(call_.inputs[1], &kernels_, [&] { return PackWeights(); });
    }
    if (weights_ == nullptr) weights_ = PackWeights();
    if (weights_ == nullptr) return gemm::OutOfMemory();
    if (call_.inputs.size() < 3 || !call_.inputs[2].is_defined()) return absl::OkStatus();
    const Tensor& bias = call_.inputs[2];
    const auto bias_type = gemm::ElementOf(bias.dtype());
    if (bias.rank() != 1 || bias.sizes()[0] != Channels() || !bias_type) {
      return InvalidArgument("convolution: bias ", TypeString(bias), " for ", Channels(),
                             " channels");
    }
    bias_ = std::make_unique<Scratch>(Channels() * bytes_);
    if (bias_->data() == nullptr) return gemm::OutOfMemory();
    kernels_.load(*bias_type, bias.data(), bias.strides()[0], Channels(), bias_->data());
    return absl::OkStatus();
  }

  const char* Weights() const { return static_cast<const char*>(weights_->data()); }

  template <typename T>
  void AddBiasAs(int64_t channel, char* row, int64_t count) const {
    const T bias = reinterpret_cast<const T*>(bias_->data())[channel];
    T* values = reinterpret_cast<T*>(row);
    for (int64_t k = 0; k < count; ++k) values[k] += bias;
  }
  void AddBias(int64_t channel, char* row, int64_t count) const {
    if (bias_ == nullptr) return;
    const bool is_float = IsFloat(out_.dtype());
    if (bytes_ == 4) {
      is_float ? AddBiasAs<float>(channel, row, count) : AddBiasAs<uint32_t>(channel, row, count);
    } else {
      is_float ? AddBiasAs<double>(channel, row, count) : AddBiasAs<uint64_t>(channel, row, count);
    }
  }

  // --- The output. ---
  char* OutAt(int64_t n, int64_t channel, int64_t row) const {
    const int64_t element = n * out_strides_[0] + channel * out_strides_[1] +
                            row / g_.out[1] * out_strides_[2] + row % g_.out[1] * out_strides_[3];
    return static_cast<char*>(out_.data()) + element * gemm::ElementBytes(out_type_);
  }
  void StoreRow(const char* sums, int64_t n, int64_t channel, int64_t row) const {
    kernels_.store(sums, g_.out[2], out_type_, OutAt(n, channel, row), out_strides_[4]);
  }
  absl::Status RowsDone(int64_t n, int64_t channel, int64_t row, int64_t rows, int worker) const {
    if (!call_.epilogue) return absl::OkStatus();
    const int64_t begin = (n * Channels() + channel) * g_.rows() + row;
    return call_.epilogue(begin, begin + rows, worker);
  }

  // --- Tiles: a matrix product whose second operand is gathered while it is packed. ---
  void RunTiles(const Source& source, int64_t first_image, int64_t images) {
    const int64_t tile_rows = std::clamp<int64_t>(kTileColumns / g_.out[2], 1, g_.rows());
    const int64_t tiles = CeilDiv(g_.rows(), tile_rows);
    const int64_t panels_wanted = CeilDiv(kWantedTasks, images * g_.groups * tiles);
    // Panels of output channels; a multiple of 12 is whole strips on every instruction set.
    const int64_t panel =
        RoundUp(std::max<int64_t>(CeilDiv(g_.out_channels, panels_wanted), 24), 12);
    const int64_t panels = CeilDiv(g_.out_channels, panel);
    const int64_t work = std::min(panel, g_.out_channels) * tile_rows * g_.out[2] * g_.taps();
    ForEachTask(call_.pool, images * g_.groups * tiles * panels, work,
                [&](int64_t task, int worker) {
                  if (error_.failed()) return;
                  const int64_t p = task % panels, tile = task / panels % tiles;
                  const int64_t group = task / panels / tiles % g_.groups;
                  const int64_t image = task / panels / tiles / g_.groups;
                  const int64_t row = tile * tile_rows;
                  error_.Set(Tile(source, image, first_image + image, group, row,
                                  std::min(tile_rows, g_.rows() - row), p * panel,
                                  std::min(panel, g_.out_channels - p * panel), worker));
                });
  }

  absl::Status Tile(const Source& source, int64_t image, int64_t n, int64_t group, int64_t row,
                    int64_t rows, int64_t channel, int64_t channels, int worker) {
    const int64_t columns = rows * g_.out[2], width = kernels_.columns;
    const int64_t strips = CeilDiv(columns, width);
    const int64_t depth_max = std::min(kDepth, g_.taps());
    // One strip at a time, with room for what pack_taps writes too far.
    const int64_t packed_bytes = RoundUp(width * depth_max * bytes_, 64) + 64;
    const Scratch scratch(packed_bytes + (out_in_place_ ? 0 : channels * columns * bytes_));
    if (scratch.data() == nullptr) return gemm::OutOfMemory();
    const int64_t first = group * g_.out_channels + channel;
    char* c = out_in_place_ ? OutAt(n, first, row) : scratch.data() + packed_bytes;
    const int64_t c_row = out_in_place_ ? out_strides_[1] : columns;
    const std::vector<int64_t> starts = Starts(source, row, columns);
    const char* base =
        source.data + (image * source.batch + group * g_.in_channels * source.channel) * bytes_;
    for (int64_t k = 0; k == 0 || k < g_.taps(); k += kDepth) {
      const int64_t depth = std::min(kDepth, g_.taps() - k);
      for (int64_t s = 0; s < strips; ++s) {
        const int count = static_cast<int>(std::min(width, columns - s * width));
        char* b = scratch.data();
        // Padded images have room behind them.
        kernels_.pack_taps(base, offsets_.data() + k, depth, starts.data() + s * width, count,
                           !x_in_place_, b);
        MultiplyStrip(group, channel, channels, k, depth, b, c + s * width * bytes_, c_row, count);
      }
    }
    for (int64_t o = 0; o < channels; ++o) {
      AddBias(first + o, c + o * c_row * bytes_, columns);
      for (int64_t r = 0; !out_in_place_ && r < rows; ++r) {
        StoreRow(c + (o * columns + r * g_.out[2]) * bytes_, n, first + o, row + r);
      }
      if (rows < g_.rows()) LATHE_RETURN_IF_ERROR(RowsDone(n, first + o, row, rows, worker));
    }
    if (rows < g_.rows()) return absl::OkStatus();
    return RowsDone(n, first, 0, channels * rows, worker);  // whole planes, one behind the other
  }

  void MultiplyStrip(int64_t group, int64_t channel, int64_t channels, int64_t k, int64_t depth,
                     const char* b, char* c, int64_t c_row, int count) const {
    const int64_t strips = CeilDiv(g_.out_channels, kernels_.rows);
    for (int64_t o = 0; o < channels; o += kernels_.rows) {
      const int64_t strip = group * strips + (channel + o) / kernels_.rows;
      const char* a = Weights() + (strip * g_.taps() + k) * kernels_.rows * bytes_;
      const int rows = static_cast<int>(std::min<int64_t>(kernels_.rows, channels - o));
      kernels_.multiply(rows, count, depth, a, b, kernels_.columns, c + o * c_row * bytes_, c_row,
                        k > 0);
    }
  }

  std::vector<int64_t> Starts(const Source& source, int64_t row, int64_t columns) const {
    std::vector<int64_t> starts(static_cast<size_t>(columns));
    for (int64_t j = 0; j < columns; ++j) {
      starts[static_cast<size_t>(j)] =
          RowStart(source, row + j / g_.out[2]) + j % g_.out[2] * g_.stride[2];
    }
    return starts;
  }

  // --- Direct sums over the taps, for depthwise and other thin groups. ---
  void RunDirect(const Source& source, int64_t first_image, int64_t images) {
    // Rows of one plane at constant distance are one long row with padding between.
    const bool joined = g_.out[2] < kShortRow && g_.stride[1] == 1 && g_.stride[2] == 1;
    const int64_t tile_rows =
        std::clamp<int64_t>(1024 / std::max(g_.out[2], source.row), 1, g_.out[1]);
    const int64_t tiles = CeilDiv(g_.out[1], tile_rows);
    const int64_t work = tile_rows * g_.out[2] * g_.taps();
    ForEachTask(call_.pool, images * Channels() * g_.out[0] * tiles, work,
                [&](int64_t task, int worker) {
                  if (error_.failed()) return;
                  const int64_t in_plane = task % tiles * tile_rows;
                  const int64_t plane = task / tiles % g_.out[0];
                  const int64_t channel = task / tiles / g_.out[0] % Channels();
                  const int64_t image = task / tiles / g_.out[0] / Channels();
                  const int64_t row = plane * g_.out[1] + in_plane;
                  const int64_t rows = std::min(tile_rows, g_.out[1] - in_plane);
                  error_.Set(DirectRows(source, image, first_image + image, channel, row, rows,
                                        joined && rows > 1, worker));
                });
  }

  absl::Status DirectRows(const Source& source, int64_t image, int64_t n, int64_t channel,
                          int64_t row, int64_t rows, bool joined, int worker) {
    const int64_t group = channel / g_.out_channels;
    const char* base =
        source.data + (image * source.batch + group * g_.in_channels * source.channel) * bytes_;
    const char* weights = Weights() + channel * g_.taps() * bytes_;
    const int64_t step = joined ? rows : 1;
    const int64_t count = joined ? (rows - 1) * source.row + g_.out[2] : g_.out[2];
    const bool in_place = out_in_place_ && !joined;
    const Scratch scratch(in_place ? 0 : count * bytes_);
    if (scratch.data() == nullptr) return gemm::OutOfMemory();
    for (int64_t r = 0; r < rows; r += step) {
      char* sums = in_place ? OutAt(n, channel, row + r) : scratch.data();
      kernels_.taps(base + RowStart(source, row + r) * bytes_, offsets_.data(), weights, g_.taps(),
                    g_.stride[2], count, sums);
      AddBias(channel, sums, count);
      for (int64_t i = 0; !in_place && i < step; ++i) {
        StoreRow(sums + i * source.row * bytes_, n, channel, row + r + i);
      }
    }
    return RowsDone(n, channel, row, rows, worker);
  }

  const ExternCall& call_;
  const PackedWeights* const packed_;
  const Geometry& g_;
  const Kernels& kernels_;
  const Element accumulator_;
  const int64_t bytes_;
  const Tensor& out_;
  const Element out_type_;
  const std::array<int64_t, 5> out_strides_;
  const bool out_in_place_;
  const bool direct_;
  bool x_in_place_ = false;
  std::vector<int64_t> offsets_;
  std::shared_ptr<Storage> weights_;
  std::unique_ptr<Scratch> bias_;
  FirstError error_;
};

// A kernel of one tap, step 1, is a matrix product of weights and channels.
bool IsMatrixProduct(const ExternCall& call, const Geometry& g) {
  const Geometry::Spatial one{1, 1, 1};
  if (g.groups != 1 || g.kernel != one || g.stride != one || g.padding != Geometry::Spatial{}) {
    return false;
  }
  if (call.inputs.size() > 2 && call.inputs[2].is_defined()) return false;
  for (const Tensor* t : {&call.inputs[0], const_cast<const Tensor*>(&call.outputs[0])}) {
    const auto s = StridesOf(*t);
    if (s[4] != 1 || (g.out[1] > 1 && s[3] != g.out[2]) ||
        (g.out[0] > 1 && s[2] != g.out[1] * g.out[2])) {
      return false;
    }
  }
  return true;
}

absl::Status RunMatrixProduct(const ExternCall& call, const Geometry& g,
                              const gemm::KernelTable& table) {
  const Tensor &x = call.inputs[0], &w = call.inputs[1], &out = call.outputs[0];
  gemm::Problem p;
  p.batch_rank = 1;
  p.batch_sizes = {g.batch};
  p.m = g.out_channels;
  p.n = g.out[0] * g.out[1] * g.out[2];
  p.k = g.in_channels;
  p.a = {w.data(), *gemm::ElementOf(w.dtype()), {}, w.strides()[0], w.strides()[1]};
  p.b = {x.data(), *gemm::ElementOf(x.dtype()), {x.strides()[0]}, x.strides()[1], 1};
  p.c = {out.data(), *gemm::ElementOf(out.dtype()), {out.strides()[0]}, out.strides()[1], 1};
  gemm::RowsDone done;
  if (call.epilogue) {
    done = [&](int64_t begin, int64_t end, int worker) {
      return call.epilogue(begin * g.rows(), end * g.rows(), worker);
    };
  }
  return gemm::Run(p, table, call.pool, done);
}

}  // namespace

absl::Status Run(const ExternCall& original, const gemm::KernelTable& table,
                 const PackedWeights* packed) {
  if (original.inputs.size() < 2 || original.inputs.size() > 3 || original.outputs.size() != 1) {
    return InvalidArgument("convolution: takes an input, a weight and maybe a bias");
  }
  static const ExternAttributes* const kNone = new ExternAttributes();
  const ExternAttributes& attributes =
      original.attributes != nullptr ? *original.attributes : *kNone;
  LATHE_ASSIGN_OR_RETURN(const Geometry g, GeometryOf(original.inputs[0], original.inputs[1],
                                                      original.outputs[0], attributes));
  // f8 operands have no loops of their own.
  std::vector<Tensor> inputs(original.inputs.begin(), original.inputs.end());
  for (Tensor& t : inputs) {
    if (t.is_defined() && IsF8(t.dtype())) t = t.To(DType::kF32);
  }
  ExternCall call = original;
  call.inputs = inputs;
  const auto x = gemm::ElementOf(inputs[0].dtype()), w = gemm::ElementOf(inputs[1].dtype());
  const auto out = gemm::ElementOf(call.outputs[0].dtype());
  const Kernels* kernels = x && w && out ? gemm::KernelsOf(table, *x, *w, *out) : nullptr;
  if (kernels == nullptr) {
    return Unimplemented("convolution: ", Name(original.inputs[0].dtype()), " with ",
                         Name(original.inputs[1].dtype()), " -> ", Name(call.outputs[0].dtype()));
  }
  if (IsMatrixProduct(call, g)) return RunMatrixProduct(call, g, table);
  if (g.padding != Geometry::Spatial{}) {
    const auto look = [&] { return HasNonFinite(inputs[1]); };
    if (packed != nullptr ? packed->HasNonFinite(look) : look()) return RunPlain(call, g);
  }
  return Convolution(call, g, table, *kernels, packed).Run();
}

}  // namespace lathe::convolve
