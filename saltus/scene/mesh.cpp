#include "saltus/scene/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <unordered_map>

#include "saltus/base/bytes.h"
#include "saltus/base/error.h"

namespace saltus {

namespace {

constexpr std::size_t most_mesh_bytes = std::size_t{1} << 30;
constexpr std::size_t most_triangles = 20'000'000;  // indices stay far inside an int
constexpr const char* blanks_in_line = " \t";

struct Hash {
  std::size_t operator()(const std::array<std::uint64_t, 3>& k) const {
    std::uint64_t h = 0;
    for (const std::uint64_t x : k) h = (h ^ x) * 0x9e3779b97f4a7c15ULL, h ^= h >> 29;
    return h;
  }
};

// Corners with equal coordinates are one vertex.
class Welder {
 public:
  explicit Welder(MeshFile& mesh) : mesh_(mesh) {}
  int vertex(const Vec3& p) {
    std::array<std::uint64_t, 3> key{};
    for (int i = 0; i < 3; ++i) key[i] = std::bit_cast<std::uint64_t>(p[i] + 0.0);  // -0 is 0
    const auto [at, is_new] = known_.try_emplace(key, static_cast<int>(mesh_.vertices.size()));
    if (is_new) mesh_.vertices.push_back(p);
    return at->second;
  }

 private:
  MeshFile& mesh_;
  std::unordered_map<std::array<std::uint64_t, 3>, int, Hash> known_;
};

// --- STL

constexpr std::size_t stl_header = 84, stl_triangle = 50;

template <class T>
T little_endian(const char* at) {
  std::array<unsigned char, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), at, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

MeshFile binary_stl(const std::string& bytes, const std::string& name) {
  const auto count = little_endian<std::uint32_t>(bytes.data() + 80);
  const std::size_t room = (bytes.size() - stl_header) / stl_triangle;
  if (count > room)  // believed only as far as there are bytes
    throw InputError(fmt::format("{}: byte {}: expected {} triangles, the file ends after {}", name,
                                 bytes.size(), count, room));
  MeshFile mesh;
  Welder welder(mesh);
  for (std::size_t k = 0; k < count; ++k) {
    std::array<int, 3> triangle{};
    for (int corner = 0; corner < 3; ++corner) {
      const std::size_t at = stl_header + k * stl_triangle + 12 + 12 * corner;
      Vec3 p;
      for (int i = 0; i < 3; ++i) p[i] = little_endian<float>(bytes.data() + at + 4 * i);
      if (!p.allFinite())
        throw InputError(fmt::format("{}: byte {}: expected finite coordinates", name, at));
      triangle[corner] = welder.vertex(p);
    }
    mesh.triangles.push_back(triangle);
  }
  return mesh;
}

class Text {
 public:
  Text(const std::string& bytes, std::string name) : lines_(bytes), name_(std::move(name)) {}
  bool next() { return lines_.next(line_); }
  std::string_view word() { return next_word(line_, blanks_in_line); }
  [[nodiscard]] bool more() const { return line_.find_first_not_of(blanks_in_line) != line_.npos; }
  [[nodiscard]] InputError error(const std::string& message) const {
    return InputError(fmt::format("{}:{}: {}", name_, std::max(lines_.number(), 1), message));
  }
  Vec3 point() {
    Vec3 p;
    for (int i = 0; i < 3; ++i) {
      const std::string_view text = word();
      const auto x = parse_number(text);
      if (!x) throw error(fmt::format("expected three finite numbers, got '{}'", text));
      p[i] = *x;
    }
    return p;
  }

