// FCLIB's HDF5 format.
#include <fmt/format.h>

#include <cmath>

#include "saltus/problems/problem_parts.h"
#include "saltus/runs/hdf5_handle.h"

namespace saltus::problem_file {

namespace {

using hdf5::Handle, hdf5::must;

class Group {
 public:
  Group(const std::string& path, const std::string& name, Handle handle)
      : path_(path), name_(name), handle_(std::move(handle)) {}

  [[nodiscard]] std::string where(const std::string& dataset) const {
    return fmt::format("{}: {}/{}", path_, name_, dataset);
  }
  [[nodiscard]] bool has(const char* name) const {
    return H5Lexists(handle_, name, H5P_DEFAULT) > 0;
  }
  [[nodiscard]] Group open(const char* name) const {
    if (!has(name)) throw refuse(where(name), "is missing");
    return {path_, fmt::format("{}/{}", name_, name), Handle(H5Gopen2(handle_, name, H5P_DEFAULT))};
  }
  [[nodiscard]] std::vector<double> reals(const char* name) const {
    std::vector<double> values = read<double>(name, H5T_NATIVE_DOUBLE);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i]))
        throw refuse(where(name), fmt::format("entry {} is {}", i, values[i]));
    return values;
  }
  [[nodiscard]] std::vector<int> integers(const char* name) const {
    return read<int>(name, H5T_NATIVE_INT);
  }
  [[nodiscard]] int integer(const char* name, int least, int most) const {
    const auto values = integers(name);
    if (values.size() != 1 || values[0] < least || values[0] > most)
      throw refuse(where(name), fmt::format("expected an integer from {} to {}{}", least, most,
                                            values.size() == 1 ? fmt::format(", got {}", values[0])
                                                               : std::string()));
    return values[0];
  }
  [[nodiscard]] Vec vector(const char* name, int size) const {
    const auto values = reals(name);
    if (static_cast<int>(values.size()) != size)
      throw refuse(where(name), fmt::format("{} values, expected {}", values.size(), size));
    return Eigen::Map<const Vec>(values.data(), size);
  }
  [[nodiscard]] std::string text(const char* name) const {
    if (!has(name)) return {};
    const Handle set(H5Dopen2(handle_, name, H5P_DEFAULT)), type(H5Dget_type(set));
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0) return {};
    const Handle space(H5Dget_space(set));
    const std::size_t size = H5Tget_size(type);
    if (H5Sget_simple_extent_npoints(space) != 1 || size > 10000) return {};
    std::string value(size, '\0');
    must(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value.data()));
    value.resize(std::min(value.find('\0'), value.size()));
    return value;
  }

 private:
  template <class T>
  std::vector<T> read(const char* name, hid_t type) const {
    if (!has(name)) throw refuse(where(name), "is missing");
    const Handle set(H5Dopen2(handle_, name, H5P_DEFAULT));
    const Handle space(H5Dget_space(set)), stored(H5Dget_type(set));
    const H5T_class_t kind = H5Tget_class(stored);
    if (kind != H5T_INTEGER && kind != H5T_FLOAT) throw refuse(where(name), "expected numbers");
    const auto count = H5Sget_simple_extent_npoints(space);
    if (count < 0 || count > 100000000)
      throw refuse(where(name), fmt::format("{} values are too many", count));
    std::vector<T> values(static_cast<std::size_t>(count));
    if (count > 0) must(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
    return values;
  }
  std::string path_, name_;
  Handle handle_;
};

