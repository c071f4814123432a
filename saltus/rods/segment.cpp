#include "saltus/rods/segment.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/lie/magnus.h"
#include "saltus/rods/gauss.h"

namespace saltus {

namespace {

constexpr int most_stations = 100000;

void expect(bool good, const std::string& path, const std::string& message) {
  if (!good) throw InputError(path, message);
}

void check(const SegmentSpec& spec, const std::string& path) {
  expect(std::isfinite(spec.length) && spec.length > 0, path + ".length",
         fmt::format("expected a positive length [m], got {}", spec.length));
  expect(spec.cells >= 1 && spec.points >= 0 && spec.steps >= 1, path + ".cells",
         fmt::format("expected at least 1 cell, 0 points (chosen) and 1 step, got {}, {}, {}",
                     spec.cells, spec.points, spec.steps));
  expect(static_cast<double>(spec.cells) * spec.points * spec.steps <= most_stations,
         path + ".cells", fmt::format("expected at most {} stations", most_stations));
  expect(spec.touches >= 0 && spec.touches <= most_touches, path + ".touches",
         fmt::format("expected 0 to {}, got {}", most_touches, spec.touches));
  for (std::size_t i = 0; i < spec.basis.size(); ++i) {
    check_basis(spec.basis[i], fmt::format("{}.basis[{}]", path, i));
  }
  if (spec.given) {
    for (const double u : {0.0, 0.5, 1.0}) check_properties(spec.given(u * spec.length), path);
  } else {
    check_material(spec.material, path + ".material");
    check_section(spec.section, path + ".section");
    if (!spec.section_end) return;
    check_section(*spec.section_end, path + ".section_end");
    expect(spec.section_end->index() == spec.section.index(), path + ".section_end",
           "expected a section of the kind at the other end");
  }
}

std::vector<double> cell_ends(const SegmentSpec& spec) {
  std::vector<double> ends;
  for (int k = 0; k <= spec.cells; ++k) ends.push_back(static_cast<double>(k) / spec.cells);
  for (const StrainBasis& basis : spec.basis) {
    const auto more = knots(basis);
    ends.insert(ends.end(), more.begin(), more.end());
  }
  std::sort(ends.begin(), ends.end());
  const auto same = [](double a, double b) { return b - a < 1e-12; };
  ends.erase(std::unique(ends.begin(), ends.end(), same), ends.end());
  for (double& end : ends) end *= spec.length;
  return ends;
}

// Gauss points a wave of a mode and of the product of two.
constexpr int wave_points = 4;
bool has_modes(const SegmentSpec& spec) {
  return std::any_of(spec.basis.begin(), spec.basis.end(),
                     [](const StrainBasis& b) { return is_of_modes(b.kind); });
}

int most_functions(const SegmentSpec& spec) {  // of one component
  std::array<int, 6> count{};
  for (const StrainBasis& basis : spec.basis) {
    count[static_cast<int>(basis.component)] += functions(basis);
  }
  return *std::max_element(count.begin(), count.end());
}

// One more than the functions of a component that a cell carries in the mean: fewer stations than
// functions leave motions without inertia.
int enough_points(const SegmentSpec& spec, int cells) {
  if (has_modes(spec)) return wave_points * most_functions(spec) + 8;
  return std::max(3, (most_functions(spec) + cells - 1) / cells + 1);
}

Vec6 rest_at(const SegmentSpec& spec, double X) {
  return spec.rest ? spec.rest(X) : Vec6(Vec6::Unit(0));
}

// All functions of all bases at X: B's one entry a column.
void functions_at(const SegmentSpec& spec, double X, VecRef values) {
  int first = 0;
  for (const StrainBasis& basis : spec.basis) {
    const int n = functions(basis);
    evaluate(basis, X / spec.length, values.segment(first, n));
    first += n;
  }
}

// The step over [X, X + h], which lies in one cell; appends its entries. f1, f2: the functions at
// its two Magnus points.
RodStep make_step(const RodSegment& s, double X, double h, Vec& f1, Vec& f2,
                  std::vector<RodEntry>& entries) {
  RodStep step;
  step.h = h;
  const double X1 = X + h * (0.5 - magnus_offset), X2 = X + h * (0.5 + magnus_offset);
  step.rest1 = rest_at(s.spec, X1);
  step.rest2 = rest_at(s.spec, X2);
  step.begin = static_cast<int>(entries.size());
  f1.resize(s.size), f2.resize(s.size);
  functions_at(s.spec, X1, f1);
  functions_at(s.spec, X2, f2);
  for (int k = 0; k < s.size; ++k) {
    if (f1[k] != 0 || f2[k] != 0) entries.push_back({k, s.component[k], f1[k], f2[k]});
  }
  step.end = static_cast<int>(entries.size());
  return step;
}

void add_station(RodSegment& s, double X, double weight) {
  const double from = s.stations.back().X, h = (X - from) / s.spec.steps;
  Vec f1, f2;
  for (int k = 0; k < s.spec.steps; ++k) {
    s.steps.push_back(make_step(s, from + k * h, h, f1, f2, s.entries));
    s.stations.push_back({.X = from + (k + 1) * h});
  }
  RodStation& station = s.stations.back();
  station.X = X;
  station.heavy = weight > 0;
  if (station.heavy) station.inertia = weight * properties_at(s.spec, X).inertia;
}

void add_stiffness(RodSegment& s, double X, double weight, Mat& gram) {
  const Mat6X B = basis_at(s, X);
  const RodProperties p = properties_at(s.spec, X);
  s.K += weight * B.transpose() * p.stiffness * B;
  s.D += weight * B.transpose() * p.damping * B;
  gram += weight * B.transpose() * B;
}

}  // namespace

RodProperties properties_at(const SegmentSpec& spec, double X) {
  if (spec.given) return spec.given(X);
  const bool taper = spec.section_end.has_value();
  return properties(spec.material, taper ? tapered(spec.section, *spec.section_end, X / spec.length)
                                         : spec.section);
}

void check_coefficients(const SegmentSpec& spec, const std::string& path) {
  long size = 0;
  for (const StrainBasis& basis : spec.basis) size += functions(basis);
  expect(
      size <= most_coefficients, path + ".basis",
      fmt::format("expected at most {} coefficients a segment, got {}: several segments cost less",
                  most_coefficients, size));
}

RodSegment make_segment(const SegmentSpec& spec, const std::string& path) {
  check(spec, path);
  RodSegment s;
  s.spec = spec;
  for (const StrainBasis& basis : spec.basis) {
    s.component.insert(s.component.end(), functions(basis), static_cast<int>(basis.component));
  }
  s.size = static_cast<int>(s.component.size());
  s.K = s.D = Mat::Zero(s.size, s.size);
  Mat gram = s.K;
  s.stations.push_back({});
  s.cells = cell_ends(spec);
  if (spec.points == 0) {
    s.spec.points = enough_points(spec, static_cast<int>(s.cells.size()) - 1);
  }
  // K and D: exact for Legendre functions and sections whose moments are of degree 8.
  const auto points = gauss_points(s.spec.points);
  const auto fine = gauss_points(
      std::max(16, has_modes(spec) ? enough_points(spec, 1) : most_functions(spec) + 4));
  for (std::size_t k = 0; k + 1 < s.cells.size(); ++k) {
    const double X = s.cells[k], length = s.cells[k + 1] - X;
    for (const GaussPoint& p : points) add_station(s, X + p.x * length, p.weight * length);
    add_station(s, s.cells[k + 1], 0);
    for (const GaussPoint& p : fine) {
      const double at = X + p.x * length, weight = p.weight * length;
      add_stiffness(s, at, weight, gram);
      if (!spec.rheology) continue;
      RheologyPoint& point = s.rheology.emplace_back();
      point.X = at, point.weight = weight;
      point.values.resize(s.size);
      functions_at(spec, at, point.values);
      point.rest = rest_at(spec, at);
    }
  }
  for (const RodStep& step : s.steps) {
    expect(step.rest1.allFinite() && step.rest1[0] > 0 && step.rest2[0] > 0, path + ".rest",
           "expected finite strains with xi_0[0] > 0: the rod runs along x");
  }
  if (s.size == 0) return s;
  // A function that the others make up has no stiffness of its own to be told by.
  const Vec scale = gram.diagonal().cwiseSqrt().cwiseInverse();
  const Mat scaled = scale.asDiagonal() * gram * scale.asDiagonal();
  expect(Eigen::LDLT<Mat>(scaled).vectorD().minCoeff() > 1e-12, path + ".basis",
         "expected functions that are linearly independent");
  expect(Eigen::LLT<Mat>(s.K).info() == Eigen::Success, path + ".stiffness",
         "expected a positive stiffness of every component that has a basis");
  return s;
}

int heavy_stations(const SegmentSpec& spec) {
  const int cells = static_cast<int>(cell_ends(spec).size()) - 1;
  return cells * (spec.points > 0 ? spec.points : enough_points(spec, cells));
}

std::string coefficient_name(const RodSegment& segment, int coefficient) {
  const auto own = segment.component.begin() + coefficient;
  return fmt::format("{}.{}", name_of(static_cast<Strain>(*own)),
                     std::count(segment.component.begin(), own, *own));
}

void put_point(const RodSegment& segment, double X, RodPoint& point) {
  SALTUS_ASSERT(X >= 0 && X <= segment.spec.length);
  point.X = X;
  const auto after = std::upper_bound(segment.stations.begin(), segment.stations.end(), X,
                                      [](double x, const RodStation& s) { return x < s.X; });
  point.station = static_cast<int>(after - segment.stations.begin()) - 1;
  const double from = segment.stations[point.station].X;
  point.entries.clear();
  point.entries.reserve(segment.size);
  point.step = make_step(segment, from, X - from, point.first, point.second, point.entries);
  point.here.resize(segment.size);
  functions_at(segment.spec, X, point.here);
}

RodPoint point_at(const RodSegment& segment, double X) {
  RodPoint point;
  put_point(segment, X, point);
  return point;
}

Vec6 strain_at(const RodSegment& segment, const RodPoint& point, VecIn q) {
  Vec6 xi = rest_at(segment.spec, point.X);
  for (int k = 0; k < segment.size; ++k) xi[segment.component[k]] += point.here[k] * q[k];
  return xi;
}

bool add_rheology(const RodSegment& segment, VecIn q, VecIn v, VecRef tau) {
  bool finite = true;
  const auto each = [&](const auto& use) {
    for (const RheologyPoint& p : segment.rheology) {
      Vec6 strain = p.rest, rate = Vec6::Zero();
      for (int k = 0; k < segment.size; ++k) {
        strain[segment.component[k]] += p.values[k] * q[k];
        rate[segment.component[k]] += p.values[k] * v[k];
      }
      use(p, segment.spec.rheology(p.X, strain, rate));
    }
  };
  each([&](const RheologyPoint&, const Vec6& stress) { finite = finite && stress.allFinite(); });
  if (!finite) return false;
  each([&](const RheologyPoint& p, const Vec6& stress) {
    for (int k = 0; k < segment.size; ++k)
      tau[k] -= p.weight * p.values[k] * stress[segment.component[k]];
  });
  return true;
}

Mat6X basis_at(const RodSegment& segment, double X) {
  Vec values(segment.size);
  functions_at(segment.spec, X, values);
  Mat6X B = Mat6X::Zero(6, segment.size);
  for (int k = 0; k < segment.size; ++k) B(segment.component[k], k) = values[k];
  return B;
}

Vec6 strain_at(const RodSegment& segment, VecIn q, double X) {
  return rest_at(segment.spec, X) + basis_at(segment, X) * q;
}

}  // namespace saltus
