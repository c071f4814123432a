#include "saltus/scene/grid.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstring>

#include "saltus/base/bytes.h"
#include "saltus/base/error.h"

namespace saltus {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;
constexpr std::size_t most_values = std::size_t{1} << 25;

void check_size(const std::string& path, std::size_t nx, std::size_t ny) {
  if (nx < 1 || ny < 1 || nx > most_values || ny > most_values || nx * ny > most_values)
    throw InputError(
        fmt::format("{}: expected 1 to {} values, got {} x {}", path, most_values, nx, ny));
}

// --- PNG. libpng leaves by longjmp: everything with a destructor lives outside png_read.

struct PngSource {
  const unsigned char* bytes = nullptr;
  std::size_t size = 0, at = 0;
  std::string* message = nullptr;
};

extern "C" void png_take(png_structp png, png_bytep to, std::size_t count) {
  auto* source = static_cast<PngSource*>(png_get_io_ptr(png));
  if (count > source->size - source->at) png_error(png, "the file ends too early");
  std::memcpy(to, source->bytes + source->at, count);
  source->at += count;
}
extern "C" void png_fail(png_structp png, png_const_charp text) {
  *static_cast<PngSource*>(png_get_error_ptr(png))->message = text;
  png_longjmp(png, 1);
}
extern "C" void png_quiet(png_structp, png_const_charp) {}

struct PngImage {
  png_uint_32 width = 0, height = 0;
  int depth = 0, colour = 0;
  std::vector<unsigned char> pixels;
  std::vector<png_bytep> rows;
};

bool png_read_image_at(PngSource& source, PngImage& image) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, &png_fail, &png_quiet);
  if (!png) return false;
  png_infop info = png_create_info_struct(png);
  if (!info || setjmp(png_jmpbuf(png))) {
    png_destroy_read_struct(&png, &info, nullptr);
    return false;
  }
  png_set_read_fn(png, &source, &png_take);
  png_read_info(png, info);
  int interlace = 0;
  png_get_IHDR(png, info, &image.width, &image.height, &image.depth, &image.colour, &interlace,
               nullptr, nullptr);
  if (image.colour != PNG_COLOR_TYPE_GRAY && image.colour != PNG_COLOR_TYPE_GRAY_ALPHA)
    png_error(png, "expected a gray image, this one has colours");
  if (static_cast<std::size_t>(image.width) * image.height > most_values)
    png_error(png, "expected a smaller image");
  if (image.depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  png_set_strip_alpha(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  const std::size_t stride = png_get_rowbytes(png, info);
  image.pixels.resize(stride * image.height);
  image.rows.resize(image.height);
  for (png_uint_32 k = 0; k < image.height; ++k) image.rows[k] = image.pixels.data() + k * stride;
  png_read_image(png, image.rows.data());
  png_read_end(png, nullptr);
  png_destroy_read_struct(&png, &info, nullptr);
  return true;
}

Grid read_png(const std::string& bytes, const std::string& path) {
  std::string message = "it is no PNG";
  PngSource source{reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), 0, &message};
  PngImage image;
  if (!png_read_image_at(source, image))
    throw InputError(fmt::format("{}: cannot read the image: {}", path, message));
  check_size(path, image.width, image.height);
  Grid grid{static_cast<int>(image.width), static_cast<int>(image.height), {}};
  const bool wide = image.depth == 16;
  for (int j = grid.ny - 1; j >= 0; --j)
    for (int i = 0; i < grid.nx; ++i) {
      const unsigned char* p = image.rows[j] + (wide ? 2 * i : i);
      grid.values.push_back(wide ? (256 * p[0] + p[1]) / 65535.0 : p[0] / 255.0);
    }
  return grid;
}

// --- PGM

class Pgm {
 public:
  Pgm(const std::string& bytes, const std::string& path) : bytes_(bytes), path_(path), at_(2) {}

  Grid read() {
    const bool plain = bytes_[1] == '2';
    const int nx = number("a width"), ny = number("a height"), white = number("a largest value");
    if (white < 1 || white > 65535) throw error("expected a largest value of 1 to 65535");
    check_size(path_, nx, ny);
    ++at_;  // one blank
    const std::size_t wide = white > 255 ? 2 : 1, count = static_cast<std::size_t>(nx) * ny;
    if (!plain && (at_ > bytes_.size() || bytes_.size() - at_ < wide * count))
      throw error(fmt::format("expected {} x {} values, the file ends too early", nx, ny));
    std::vector<double> rows;
    for (std::size_t k = 0; k < count; ++k) {
      const int value = plain ? number("a value") : raw(wide);
      if (value > white) throw error(fmt::format("expected values up to {}, got {}", white, value));
      rows.push_back(static_cast<double>(value) / white);
    }
    Grid grid{nx, ny, {}};
    for (int j = ny - 1; j >= 0; --j)
      grid.values.insert(grid.values.end(), rows.begin() + static_cast<std::ptrdiff_t>(j) * nx,
                         rows.begin() + static_cast<std::ptrdiff_t>(j + 1) * nx);
    return grid;
  }