// nz = -1 compressed columns, -2 compressed rows, >= 0 triplets with i the row and p the column.
Sparse read_matrix(const Group& parent, const char* name, int rows, int columns) {
  const Group g = parent.open(name);
  const int m = g.integer("m", 0, 10000000), n = g.integer("n", 0, 10000000);
  if (m != rows || (columns >= 0 && n != columns))
    throw refuse(g.where("m"),
                 fmt::format("the matrix is {} x {}, expected {} x {}", m, n, rows, columns));
  const int nz = g.integer("nz", -2, 100000000);
  const auto p = g.integers("p"), i = g.integers("i");
  const auto x = g.reals("x");
  std::vector<Eigen::Triplet<double>> list;
  const auto add = [&](int row, int column, std::size_t at) {
    if (row < 0 || row >= m || column < 0 || column >= n)
      throw refuse(g.where("i"), fmt::format("entry {} is at ({}, {}), outside of {} x {}", at, row,
                                             column, m, n));
    list.emplace_back(row, column, x[at]);
  };
  if (nz >= 0) {
    const auto count = static_cast<std::size_t>(nz);
    if (count > p.size() || count > i.size() || count > x.size())
      throw refuse(g.where("nz"), fmt::format("{} entries, but only {} values", nz, x.size()));
    for (std::size_t k = 0; k < count; ++k) add(i[k], p[k], k);
  } else {
    const int outer = nz == -1 ? n : m;
    if (static_cast<int>(p.size()) != outer + 1)
      throw refuse(g.where("p"), fmt::format("{} pointers, expected {}", p.size(), outer + 1));
    for (int k = 0; k < outer; ++k) {
      if (p[k] < 0 || p[k + 1] < p[k] || static_cast<std::size_t>(p[k + 1]) > i.size() ||
          static_cast<std::size_t>(p[k + 1]) > x.size())
        throw refuse(g.where("p"),
                     fmt::format("pointers {} and {} are {} and {}", k, k + 1, p[k], p[k + 1]));
      for (int l = p[k]; l < p[k + 1]; ++l) add(nz == -1 ? i[l] : k, nz == -1 ? k : i[l], l);
    }
  }
  Sparse A(m, n);
  A.setFromTriplets(list.begin(), list.end());
  return A;
}

void read_problem(const Group& g, Raw& raw) {
  raw.dimension = g.integer("spacedim", 2, 5);
  if (raw.rolling && raw.dimension == 3) raw.dimension = 5;  // some writers give the space's own
  if (raw.dimension == 4 || raw.rolling != (raw.dimension == 5))
    throw refuse(g.where("spacedim"), fmt::format("{} rows a contact{}", raw.dimension,
                                                  raw.rolling ? " with rolling" : ""));
  const Group vectors = g.open("vectors");
  raw.at_mu = vectors.where("mu");
  const auto mu = vectors.reals("mu");
  const int most = most_rows / raw.dimension;
  if (mu.empty() || static_cast<int>(mu.size()) > most)
    throw refuse(raw.at_mu, fmt::format("{} contacts, expected 1 to {}", mu.size(), most));
  raw.contacts = static_cast<int>(mu.size());
  raw.mu = Eigen::Map<const Vec>(mu.data(), raw.contacts);
  if (raw.rolling) raw.mu_r = vectors.vector("mu_r", raw.contacts);
  const int m = raw.dimension * raw.contacts;
  raw.at_W = g.where("W");
  raw.at_M = g.where("M");
  if (!raw.global) {
    raw.W = read_matrix(g, "W", m, m);
    raw.q = vectors.vector("q", m);
    return;
  }
  const auto f = vectors.reals("f");
  const int n = static_cast<int>(f.size());
  raw.f = Eigen::Map<const Vec>(f.data(), n);
  raw.w = vectors.vector("w", m);
  raw.M = read_matrix(g, "M", n, n);
  raw.H = read_matrix(g, "H", n, m);
}

}  // namespace

void read_fclib(const std::string& path, int most_dense, ProblemFile& out) {
  hdf5::prepare();
  Raw raw;
  try {
    const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const Group root(path, "", Handle(H5Gopen2(file, "/", H5P_DEFAULT)));
    const char* name = nullptr;
    for (const char* known :
         {"fclib_local", "fclib_global", "fclib_local_rolling", "fclib_global_rolling"})
      if (root.has(known)) name = known;
    if (!name) throw refuse(path, "no /fclib_local or /fclib_global in it");
    const std::string kind = name;
    raw.global = kind.find("global") != std::string::npos;
    raw.rolling = kind.find("rolling") != std::string::npos;
    const Group g = root.open(name);
    read_problem(g, raw);
    if (g.has("info"))
      if (const std::string title = g.open("info").text("title"); !title.empty()) out.title = title;
  } catch (const hdf5::Failure& e) { throw refuse(path, e.what()); } catch (const std::bad_alloc&) {
    throw refuse(path, "it asks for more memory than there is");
  }
  out.format = "fclib";
  build(path, raw, most_dense, out);
}

}  // namespace saltus::problem_file
