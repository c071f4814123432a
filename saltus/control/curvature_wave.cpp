#include "saltus/control/curvature_wave.h"

#include <Eigen/Cholesky>
#include <algorithm>
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

// Least squares of a wave's parts and its offset by the coefficients of a component: one row each.
struct WaveFit {
  std::vector<int> own;  // of the segment's coefficients
  Mat x;
};

WaveFit fit_of(const CurvatureWave& wave, const RodSegment& segment, Strain component, double begin,
               double L) {
  WaveFit fit;
  for (int c = 0; c < segment.size; ++c)
    if (segment.component[c] == static_cast<int>(component)) fit.own.push_back(c);
  const auto n = static_cast<int>(fit.own.size());
  Mat gram = Mat::Zero(n, n), right = Mat::Zero(n, 3);
  for (std::size_t cell = 0; cell + 1 < segment.cells.size(); ++cell) {
    const double from = segment.cells[cell], h = segment.cells[cell + 1] - from;
    for (const GaussPoint& g : gauss_points(n + 24)) {
      const double X = from + g.x * h;
      const Mat6X B = basis_at(segment, X);
      Vec b(n);
      for (int i = 0; i < n; ++i) b[i] = B(static_cast<int>(component), fit.own[i]);
      const Vec2 at = parts(wave, begin + X, L);
      gram += g.weight * h * b * b.transpose();
      right += g.weight * h * b * Eigen::RowVector3d(at[0], at[1], wave.offset);
    }
  }
  fit.x = gram.llt().solve(right);
  return fit;
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
  const Mat x = fit_of(wave, segment, component, begin, L).x;
  std::vector<Signal> signals;
  for (int i = 0; i < x.rows(); ++i) signals.push_back(signal_of(wave, x(i, 0), x(i, 1), x(i, 2)));
  return signals;
}

double wave_misfit(const CurvatureWave& wave, const RodSegment& segment, Strain component,
                   double begin, double L) {
  const WaveFit fit = fit_of(wave, segment, component, begin, L);
  double left = 0, whole = 0;
  constexpr int points = 200;  // unequally spaced: short waves do not hide between them
  for (const GaussPoint& g : gauss_points(points)) {
    const double X = g.x * segment.spec.length;
    const Mat6X B = basis_at(segment, X);
    Vec2 rest = parts(wave, begin + X, L);
    whole += g.weight * rest.squaredNorm();
    for (std::size_t i = 0; i < fit.own.size(); ++i)
      rest -= B(static_cast<int>(component), fit.own[i]) *
              fit.x.row(static_cast<Eigen::Index>(i)).head<2>().transpose();
    left += g.weight * rest.squaredNorm();
  }
  return whole > 0 ? std::sqrt(left / whole) : 0;
}

WaveTurn overturns(const CurvatureWave& wave, double L) {
  constexpr int times = 64, places = 256;
  const double period = std::abs(wave.period);
  const double step = std::max(period / times, (wave.ramp + period) / 1024);
  std::vector<Vec2> bend;  // of each piece of the body, turned by it
  for (int k = 0; k < places; ++k)
    bend.push_back(L / places * parts(wave, (k + 0.5) * L / places, L));
  for (double t = step; t <= wave.ramp + period + 0.5 * step; t += step) {
    const double grown = t < wave.ramp ? t / wave.ramp : 1;
    const double r = grown * grown * grown * (10 - 15 * grown + 6 * grown * grown);
    const double p = full_turn * t / wave.period;
    const Vec2 turned(std::cos(p), std::sin(p));
    double heading = 0, least = 0, most = 0, at_least = 0, at_most = 0;
    for (int k = 0; k < places; ++k) {
      heading += r * (bend[static_cast<std::size_t>(k)][0] * turned.x() -
                      bend[static_cast<std::size_t>(k)][1] * turned.y());
      const double s = (k + 1) * L / places;
      if (heading < least) least = heading, at_least = s;
      if (heading > most) most = heading, at_most = s;
    }
    if (most - least > full_turn)
      return {t, std::min(at_least, at_most), std::max(at_least, at_most), most - least};
  }
  return {};
}

}  // namespace saltus
