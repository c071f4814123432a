// A cable: gamma = -dr/dt, and its impulse is that of its tension. Without stretch it is a contact
// of the gap length - r; else its tension is a linear law of r and dr/dt within bounds, implicit as
// those of springs and limited motors:
//   Lambda = start - gain (gamma_E - gamma_S),   gain = dt^2 c/4 + dt k/2.
#pragma once
#include <algorithm>

#include "saltus/contact/cables.h"
#include "saltus/contact/rows/family.h"
#include "saltus/dynamics/coordinates.h"

namespace saltus {

struct CableFamily : RowFamily {
  static const Cable& of(const Model& model, const BlockSlot& s) { return model.cables[s.index]; }
  static double gain(const Cable& c, double dt) {
    return dt * (0.25 * dt * c.stiffness + 0.5 * c.damping);
  }

  static int rows(const Model& model, const Workspace& w, int slot, const Law& law,
                  double compliance, Assembly& out) {
    const int index = model.slots[slot].index;
    const Cable& c = model.cables[index];
    BlockSource from;
    from.slot = slot;
    from.closes = !c.stretches;
    from.internal = !c.of_bodies() && !c.to_world;
    if (!c.of_bodies()) {
      GapContact& run = out.cables[index].run;
      stretch_terms(model, w, c, -1, run);
      from.gap = &run;
      const int row = out.open(law, from, compliance);
      out.wrench_b.col(row) = Vec6::Unit(0);
      return row;
    }
    from.a = c.a;
    from.b = c.b;
    const int row = out.open(law, from, compliance);
    const auto wrench = [&](BodyIndex body) -> Vec6 {
      const Vec6 about_origin = -stretch_wrench(w, c, body);
      const Vec3 f = about_origin.head<3>();
      return join(f, Vec3(about_origin.tail<3>() - w.X[body].r.cross(f)));
    };
    out.wrench_b.col(row) = wrench(c.b);
    if (c.a.valid()) out.wrench_a.col(row) = wrench(c.a);
    return row;
  }
  static void open(const Opening& with, int slot) {
    const BlockSlot& s = with.model.slots[slot];
    const Cable& c = of(with.model, s);
    CableRow& now = with.out.cables[s.index];
    now.length = cable_length(with.work, c, [&](CoordinateIndex i) { return with.terms[i].value; });
    const double dt = with.dt, g = gain(c, dt);
    if (!c.stretches) {
      if (c.length - now.length > closed_gap && !(with.state.Lambda[s.row] > 0)) return;
      warm(with, slot, rows(with.model, with.work, slot, Unilateral{}, 0, with.out));
      with.out.source.back().restitution = c.restitution;
    } else if (g > 0) {
      const Interval law{c.lower * dt, c.upper * dt};
      warm(with, slot, rows(with.model, with.work, slot, law, 1 / g, with.out));
    } else {
      const double impulse = std::clamp(now.pull, c.lower, c.upper) * dt;
      rows(with.model, with.work, slot, Interval{impulse, impulse}, 0, with.out);
    }
    with.out.source.back().elastic = c.stretches;
  }
  static void set_end_offset(const Opening& with, const Block& k, const BlockSlot& s) {
    const Cable& c = of(with.model, s);
    Assembly& out = with.out;
    const double gamma = out.gamma_S[k.row], g = gain(c, with.dt);
    if (!c.stretches) {
      out.restitution[k.row] = c.restitution * std::min(gamma, 0.0);
    } else if (g > 0) {
      const CableRow& now = out.cables[s.index];
      const double start =
          with.dt * (c.stiffness * (now.length - now.natural) - c.damping * gamma + now.pull);
      out.b[k.row] = -gamma - start / g;
    }
  }
  static Level level(const Model& model, const BlockSlot& s) {
    return of(model, s).stretches ? Level::none : Level::contact;
  }
  static double gap(const Model& model, const Workspace& w, VecIn q,
                    const std::vector<std::int32_t>& turns, const BlockSlot& s) {
    const Cable& c = of(model, s);
    return c.length - cable_length(w, c, [&](CoordinateIndex i) {
             return coordinate_value(model, w, q, turns, i);
           });
  }
  static Account account(const Model& model, const BlockSlot& s) {
    const Cable& c = of(model, s);
    return !c.stretches ? Account::limit : c.driven ? Account::motor : Account::cable;
  }
  static std::string label(const Model& model, int slot) {
    return model.cables[model.slots[slot].index].name;
  }
};

}  // namespace saltus