 private:
  Lines lines_;
  std::string_view line_;
  std::string name_;
};

MeshFile ascii_stl(const std::string& bytes, const std::string& name) {
  MeshFile mesh;
  Welder welder(mesh);
  Text text(bytes, name);
  std::array<int, 3> triangle{};
  int corners = 0;
  while (text.next()) {
    const std::string_view key = text.word();
    if (key == "vertex") {
      if (corners == 3) throw text.error("expected three corners a facet, got a fourth");
      triangle[corners++] = welder.vertex(text.point());
    } else if (key == "endfacet") {
      if (corners != 3) throw text.error(fmt::format("expected three corners, got {}", corners));
      mesh.triangles.push_back(triangle);
      corners = 0;
    } else if (!key.empty() && key != "solid" && key != "facet" && key != "outer" &&
               key != "endloop" && key != "endsolid") {
      throw text.error(fmt::format("expected STL, got '{}'", key.substr(0, 40)));
    }
  }
  if (corners != 0) throw text.error("the file ends within a facet");
  return mesh;
}

MeshFile read_stl(const std::string& bytes, const std::string& name) {
  const bool by_size =
      bytes.size() >= stl_header &&
      bytes.size() ==
          stl_header + stl_triangle * std::size_t{little_endian<std::uint32_t>(bytes.data() + 80)};
  if (!by_size && bytes.rfind("solid", 0) == 0) return ascii_stl(bytes, name);
  if (bytes.size() < stl_header)
    throw InputError(fmt::format("{}: byte {}: expected STL, the file ends within its header", name,
                                 bytes.size()));
  return binary_stl(bytes, name);
}

// --- OBJ

int obj_index(Text& text, std::string_view word, std::size_t vertices) {
  const std::string_view first = word.substr(0, word.find('/'));
  const auto x = parse_number(first);
  const auto count = static_cast<double>(vertices);
  if (!x || *x != std::floor(*x) || *x == 0 || *x > count || *x < -count)
    throw text.error(fmt::format("expected an index 1 to {} or -1 to -{}, got '{}'", vertices,
                                 vertices, first.substr(0, 40)));
  return static_cast<int>(*x > 0 ? *x - 1 : count + *x);
}

MeshFile read_obj(const std::string& bytes, const std::string& name) {
  MeshFile mesh;
  Text text(bytes, name);
  while (text.next()) {
    const std::string_view key = text.word();
    if (key == "v") mesh.vertices.push_back(text.point());
    if (key != "f") continue;
    int corners = 0, first = 0, last = 0;
    while (text.more()) {
      const int i = obj_index(text, text.word(), mesh.vertices.size());
      if (corners == 0) first = i;
      if (corners >= 2) mesh.triangles.push_back({first, last, i});
      last = i;
      ++corners;
      if (mesh.triangles.size() > most_triangles) throw text.error("too many triangles");
    }
    if (corners < 3)
      throw text.error(fmt::format("expected a face of at least three corners, got {}", corners));
  }
  return mesh;
}

// --- MSH, MuJoCo's own: four counts, then vertices, normals, texture coordinates and triangles

MeshFile read_msh(const std::string& bytes, const std::string& name) {
  constexpr std::size_t header = 16;
  if (bytes.size() < header)
    throw InputError(fmt::format("{}: byte {}: expected MSH, the file ends within its header", name,
                                 bytes.size()));
  std::array<std::size_t, 4> count{};  // vertices, normals, texture coordinates, triangles
  for (std::size_t i = 0; i < 4; ++i) {
    const auto n = little_endian<std::int32_t>(bytes.data() + 4 * i);
    if (n < 0) throw InputError(fmt::format("{}: byte {}: expected a count >= 0", name, 4 * i));
    count[i] = static_cast<std::size_t>(n);
  }
  const std::size_t faces = header + 12 * count[0] + 12 * count[1] + 8 * count[2];
  if (bytes.size() != faces + 12 * count[3])
    throw InputError(fmt::format("{}: byte {}: expected {} bytes of MSH", name, bytes.size(),
                                 faces + 12 * count[3]));
  MeshFile mesh;
  for (std::size_t k = 0; k < count[0]; ++k) {
    Vec3 p;
    for (std::size_t i = 0; i < 3; ++i)
      p[static_cast<Eigen::Index>(i)] =
          little_endian<float>(bytes.data() + header + 12 * k + 4 * i);
    if (!p.allFinite())
      throw InputError(
          fmt::format("{}: byte {}: expected finite coordinates", name, header + 12 * k));
    mesh.vertices.push_back(p);
  }
  for (std::size_t k = 0; k < count[3]; ++k) {
    std::array<int, 3> triangle{};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t at = faces + 12 * k + 4 * i;
      triangle[i] = little_endian<std::int32_t>(bytes.data() + at);
      if (triangle[i] < 0 || static_cast<std::size_t>(triangle[i]) >= count[0])
        throw InputError(fmt::format("{}: byte {}: expected an index 0 to {}, got {}", name, at,
                                     count[0], triangle[i]));
    }
    mesh.triangles.push_back(triangle);
  }
  return mesh;
}

bool ends_with(std::string name, const std::string& ending) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.ends_with(ending);
}

}  // namespace

MeshFile parse_mesh(const std::string& bytes, const std::string& name) {
  if (ends_with(name, ".dae"))
    throw InputError(fmt::format("{}: COLLADA is not read: expected STL, OBJ or MSH", name));
  MeshFile mesh = ends_with(name, ".obj")   ? read_obj(bytes, name)
                  : ends_with(name, ".msh") ? read_msh(bytes, name)
                                            : read_stl(bytes, name);
  if (mesh.triangles.empty())
    throw InputError(fmt::format("{}: expected triangles, got none", name));
  return mesh;
}

MeshFile read_mesh(const std::string& path) {
  return parse_mesh(read_bytes(path, most_mesh_bytes), path);
}

}  // namespace saltus