 private:
  [[nodiscard]] InputError error(const std::string& message) const {
    return InputError(fmt::format("{}: byte {}: {}", path_, std::min(at_, bytes_.size()), message));
  }
  int raw(std::size_t wide) {
    int value = 0;
    for (std::size_t k = 0; k < wide; ++k)
      value = 256 * value + static_cast<unsigned char>(bytes_[at_++]);
    return value;
  }
  int number(const char* what) {
    while (at_ < bytes_.size() && (std::strchr(" \t\r\n", bytes_[at_]) || bytes_[at_] == '#'))
      if (bytes_[at_++] == '#')
        while (at_ < bytes_.size() && bytes_[at_] != '\n') ++at_;
    int value = 0, digits = 0;
    for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9'; ++at_, ++digits)
      value = std::min(10 * value + (bytes_[at_] - '0'), 100'000'000);
    if (digits == 0) throw error(fmt::format("expected {}", what));
    return value;
  }
  const std::string& bytes_;
  const std::string& path_;
  std::size_t at_;
};

// --- CSV

Grid read_csv(const std::string& bytes, const std::string& path) {
  Grid grid;
  Lines lines(bytes);
  std::string_view line;
  while (lines.next(line)) {
    line = line.substr(0, line.find('#'));
    int count = 0;
    for (std::string_view word = next_word(line, ",; \t"); !word.empty();
         word = next_word(line, ",; \t"), ++count) {
      const auto x = parse_number(word);
      if (!x)
        throw InputError(fmt::format("{}:{}: expected finite numbers, got '{}'", path,
                                     lines.number(), word.substr(0, 40)));
      grid.values.push_back(*x);
    }
    if (count == 0) continue;
    if (grid.ny > 0 && count != grid.nx)
      throw InputError(fmt::format("{}:{}: expected {} numbers as in the first row, got {}", path,
                                   lines.number(), grid.nx, count));
    grid.nx = count;
    ++grid.ny;
  }
  check_size(path, grid.nx, grid.ny);
  return grid;
}

}  // namespace

Grid read_grid(const std::string& path) {
  const std::string bytes = read_bytes(path, most_bytes);
  if (bytes.rfind("\x89PNG", 0) == 0) return read_png(bytes, path);
  if (bytes.size() > 2 && bytes[0] == 'P' && (bytes[1] == '2' || bytes[1] == '5'))
    return Pgm(bytes, path).read();
  return read_csv(bytes, path);
}

double random_at(std::uint64_t seed, std::int64_t i, std::int64_t j) {
  std::uint64_t h = seed;
  for (const std::int64_t k : {i, j}) {  // splitmix64
    h += 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(k) * 0xd1b54a32d192ed03ULL;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
    h ^= h >> 31;
  }
  return static_cast<double>(h >> 11) * 0x1p-53;
}

std::int64_t cell_of(double x) {
  constexpr double most = 0x1p53;  // beyond, neighbouring cells are the same number
  return x > -most && x < most ? static_cast<std::int64_t>(std::floor(x)) : 0;
}

double Noise::at(double x, double y) const {
  double sum = 0, height = 1, cell = length;
  for (int k = 0; k < octaves; ++k, height *= 0.5, cell *= 0.5) {
    const double u = std::floor(x / cell), w = std::floor(y / cell);
    const std::int64_t i = cell_of(u), j = cell_of(w);
    const auto value = [&](int a, int b) {
      return 2 * random_at(seed + static_cast<std::uint64_t>(k), i + a, j + b) - 1;
    };
    const auto smooth = [](double t) { return t * t * t * (t * (6 * t - 15) + 10); };
    const double s = smooth(x / cell - u), t = smooth(y / cell - w);
    sum += height * ((1 - t) * ((1 - s) * value(0, 0) + s * value(1, 0)) +
                     t * ((1 - s) * value(0, 1) + s * value(1, 1)));
  }
  return sum;
}

}  // namespace saltus
