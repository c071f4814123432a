// Ground of a scene: height fields, friction maps, meshes.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "saltus/geometry/friction_map.h"
#include "saltus/geometry/terrain.h"
#include "saltus/scene/grid.h"
#include "saltus/scene/limits.h"
#include "saltus/scene/mesh.h"
#include "saltus/scene/scene_elements.h"

namespace saltus {

namespace {

// Where the samples of a grid lie.
struct Placement {
  std::vector<double> spacing, size, origin;

  void read(Fields& f) {
    f.number_or_list("spacing", spacing, "m", "between samples, along x and y; or size", 1, 2,
                     positive);
    f.number_or_list("size", size, "m", "of the whole, along x and y; or spacing", 2, 2, positive);
    f.number_or_list("origin", origin, "m", "x and y of the first sample; default: centred", 2, 2);
    if (!f.writing_schema() && spacing.empty() == size.empty())
      throw f.error("spacing", "expected either spacing or size");
    if (spacing.size() == 1) spacing.push_back(spacing[0]);
  }
  // Along axis k, of n samples that span n - 1 (points) or n (cells) intervals.
  [[nodiscard]] double step(int k, int intervals) const {
    return spacing.empty() ? size[k] / intervals : spacing[k];
  }
  [[nodiscard]] Vec2 first(double dx, double dy, int nx, int ny) const {
    if (!origin.empty()) return {origin[0], origin[1]};
    return {-0.5 * nx * dx, -0.5 * ny * dy};
  }
};

void read_points(Fields& f, int& nx, int& ny, const char* about) {
  std::vector<double> points;
  f.required().number_or_list("points", points, "", about, 2, 2, positive);
  if (f.writing_schema()) return;
  for (const double n : points)
    if (n != std::floor(n) || n > 1 << 14)
      throw f.error("points", fmt::format("expected whole numbers up to {}, got {}", 1 << 14, n));
  nx = static_cast<int>(points[0]);
  ny = static_cast<int>(points[1]);
  if (!f.afford(static_cast<std::size_t>(nx) * static_cast<std::size_t>(ny)))
    throw f.error("points", fmt::format("expected generators that make at most {} values in all, "
                                        "with these {} x {} they make more",
                                        most_generated, nx, ny));
}

// A list of rows or a file, with a scale and an offset for the file.
bool read_samples(Fields& f, const char* key, const char* unit, std::size_t least, Grid& grid) {
  std::vector<std::vector<double>> rows;
  f.rows(key, rows, unit, "one row along x after the other, from the least y up", least);
  std::string path;
  f.file("file", path, "gray image (PNG, PGM; black 0, white 1) or CSV, instead of the list");
  double scale = 1, offset = 0;
  f.number("scale", scale, unit, "a file's values are multiplied by it");
  f.number("offset", offset, unit, "then this is added");
  if (f.writing_schema()) return false;
  if (!rows.empty() && !path.empty())
    throw f.error("file", fmt::format("expected either {} or a file, got both", key));
  if (path.empty() && (f.has("scale") || f.has("offset")))
    throw f.error(f.has("scale") ? "scale" : "offset", "belongs to a file");
  if (!rows.empty()) {
    grid.nx = static_cast<int>(rows[0].size());
    grid.ny = static_cast<int>(rows.size());
    for (const auto& row : rows) grid.values.insert(grid.values.end(), row.begin(), row.end());
    return true;
  }
  if (path.empty()) return false;
  try {
    grid = read_grid(path);
  } catch (const InputError& e) { throw f.error("file", e.what()); }
  for (double& x : grid.values) x = scale * x + offset;
  return true;
}

// --- generators: a height of a place (x, y)

using Generator = std::function<double(double, double)>;

Generator read_slope(Fields& f) {
  double angle = 0, heading = 0;
  f.required().number("angle", angle, "rad", "of the slope", {-1.5, 1.5});
  f.number("heading", heading, "rad", "uphill, from x towards y");
  const double slope = std::tan(angle), c = std::cos(heading), s = std::sin(heading);
  return [=](double x, double y) { return slope * (c * x + s * y); };
}

struct Stairs {
  double rise = 0, tread = 1;
  int count = 0;
  void read(Fields& f) {
    f.required().number("rise", rise, "m", "of one step; negative: down");
    f.required().number("tread", tread, "m", "depth of one step", positive);
    f.required().integer("count", count, "of steps", 1);
  }
  // Rounding must not put a sample on a tread's edge to either side.
  [[nodiscard]] double level(double distance) const {
    return rise * std::clamp(std::floor(distance / tread + 1e-9) + 1, 0.0, double(count));
  }
};

Generator read_stairs(Fields& f) {
  Stairs stairs;
  stairs.read(f);
  double start = 0;
  f.number("start", start, "m", "x of the first riser");
  return [=](double x, double) { return stairs.level(x - start); };
}

Generator read_pyramid(Fields& f) {
  Stairs stairs;
  stairs.read(f);
  double top = 1;
  f.number("top", top, "m", "half width of the platform", positive);
  return [=](double x, double y) {
    const double down = stairs.level(std::max(std::abs(x), std::abs(y)) - top);
    return stairs.rise * stairs.count - down;
  };
}

std::uint64_t read_seed(Fields& f) {
  int seed = 0;
  f.integer("seed", seed, "same seed, same ground", 0);
  return static_cast<std::uint64_t>(seed);
}

Generator read_steps(Fields& f) {
  double length = 1, amplitude = 0;
  f.required().number("length", length, "m", "edge of a block", positive);
  f.required().number("amplitude", amplitude, "m", "blocks are 0 to this high", not_negative);
  const std::uint64_t seed = read_seed(f);
  return [=](double x, double y) {
    return amplitude * random_at(seed, cell_of(x / length + 1e-9), cell_of(y / length + 1e-9));
  };
}

Generator read_stones(Fields& f) {
  double length = 1, gap = 0, depth = 1, amplitude = 0;
  f.required().number("length", length, "m", "edge of a stone's top", positive);
  f.required().number("gap", gap, "m", "between stones", positive);
  f.required().number("depth", depth, "m", "of the gaps", positive);
  f.number("amplitude", amplitude, "m", "tops are 0 to this high", not_negative);
  const std::uint64_t seed = read_seed(f);
  return [=](double x, double y) {
    const double period = length + gap;
    const auto cell = [&](double s) { return std::floor((s + 0.5 * period) / period + 1e-9); };
    const auto on = [&](double s) {
      return std::abs(s - period * cell(s)) <= 0.5 * length * (1 + 1e-9);
    };
    if (!on(x) || !on(y)) return -depth;
    return amplitude * random_at(seed, cell_of(cell(x)), cell_of(cell(y)));
  };
}

Generator read_noise(Fields& f) {
  Noise noise;
  double amplitude = 0;
  f.required().number("amplitude", amplitude, "m", "of the first octave", not_negative);
  f.number("length", noise.length, "m", "of the first octave; the next halve both", positive);
  f.integer("octaves", noise.octaves, "", 1);
  noise.seed = read_seed(f);
  if (!f.writing_schema() && noise.octaves > 16) throw f.error("octaves", "expected at most 16");
  return [=](double x, double y) { return amplitude * noise.at(x, y); };
}

Generator read_generator(Fields& f, int& nx, int& ny) {
  Generator result;
  read_points(f, nx, ny, "samples along x and y");
  const auto by = [&](auto read) { return [&result, read](Fields& g) { result = read(g); }; };
  f.forms("type", {{"slope", by(read_slope)},
                   {"steps", by(read_steps)},
                   {"stairs", by(read_stairs)},
                   {"pyramid", by(read_pyramid)},
                   {"stones", by(read_stones)},
                   {"noise", by(read_noise)}});
  return result;
}

// --- friction maps

struct MapGenerator {
  FrictionMap map;

