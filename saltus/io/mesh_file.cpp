// Triangles of mesh files: STL (binary and text) and OBJ.
#include "saltus/io/mesh_file.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "saltus/base/error.h"
#include "saltus/io/xml.h"

namespace saltus {

namespace {

MeshFile read_binary_stl(const std::string& data) {
  std::uint32_t count = 0;
  std::memcpy(&count, data.data() + 80, 4);
  MeshFile mesh;
  for (std::uint32_t t = 0; t < count; ++t) {
    std::array<float, 9> x{};
    std::memcpy(x.data(), data.data() + 84 + 50 * static_cast<std::size_t>(t) + 12, sizeof x);
    for (int k = 0; k < 3; ++k) {
      mesh.triangles.push_back(static_cast<int>(mesh.vertices.size()));
      mesh.vertices.emplace_back(x[3 * k], x[3 * k + 1], x[3 * k + 2]);
    }
  }
  return mesh;
}

bool is_binary_stl(const std::string& data) {
  if (data.size() < 84) return false;
  std::uint32_t count = 0;
  std::memcpy(&count, data.data() + 80, 4);
  return data.size() == 84 + 50 * static_cast<std::size_t>(count);
}

Vec3 three_numbers(const std::string& text) {
  const auto x = parse_numbers(text);
  if (!x || x->size() < 3) throw InputError(fmt::format("expected three numbers, got '{}'", text));
  return {(*x)[0], (*x)[1], (*x)[2]};
}

MeshFile read_text_stl(const std::string& data) {
  MeshFile mesh;
  std::istringstream lines(data);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find("vertex ");
    if (at == std::string::npos) continue;
    mesh.triangles.push_back(static_cast<int>(mesh.vertices.size()));
    mesh.vertices.push_back(three_numbers(line.substr(at + 7)));
  }
  if (mesh.triangles.size() % 3 != 0) throw InputError("expected three vertices a facet");
  return mesh;
}

int obj_index(const std::string& word, std::size_t vertices) {
  const auto x = parse_numbers(word.substr(0, word.find('/')));
  const double given = x && x->size() == 1 ? x->front() : 0;
  const double index = given < 0 ? static_cast<double>(vertices) + given : given - 1;
  if (!(index >= 0 && index < static_cast<double>(vertices)))
    throw InputError(fmt::format("a face names the vertex '{}', there are {}", word, vertices));
  return static_cast<int>(index);
}

MeshFile read_obj(const std::string& data) {
  MeshFile mesh;
  std::istringstream lines(data);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("v ")) mesh.vertices.push_back(three_numbers(line.substr(2)));
    if (!line.starts_with("f ")) continue;
    std::istringstream words(line.substr(2));
    std::vector<int> corners;
    for (std::string word; words >> word;) corners.push_back(obj_index(word, mesh.vertices.size()));
    for (std::size_t i = 2; i < corners.size(); ++i)  // a fan
      mesh.triangles.insert(mesh.triangles.end(), {corners[0], corners[i - 1], corners[i]});
  }
  return mesh;
}

}  // namespace

MeshFile read_mesh_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) throw InputError("the file cannot be read");
  const std::string data = text.str();
  if (data.size() > 500'000'000) throw InputError("the file is larger than 500 MB");
  std::string kind = std::filesystem::path(path).extension().string();
  for (char& c : kind) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (kind == ".obj") return read_obj(data);
  if (kind == ".stl") return is_binary_stl(data) ? read_binary_stl(data) : read_text_stl(data);
  throw InputError("expected an STL or OBJ file");
}

}  // namespace saltus
