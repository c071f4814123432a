// Mesh files and grids of others: what they hold, and what is refused with its place.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "saltus/base/error.h"
#include "saltus/geometry/hull.h"
#include "saltus/scene/grid.h"
#include "saltus/scene/mesh.h"
#include "tests/support/random.h"

namespace saltus {
namespace {

using test::Random;

const std::string cube_obj =
    "# a cube\nmtllib none.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\n"
    "v 0 1 1\nvn 0 0 1\nf 4 3 2 1\nf 5//1 6//1 7//1 8//1\nf 1/1 2/2 6/3 5/4\nf 2 3 7 6\n"
    "f -6 -5 -1 -2\nf 1 5 8 4\n";

std::string binary_stl(const MeshFile& mesh) {
  std::string out(80, 'x');
  const auto put = [&](const auto& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  put(static_cast<std::uint32_t>(mesh.triangles.size()));
  for (const auto& t : mesh.triangles) {
    for (int i = 0; i < 3; ++i) put(0.0F);
    for (const int v : t)
      for (int i = 0; i < 3; ++i) put(static_cast<float>(mesh.vertices[v][i]));
    put(std::uint16_t{0});
  }
  return out;
}
std::string ascii_stl(const MeshFile& mesh) {
  std::string out = "solid cube\n";
  for (const auto& t : mesh.triangles) {
    out += " facet normal 0 0 0\n  outer loop\n";
    for (const int v : t) {
      out += "   vertex";
      for (int i = 0; i < 3; ++i) out += " " + std::to_string(mesh.vertices[v][i]);
      out += "\n";
    }
    out += "  endloop\n endfacet\n";
  }
  return out + "endsolid cube\n";
}
std::string refusal(const std::string& bytes, const std::string& name) {
  try {
    (void)parse_mesh(bytes, name);
  } catch (const InputError& e) { return e.what(); }
  return "read";
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(MeshFile, TheSameCubeFromAllFormats) {
  const MeshFile obj = parse_mesh(cube_obj, "cube.OBJ");
  EXPECT_EQ(obj.vertices.size(), 8U);
  EXPECT_EQ(obj.triangles.size(), 12U);
  for (const std::string& bytes : {binary_stl(obj), ascii_stl(obj)}) {
    const MeshFile stl = parse_mesh(bytes, "cube.stl");
    EXPECT_EQ(stl.vertices.size(), 8U) << "equal corners are one vertex";
    EXPECT_EQ(stl.triangles.size(), 12U);
    EXPECT_NEAR(volume_of(stl).volume, 1, 1e-15);
  }
  EXPECT_NEAR(volume_of(obj).volume, 1, 1e-15);
  EXPECT_LT((volume_of(obj).centroid - Vec3::Constant(0.5)).norm(), 1e-15);
  EXPECT_EQ(hull_of(obj, Vec3::Constant(2)).hull->faces.size(), 6U);
  // A binary file whose comment begins with "solid", as many writers have it.
  std::string binary = binary_stl(obj);
  std::memcpy(binary.data(), "solid", 5);
  EXPECT_EQ(parse_mesh(binary, "cube.stl").triangles.size(), 12U);
}

TEST(MeshFile, RefusesWithThePlace) {
  const MeshFile cube = parse_mesh(cube_obj, "cube.obj");
  const std::string binary = binary_stl(cube), text = ascii_stl(cube);
  EXPECT_TRUE(
      has(refusal(binary.substr(0, 300), "a.stl"), "a.stl: byte 300: expected 12 triangles"));
  EXPECT_TRUE(has(refusal(binary.substr(0, 40), "a.stl"), "a.stl: byte 40"));
  std::string huge = binary;
  std::memset(huge.data() + 80, 0xff, 4);
  EXPECT_TRUE(has(refusal(huge, "a.stl"), "expected 4294967295 triangles"));
  std::string nan = binary;
  const float bad = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(nan.data() + 84 + 50 + 12, &bad, 4);
  EXPECT_TRUE(has(refusal(nan, "a.stl"), "byte 146: expected finite"));
  EXPECT_TRUE(has(refusal(text.substr(0, 120), "a.stl"), "a.stl:"));
  EXPECT_TRUE(has(refusal("solid x\nvertex 1 2 x\n", "a.stl"), "a.stl:2: expected three finite"));
  EXPECT_TRUE(has(refusal("solid x\n facets\n", "a.stl"), "a.stl:2: expected STL"));
  EXPECT_TRUE(has(refusal("solid x\nendsolid x\n", "a.stl"), "expected triangles, got none"));
  EXPECT_TRUE(has(refusal("v 0 0 0\nv 1 0 nan\n", "a.obj"), "a.obj:2: expected three finite"));
  EXPECT_TRUE(has(refusal("v 0 0 0\nv 1 0 0\nf 1 2 3\n", "a.obj"), "a.obj:3: expected an index"));
  EXPECT_TRUE(has(refusal("v 0 0 0\nv 1 0 0\nf 1 2 0\n", "a.obj"), "a.obj:3"));
  EXPECT_TRUE(has(refusal("v 0 0 0\nv 1 0 0\nf 1 2 1e99\n", "a.obj"), "a.obj:3"));
  EXPECT_TRUE(has(refusal("v 0 0 0\nv 1 0 0\nf 1 2\n", "a.obj"), "a.obj:3: expected a face"));
  EXPECT_TRUE(has(refusal("", "a.obj"), "expected triangles"));
  EXPECT_THROW((void)read_mesh("/nowhere/a.stl"), InputError);
  EXPECT_THROW((void)read_mesh("/tmp"), InputError);
}

TEST(MeshFile, BytesChangedAtRandomAreReadOrRefused) {
  const MeshFile cube = parse_mesh(cube_obj, "cube.obj");
  for (const std::string& name : {std::string("a.stl"), std::string("b.stl"), std::string("c.obj")})
    for (int seed = 1; seed <= 2000; ++seed) {
      Random random(seed);
      std::string bytes = name == "a.stl"   ? binary_stl(cube)
                          : name == "b.stl" ? ascii_stl(cube)
                                            : cube_obj;
      for (int k = 0; k < 4; ++k)
        bytes[static_cast<std::size_t>(random.uniform(0, 1) * static_cast<double>(bytes.size()))] =
            static_cast<char>(random.uniform(0, 256));
      if (random.chance(0.3))
        bytes.resize(
            static_cast<std::size_t>(random.uniform(0, 1) * static_cast<double>(bytes.size())));
      (void)refusal(bytes, name);
    }
}

// --- grids

class GridFile : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) {
    const std::string path = testing::TempDir() + "saltus-" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  static std::string refused(const std::string& path) {
    try {
      (void)read_grid(path);
    } catch (const InputError& e) { return e.what(); }
    return "read";
  }
};

TEST_F(GridFile, PgmHasItsTopRowAtTheGreatestY) {
  for (const std::string& bytes : {std::string("P2\n# gray\n3 2\n10\n0 5 10\n1 2 3\n"),
                                   std::string("P5 3 2 10\n\x00\x05\x0a\x01\x02\x03", 16)}) {
    const Grid g = read_grid(write("a.pgm", bytes));
    EXPECT_EQ(g.nx, 3);
    EXPECT_EQ(g.ny, 2);
    EXPECT_EQ(g.values, (std::vector<double>{0.1, 0.2, 0.3, 0, 0.5, 1}));
  }
  const Grid wide = read_grid(write("b.pgm", std::string("P5 1 1 65535\n\x80\x00", 15)));
  EXPECT_NEAR(wide.values[0], 32768 / 65535.0, 1e-15);
}

TEST_F(GridFile, CsvIsAsItStands) {
  const Grid g = read_grid(write("a.csv", "# heights\n1, 2.5; -3\r\n4 5 6e-1\n\n"));
  EXPECT_EQ(g.nx, 3);
  EXPECT_EQ(g.values, (std::vector<double>{1, 2.5, -3, 4, 5, 0.6}));
}

TEST_F(GridFile, RefusesWithThePlace) {
  EXPECT_TRUE(has(refused(write("c.csv", "1,2\n3\n")), "c.csv:2: expected 2 numbers"));
  EXPECT_TRUE(
      has(refused(write("c.csv", "1,2\n3,x\n")), "c.csv:2: expected finite numbers, got 'x'"));
  EXPECT_TRUE(has(refused(write("c.csv", "1,nan\n")), "c.csv:1"));
  EXPECT_TRUE(has(refused(write("c.csv", "")), "expected 1 to"));
  EXPECT_TRUE(has(refused(write("c.pgm", "P5 300 300 255\nxx")), "ends too early"));
  EXPECT_TRUE(has(refused(write("c.pgm", "P2 2 2 9\n1 2 3")), "expected a value"));
  EXPECT_TRUE(has(refused(write("c.pgm", "P5 99999999 99999999 255\nxx")), "expected 1 to"));
  EXPECT_TRUE(has(refused(write("c.png", "\x89PNG\r\n\x1a\nnothing")), "cannot read the image"));
  EXPECT_TRUE(has(refused("/nowhere/c.png"), "cannot read"));
}

TEST(Noise, TheSameBitsEverywhere) {
  // Integers and products: figures of one machine hold on all.
  EXPECT_EQ(random_at(7, 0, 0), random_at(7, 0, 0));
  EXPECT_NE(random_at(7, 0, 0), random_at(7, 1, 0));
  EXPECT_NE(random_at(7, 0, 1), random_at(7, 1, 0));
  double sum = 0, most = 0;
  const Noise noise{3, 4, 0.5};
  for (int i = 0; i < 100; ++i)
    for (int j = 0; j < 100; ++j) {
      sum += random_at(1, i, j);
      most = std::max(most, std::abs(noise.at(0.07 * i, 0.07 * j)));
    }
  EXPECT_NEAR(sum / 10000, 0.5, 0.01);
  EXPECT_LT(most, 2);  // 1 + 1/2 + 1/4 + 1/8
  EXPECT_GT(most, 0.5);
  // Continuous across the cells of all octaves.
  EXPECT_NEAR(noise.at(0.5 - 1e-12, 0.3), noise.at(0.5 + 1e-12, 0.3), 1e-10);
}

}  // namespace
}  // namespace saltus
