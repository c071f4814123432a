// Triangles of mesh files: STL (binary and text) and OBJ.
#pragma once
#include <string>
#include <vector>

#include "saltus/base/types.h"

namespace saltus {

struct MeshFile {
  std::vector<Vec3> vertices;
  std::vector<int> triangles;  // three vertices each
};

// By the file's ending. Throws InputError: not readable, malformed, another format.
[[nodiscard]] MeshFile read_mesh_file(const std::string& path);

}  // namespace saltus
