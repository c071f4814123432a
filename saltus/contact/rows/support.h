// Coulomb friction under a given load at a point of a body (P0 eq. 50, 52).
#pragma once
#include "saltus/contact/rows/family.h"

namespace saltus {

struct SupportFamily : RowFamily {
  static int rows(const Model& model, const Workspace& w, int slot, const Law& law, double,
                  Assembly& out) {
    const int index = model.slots[slot].index;
    const SupportFriction& f = model.supports[index];
    BlockSource from;
    from.slot = slot;
    from.b = f.body;
    const int row = out.open(law, from);
    const SE3& X = w.X[f.body];
    const Vec3 arm = X.R * f.point, p = arm + X.r;
    const Vec3 t1 = in_plane(X.R, f.normal), t2 = f.normal.cross(t1);
    out.supports[index] = {0, p, p, f.normal};
    out.support_tangent[index] = t1;
    out.wrench_b.col(row) = join(t1, arm.cross(t1));
    out.wrench_b.col(row + 1) = join(t2, arm.cross(t2));
    return row;
  }
  static void open(const Opening& with, int slot) {
    const SupportFriction& f = with.model.supports[with.model.slots[slot].index];
    const double most = f.load * with.dt;
    const GivenLoad law{f.mu1 * most, f.mu2 * most, f.mu_back * most, f.rule};
    warm(with, slot, rows(with.model, with.work, slot, law, 0, with.out));
  }
  static Account account(const Model&, const BlockSlot&) { return Account::friction; }
  static constexpr bool has_mode = true;
  static ModeForm mode_form(const Model& model, const BlockSlot& s) {
    const SupportFriction& f = model.supports[s.index];
    ModeForm form{.kind = ModeForm::Kind::friction};
    form.friction = {.rows = 2,
                     .forward = f.mu1 * f.load,
                     .backward = (f.mu_back >= 0 ? f.mu_back : f.mu1) * f.load,
                     .lateral = f.mu2 * f.load,
                     .dynamic = f.dynamic,
                     .rule = f.rule};
    return form;
  }
  static double dynamic_share(const Model& model, const BlockSlot& s) {
    return model.supports[s.index].dynamic;
  }
  static std::string label(const Model& model, int slot) {
    const SupportFriction& f = model.supports[model.slots[slot].index];
    return f.name.empty() ? model.bodies[f.body].name : f.name;
  }
  static bool touch(const Model& model, const State& state, const Assembly& assembly,
                    const BlockSlot& s, Touch& out) {
    const SupportFriction& f = model.supports[s.index];
    const ContactPoint& p = assembly.supports[s.index];
    const Vec3& t1 = assembly.support_tangent[s.index];
    out = {f.body, p.on_b, p.normal,
           state.Lambda[s.row] * t1 + state.Lambda[s.row + 1] * p.normal.cross(t1), f.load};
    return true;
  }
};

}  // namespace saltus