  void read(Fields& f) {
    f.forms("type", {{"checkerboard", [&](Fields& g) { checkerboard(g); }},
                     {"strip", [&](Fields& g) { strip(g); }}});
  }
  void checkerboard(Fields& f) {
    std::vector<double> two;
    double length = 1;
    f.required().number("length", length, "m", "edge of a square", positive);
    f.required().number_or_list("factors", two, "", "of the squares in turn", 2, 2, not_negative);
    read_points(f, map.nx, map.ny, "squares along x and y");
    if (f.writing_schema()) return;
    map.dx = map.dy = length;
    map.origin = {-0.5 * map.nx * length, -0.5 * map.ny * length};
    for (int j = 0; j < map.ny; ++j)
      for (int i = 0; i < map.nx; ++i) map.factors.push_back(two[(i + j) % 2]);
  }
  void strip(Fields& f) {
    double from = 0, to = 1, inside = 1, outside = 1;
    f.required().number("from", from, "m", "x where it begins");
    f.required().number("to", to, "m", "x where it ends");
    f.required().number("factor", inside, "", "on the strip", not_negative);
    f.number("outside", outside, "", "beside it", not_negative);
    if (f.writing_schema()) return;
    if (!(from < to)) throw f.error("to", "expected from < to");
    map.nx = 3;
    map.ny = 1;
    map.dx = map.dy = to - from;
    map.origin = {from - map.dx, 0};
    map.factors = {outside, inside, outside};
  }
};

void read_sampled_map(Fields& f, FrictionMap& map) {
  Grid grid;
  const bool given = read_samples(f, "factors", "", 1, grid);
  Placement placement;
  placement.read(f);
  if (f.writing_schema()) return;
  if (!given) throw f.error("factors", "expected factors, a file or a generator");
  map.nx = grid.nx;
  map.ny = grid.ny;
  const bool nodes = map.between == FrictionMap::Between::bilinear;
  const int ix = std::max(nodes ? grid.nx - 1 : grid.nx, 1),
            iy = std::max(nodes ? grid.ny - 1 : grid.ny, 1);
  map.dx = placement.step(0, ix);
  map.dy = placement.step(1, iy);
  map.origin =
      placement.first(map.dx, map.dy, nodes ? grid.nx - 1 : grid.nx, nodes ? grid.ny - 1 : grid.ny);
  map.factors = std::move(grid.values);
}

FrictionMap read_map(Fields& f) {
  MapGenerator generator;
  FrictionMap& map = generator.map;
  map.between = static_cast<FrictionMap::Between>(
      f.choice("between", 0, {"cells", "bilinear"},
               "each factor holds on its own rectangle, or they are interpolated"));
  const bool made =
      f.object("generator", "instead of factors or a file", [&](Fields& g) { generator.read(g); });
  if (!made || f.writing_schema()) read_sampled_map(f, map);
  return map;
}

}  // namespace

HeightField read_height_field(Fields& f) {
  Grid grid;
  Placement placement;
  const bool given = read_samples(f, "heights", "m", 2, grid);
  Generator generator;
  const bool made = f.object("generator", "instead of heights or a file", [&](Fields& g) {
    g.definition("ground", [&](Fields& h) { generator = read_generator(h, grid.nx, grid.ny); });
  });
  placement.read(f);
  if (f.writing_schema()) return {};
  if (given == made)
    throw f.error("heights", "expected heights, a file or a generator, and one of them");
  if (grid.nx < 2 || grid.ny < 2)
    throw f.error(made ? "generator.points" : "file",
                  fmt::format("expected at least 2 x 2 samples, got {} x {}", grid.nx, grid.ny));
  const double dx = placement.step(0, grid.nx - 1), dy = placement.step(1, grid.ny - 1);
  const Vec2 first = placement.first(dx, dy, grid.nx - 1, grid.ny - 1);
  if (made)
    for (int j = 0; j < grid.ny; ++j)
      for (int i = 0; i < grid.nx; ++i)
        grid.values.push_back(generator(first.x() + i * dx, first.y() + j * dy));
  try {
    return height_field(grid.nx, grid.ny, dx, dy, first, std::move(grid.values));
  } catch (const InputError& e) { throw f.error("", e.what()); }
}

void read_friction_map(Fields& f, Surface& surface) {
  f.object("friction_map", "factors of the friction coefficients over x and y", [&](Fields& g) {
    g.definition("friction_map", [&](Fields& h) {
      const FrictionMap map = read_map(h);
      if (h.writing_schema()) return;
      try {
        surface.friction = friction_map(map);
      } catch (const InputError& e) { throw h.error("", e.what()); }
    });
  });
}

ConvexHull read_mesh_shape(Fields& f) {
  std::string path;
  f.required().file("file", path, "STL or OBJ; touches as its convex hull, is drawn as it is");
  std::vector<double> scale{1};
  f.number_or_list("scale", scale, "", "of the file's lengths: one factor, or along x, y, z", 1, 3);
  if (f.writing_schema()) return {};
  if (scale.size() == 2) throw f.error("scale", "expected one factor or three, got two");
  const Vec3 factors =
      scale.size() == 3 ? Vec3(scale[0], scale[1], scale[2]) : Vec3::Constant(scale[0]).eval();
  if (!(factors.cwiseAbs().minCoeff() > 0)) throw f.error("scale", "expected factors other than 0");
  try {
    return hull_of(read_mesh(path), factors);
  } catch (const InputError& e) { throw f.error("file", e.what()); }
}

}  // namespace saltus
