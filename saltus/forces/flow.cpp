#include "saltus/forces/flow.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "saltus/base/error.h"

namespace saltus {

namespace {

struct Evaluate {
  const Vec3& x;
  double t;

  FlowAt operator()(const LinearFlow& f) const {
    return {f.velocity + f.gradient * (x - f.point), f.gradient, Vec3::Zero()};
  }

  FlowAt operator()(const WaveFlow& f) const {
    const double k = f.wave_number, c = k * f.heading.dot(x) - f.omega * t + f.phase;
    const double size = f.amplitude * f.omega * std::exp(k * (f.up.dot(x) - f.level));
    const Vec3 U = size * (std::cos(c) * f.heading + std::sin(c) * f.up);
    const Vec3 turned = size * (std::cos(c) * f.up - std::sin(c) * f.heading);  // dU/dc
    FlowAt at;
    at.velocity = f.stream + U;
    at.gradient = k * (turned * f.heading.transpose() + U * f.up.transpose());
    at.rate = -f.omega * turned;
    return at;
  }

  FlowAt operator()(const VortexStreet& f) const {
    FlowAt at;
    at.velocity = f.stream;
    const double k = 2 * std::numbers::pi / f.period;
    for (const VortexRow& row : f.rows) add(row, k, f, at);
    at.rate = -f.carried * at.gradient.col(0);
    return at;
  }

  FlowAt operator()(const UserFlow& f) const {
    const FlowAt at = f.at(x, t);
    if (at.velocity.allFinite() && at.gradient.allFinite() && at.rate.allFinite()) return at;
    throw InputError("flow",
                     fmt::format("expected finite numbers, got others at ({:.6g}, {:.6g}, {:.6g}) "
                                 "at t = {:.6g} s",
                                 x.x(), x.y(), x.z(), t));
  }

 private:
  // Hyperbolic functions and D over e^|kY|: far from the row they would overflow.
  void add(const VortexRow& row, double k, const VortexStreet& f, FlowAt& at) const {
    const double X = k * (x.x() - f.carried * t - row.x), Y = k * (x.y() - row.y);
    const double fade = std::exp(-std::abs(Y)), fade2 = fade * fade;
    const double sinh = std::copysign(0.5 * (1 - fade2), Y), cosh = 0.5 * (1 + fade2);
    const double sin = fade * std::sin(X), cos = fade * std::cos(X);
    const double D = cosh - cos + f.core * fade, q = 0.5 * row.circulation / f.period;
    at.velocity += Vec3(-q * sinh / D, q * sin / D, 0);
    const double g = q * k / (D * D);
    at.gradient(0, 0) += g * sinh * sin;
    at.gradient(0, 1) += -g * (cosh * D - sinh * sinh);
    at.gradient(1, 0) += g * (cos * D - sin * sin);
    at.gradient(1, 1) += -g * sin * sinh;
  }
};

}  // namespace

FlowAt flow_at(const Flow& flow, const Vec3& x, double t) {
  return std::visit(Evaluate{x, t}, flow);
}

WaveFlow airy_wave(WaveFlow w, double length, double gravity) {
  // Airy's theory is for waves that are not steep; the steepest there are have a k = 0.443.
  constexpr double steepest = 0.443;
  if (!(length > 0) || !std::isfinite(length))
    throw InputError("length", "expected a positive number");
  if (!(gravity > 0) || !std::isfinite(gravity))
    throw InputError("gravity", "expected a positive number");
  if (!(w.heading.norm() > 1e-12) || !(w.up.norm() > 1e-12) ||
      std::abs(w.heading.normalized().dot(w.up.normalized())) > 1e-9)
    throw InputError("heading", "expected two directions across each other, heading and up");
  w.heading.normalize();
  w.up.normalize();
  w.wave_number = 2 * std::numbers::pi / length;
  w.omega = std::sqrt(gravity * w.wave_number);
  if (!(w.amplitude >= 0) || w.amplitude * w.wave_number > steepest)
    throw InputError("amplitude",
                     fmt::format("expected a wave that does not break, amplitude below {:.4g} m "
                                 "for its length, got {:.6g}",
                                 steepest / w.wave_number, w.amplitude));
  return w;
}

void use_flow(Model& model, const std::shared_ptr<const Flow>& flow) {
  if (model.fluids.empty())
    throw InputError("flow", "expected a model with fluids or wings, there are none");
  for (Fluid& f : model.fluids) f.flow = flow;
}

}  // namespace saltus
