#include "arrays.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <cmath>

namespace saltus::python {

namespace {

double nothing = 0;  // what an empty view points at

using Input = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

std::string shape_text(const Input& a) {
  std::string s = "(";
  for (std::size_t i = 0; i < a.ndim(); ++i) s += fmt::format("{}{}", i ? ", " : "", a.shape(i));
  return s + ")";
}

Input import_array(nb::handle x, const char* name, const std::string& expected) {
  Input a;
  if (nb::try_cast(x, a, false)) return a;
  try {
    const nb::object numpy = nb::module_::import_("numpy");
    const nb::object array = numpy.attr("asarray")(x);
    const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    // Booleans, integers, floats and objects that are numbers; no text and no complex numbers.
    if (kind.find_first_of("biufO") != std::string::npos) {
      const nb::object converted = numpy.attr("ascontiguousarray")(array, "float64");
      if (nb::try_cast(converted, a, false)) return a;
    }
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError) && !e.matches(PyExc_ValueError) &&
        !e.matches(PyExc_OverflowError))
      throw;
  }
  std::string got = nb::type_name(x.type()).c_str();
  throw InputError(fmt::format("{}: expected {}, got {}", name, expected, got));
}

void check_finite(const double* x, Eigen::Index n, const char* name) {
  for (Eigen::Index i = 0; i < n; ++i)
    if (!std::isfinite(x[i]))
      throw InputError(fmt::format("{}[{}]: expected a finite number, got {}", name, i, x[i]));
}

}  // namespace

Vec vector_of(nb::handle x, Eigen::Index n, const char* name, Numbers numbers) {
  const std::string expected = fmt::format("{} number{}", n, n == 1 ? "" : "s");
  const Input a = import_array(x, name, expected);
  // ascontiguousarray makes a number an array of one; both are one number.
  if (a.ndim() != 1 || static_cast<Eigen::Index>(a.shape(0)) != n)
    throw InputError(
        fmt::format("{}: expected {}, got an array of shape {}", name, expected, shape_text(a)));
  if (numbers == Numbers::finite) check_finite(a.data(), n, name);
  return n ? Vec(Eigen::Map<const Vec>(a.data(), n)) : Vec();
}

Vec vector_of_any_length(nb::handle x, const char* name) {
  const Input a = import_array(x, name, "a list of numbers");
  if (a.ndim() != 1)
    throw InputError(
        fmt::format("{}: expected a list of numbers, got shape {}", name, shape_text(a)));
  const auto n = static_cast<Eigen::Index>(a.shape(0));
  check_finite(a.data(), n, name);
  return n ? Vec(Eigen::Map<const Vec>(a.data(), n)) : Vec();
}

Vec3 vec3_of(nb::handle x, const char* name) { return vector_of(x, 3, name); }

Mat matrix_of(nb::handle x, Eigen::Index rows, Eigen::Index columns, const char* name) {
  const std::string expected = columns < 0 ? "a matrix"
                               : rows < 0  ? fmt::format("an n x {} matrix", columns)
                                           : fmt::format("a {} x {} matrix", rows, columns);
  const Input a = import_array(x, name, expected);
  if (a.ndim() == 2 && rows < 0) rows = static_cast<Eigen::Index>(a.shape(0));
  if (a.ndim() == 2 && columns < 0) columns = static_cast<Eigen::Index>(a.shape(1));
  if (a.ndim() != 2 || static_cast<Eigen::Index>(a.shape(0)) != rows ||
      static_cast<Eigen::Index>(a.shape(1)) != columns)
    throw InputError(fmt::format("{}: expected {}, got shape {}", name, expected, shape_text(a)));
  check_finite(a.data(), rows * columns, name);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(a.data(), rows, columns);
}

std::string path_of(nb::handle x, const char* name) {
  const nb::object path = nb::steal(PyOS_FSPath(x.ptr()));
  if (!path.is_valid()) {
    PyErr_Clear();
    throw InputError(
        fmt::format("{}: expected a file name, got {}", name, nb::type_name(x.type()).c_str()));
  }
  nb::object bytes = path;
  if (!nb::isinstance<nb::bytes>(path)) {
    bytes = nb::steal(PyUnicode_EncodeFSDefault(path.ptr()));
    if (!bytes.is_valid()) nb::raise_python_error();
  }
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) nb::raise_python_error();
  const std::string result(data, static_cast<std::size_t>(size));
  if (result.empty() || result.find('\0') != std::string::npos)
    throw InputError(fmt::format("{}: expected a file name", name));
  return result;
}

void require_finite(double x, const char* name) {
  if (!std::isfinite(x))
    throw InputError(fmt::format("{}: expected a finite number, got {}", name, x));
}

void require_positive(double x, const char* name) {
  if (!std::isfinite(x) || x <= 0)
    throw InputError(fmt::format("{}: expected a number > 0, got {}", name, x));
}

namespace {

template <class A>
A own(const double* from, std::size_t n, std::initializer_list<std::size_t> shape,
      std::initializer_list<std::int64_t> strides) {
  auto* data = new double[n + 1];
  std::copy_n(from, n, data);
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return A(data, shape, owner, strides);
}

}  // namespace

Array1 owned(const Vec& x) {
  const auto n = static_cast<std::size_t>(x.size());
  return own<Array1>(x.data(), n, {n}, {1});
}

Array2 owned(const Mat& x) {
  const auto rows = static_cast<std::size_t>(x.rows()),
             columns = static_cast<std::size_t>(x.cols());
  return own<Array2>(x.data(), rows * columns, {rows, columns}, {1, x.rows()});
}

Array1 view(Vec& x) {
  return {x.size() ? x.data() : &nothing, {static_cast<std::size_t>(x.size())}};
}
View1 view(const Vec& x) {
  return {x.size() ? x.data() : &nothing, {static_cast<std::size_t>(x.size())}};
}

static_assert(sizeof(Vec6) == 6 * sizeof(double));
static_assert(sizeof(SE3) == 12 * sizeof(double));

Array2 view(std::vector<Vec6>& x) { return {x.empty() ? &nothing : x[0].data(), {x.size(), 6}}; }
View2 view(const std::vector<Vec6>& x) {
  return {x.empty() ? &nothing : x[0].data(), {x.size(), 6}};
}

View3 rotations(const std::vector<SE3>& X) {
  return {X.empty() ? &nothing : X[0].R.data(), {X.size(), 3, 3}, nb::handle(), {12, 1, 3}};
}
View2 positions(const std::vector<SE3>& X) {
  return {X.empty() ? &nothing : X[0].r.data(), {X.size(), 3}, nb::handle(), {12, 1}};
}

}  // namespace saltus::python
