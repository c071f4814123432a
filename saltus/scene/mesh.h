// Mesh files: STL (binary and ASCII), OBJ, and MuJoCo's MSH.
#pragma once
#include <string>

#include "saltus/geometry/mesh.h"

namespace saltus {

using MeshFile = TriangleMesh;

// By what the file holds: OBJ and MSH by its name (.obj, .msh), else STL, binary where its size
// says so. Equal corners of STL triangles become one vertex; polygons of OBJ become fans. Of OBJ
// only v and f are read. Throws InputError with the file and the line or byte: truncated, not
// finite, an index out of range, no triangles, too large.
[[nodiscard]] MeshFile read_mesh(const std::string& path);
// The same of bytes; `name` is for messages, and its ending tells OBJ and MSH.
[[nodiscard]] MeshFile parse_mesh(const std::string& bytes, const std::string& name);

}  // namespace saltus
