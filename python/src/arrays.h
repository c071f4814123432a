// NumPy in and out. What comes in is checked (shape, finite) and copied; what goes out is a view
// of memory that its owner keeps alive, or an array that owns its memory.
#pragma once
#include <nanobind/ndarray.h>

#include <string>
#include <variant>
#include <vector>

#include "errors.h"
#include "saltus/lie/se3.h"

namespace saltus::python {

inline bool any_object(PyObject*) { return true; }

// An argument that NumPy can turn into an array; only the type in signatures says more.
class ArrayLike : public nb::object {
  NB_OBJECT_DEFAULT(ArrayLike, nb::object, "numpy.typing.ArrayLike", any_object)
};
// A file name: str, bytes or os.PathLike.
class PathLike : public nb::object {
  NB_OBJECT_DEFAULT(PathLike, nb::object, "str | os.PathLike[str]", any_object)
};

// Throw InputError "q: expected 13 numbers, got ...". Numbers are finite unless asked otherwise.
enum class Numbers { finite, any };
[[nodiscard]] Vec vector_of(nb::handle x, Eigen::Index n, const char* name,
                            Numbers numbers = Numbers::finite);
[[nodiscard]] Vec vector_of_any_length(nb::handle x, const char* name);
[[nodiscard]] Vec3 vec3_of(nb::handle x, const char* name);
// rows or columns < 0: any number of them.
[[nodiscard]] Mat matrix_of(nb::handle x, Eigen::Index rows, Eigen::Index columns,
                            const char* name);
[[nodiscard]] std::string path_of(nb::handle x, const char* name);
void require_finite(double x, const char* name);
void require_positive(double x, const char* name);

using Array1 = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Array2 = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
using View1 = nb::ndarray<nb::numpy, const double, nb::ndim<1>>;
using View2 = nb::ndarray<nb::numpy, const double, nb::ndim<2>>;
using View3 = nb::ndarray<nb::numpy, const double, nb::ndim<3>>;

// Arrays that own their memory.
[[nodiscard]] Array1 owned(const Vec& x);
[[nodiscard]] Array2 owned(const Mat& x);
// The policy of a property that returns one; without it nanobind would tie it to its object.
inline constexpr auto copied = nb::rv_policy::automatic;

// Views; to be returned with rv_policy::reference_internal, which ties them to their owner.
[[nodiscard]] Array1 view(Vec& x);
[[nodiscard]] Array2 view(std::vector<Vec6>& x);
[[nodiscard]] View1 view(const Vec& x);
[[nodiscard]] View2 view(const std::vector<Vec6>& x);
template <class M>
[[nodiscard]] View2 view_of_matrix(const M& x) {
  const std::size_t shape[] = {static_cast<std::size_t>(x.rows()),
                               static_cast<std::size_t>(x.cols())};
  const std::int64_t strides[] = {1, x.rows()};  // Eigen stores columns
  static const double none = 0;
  return {x.size() ? x.data() : &none, 2, shape, nb::handle(), strides};
}
[[nodiscard]] View3 rotations(const std::vector<SE3>& X);
[[nodiscard]] View2 positions(const std::vector<SE3>& X);

}  // namespace saltus::python
