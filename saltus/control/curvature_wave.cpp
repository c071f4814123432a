#include "saltus/control/curvature_wave.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>

#include "saltus/rods/gauss.h"

namespace saltus {

namespace {

constexpr double full_turn = 2 * std::numbers::pi;

// w = r (sine cos(omega t) - cosine sin(omega t)), omega = 2 pi / period, with w's parts at s.
Vec2 parts(const CurvatureWave& w, double s, double L) {
  const double size = w.amplitude * std::exp(w.growth * (s / L - 1));
  const double p = full_turn * s / w.length + w.phase;
  return size * Vec2(std::sin(p), std::cos(p));
}

Signal signal_of(const CurvatureWave& w, double sine, double cosine, double offset) {
  return Sine{std::hypot(sine, cosine), full_turn / w.period, std::atan2(sine, -cosine), offset,
              w.ramp};
}

}  // namespace

std::vector<Signal> wave_angles(const CurvatureWave& wave, int joints, double L) {
  std::vector<Signal> signals;
  const double link = L / (joints + 1);
  for (int j = 1; j <= joints; ++j) {
    const Vec2 at = link * parts(wave, j * link, L);
    signals.push_back(signal_of(wave, at[0], at[1], link * wave.offset));
  }
  return signals;
}

std::vector<Signal> wave_strains(const CurvatureWave& wave, const RodSegment& segment,
                                 Strain component, double begin, double L) {
  std::vector<int> own;
  for (int c = 0; c < segment.size; ++c)
    if (segment.component[c] == static_cast<int>(component)) own.push_back(c);
  const auto n = static_cast<int>(own.size());
  Mat gram = Mat::Zero(n, n), right = Mat::Zero(n, 3);
  for (std::size_t cell = 0; cell + 1 < segment.cells.size(); ++cell) {
    const double from = segment.cells[cell], h = segment.cells[cell + 1] - from;
    for (const GaussPoint& g : gauss_points(n + 24)) {
      const double X = from + g.x * h;
      const Mat6X B = basis_at(segment, X);
      Vec b(n);
      for (int i = 0; i < n; ++i) b[i] = B(static_cast<int>(component), own[i]);
      const Vec2 at = parts(wave, begin + X, L);
      gram += g.weight * h * b * b.transpose();
      right += g.weight * h * b * Eigen::RowVector3d(at[0], at[1], wave.offset);
    }
  }
  const Mat x = gram.llt().solve(right);
  std::vector<Signal> signals;
  for (int i = 0; i < n; ++i) signals.push_back(signal_of(wave, x(i, 0), x(i, 1), x(i, 2)));
  return signals;
}

}  // namespace saltus
