#include "saltus/analysis/net_integration.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace saltus {

namespace {

// 2, 4, ... 12 parts. The weights of the extrapolation add up to 30 in absolute value, of 16 parts
// to 125: more would cost more digits by rounding than they give.
constexpr int extrapolations = 6;

struct Stepper {
  const NetRates& rates;
  const NetState& start;
  int evaluations = 0;

  // Rates of y = (s, x).
  Vec at(double t, const Vec& y) {
    NetState here;
    const Vec6 s = y.head<6>();
    here.g = start.g * exp_se3(s);
    here.x = y.tail(y.size() - 6);
    Vec6 twist = Vec6::Zero();
    Vec rate = Vec::Zero(y.size());
    rates(t, here, twist, rate.tail(y.size() - 6));
    rate.head<6>() = dexp_inv_se3(s) * twist;
    ++evaluations;
    return rate;
  }

  // Gragg's smoothed mid-point rule in an even number of parts.
  Vec midpoint(double t, double h, int parts, const Vec& y0, const Vec& rate0) {
    const double d = h / parts;
    Vec before = y0, now = y0 + d * rate0;
    for (int i = 1; i < parts; ++i) {
      Vec next = before + 2 * d * at(t + i * d, now);
      before = std::move(now);
      now = std::move(next);
    }
    return 0.5 * (now + before + d * at(t + h, now));
  }

  // The extrapolated step, and how far its last two extrapolants are apart.
  Vec step(double t, double h, const Vec& y0, double& error) {
    std::array<Vec, extrapolations> T;
    const Vec rate0 = at(t, y0);
    Vec previous;
    for (int k = 0; k < extrapolations; ++k) {
      T[k] = midpoint(t, h, 2 * (k + 1), y0, rate0);
      for (int j = k - 1; j >= 0; --j) {  // Aitken and Neville in h^2
        const double q = static_cast<double>(k + 1) / (j + 1);
        T[j] = T[j + 1] + (T[j + 1] - T[j]) / (q * q - 1);
      }
      if (k + 1 == extrapolations) error = (T[0] - T[1]).cwiseAbs().maxCoeff();
    }
    return T[0];
  }
};

}  // namespace

NetIntegration integrate_net(const NetRates& rates, double t0, double t1, double tolerance,
                             NetState& state, double pace) {
  NetIntegration report;
  report.t = t0;
  const double span = t1 - t0;
  double h = pace > 0 ? std::copysign(pace, span) : span / 16;
  while (report.t != t1) {
    const bool last = std::abs(t1 - report.t) <= std::abs(h) * (1 + 1e-9);
    const double wanted = std::abs(h);
    if (last) h = t1 - report.t;
    Stepper stepper{rates, state};
    Vec y0 = Vec::Zero(6 + state.x.size());
    y0.tail(state.x.size()) = state.x;
    double error = 0;
    const Vec y = stepper.step(report.t, h, y0, error);
    report.evaluations += stepper.evaluations;
    const double allowed = tolerance * std::max(1.0, y.cwiseAbs().maxCoeff());
    const bool good = y.allFinite() && error <= allowed;
    if (good) {
      const Vec6 s = y.head<6>();
      state.g = state.g * exp_se3(s);
      state.x = y.tail(state.x.size());
      report.t = last ? t1 : report.t + h;
      report.error += error;
      ++report.steps;
    } else if (std::abs(h) < 1e-9 * std::abs(span)) {
      report.done = false;
      return report;
    }
    const double ratio = y.allFinite() ? allowed / std::max(error, 1e-3 * allowed) : 0;
    h *= std::clamp(0.9 * std::pow(ratio, 1.0 / (2 * extrapolations - 1)), good ? 0.5 : 0.2, 3.0);
    report.pace = last && good ? std::max(wanted, std::abs(h)) : std::abs(h);
  }
  return report;
}

}  // namespace saltus
