// Random impacts on random models: any joints, any bodies, oblique and redundant contacts.
#pragma once
#include "saltus/contact/islands.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"
#include "tests/support/random_model.h"

namespace saltus::test {

struct RandomImpact {
  Random& random;
  Model model;
  State state;
  Workspace work;
  Forest mass;
  Assembly rows;
  Islands islands;
  std::vector<Vec6> twists;
  bool regular = false;  // the mass matrix has an inverse

  RandomImpact(Random& r, bool planar)
      : random(r),
        model(build(r, planar)),
        state(random_state(r, model)),
        work(model),
        rows(model),
        islands(model),
        twists(model.bodies.size()) {
    forward_kinematics(model, state.q, state.v, work);
    mass.resize(forest_shape(model));
    load_mass(work, Vec::Zero(model.nv), mass);
    regular = model.nv > 0 && mass.factor();
  }

  // Another velocity and other contacts on the same model.
  void renew(double mu_most, bool tangential_restitution) {
    state.v = random.vector(model.nv, 3);
    mass.twists(state.v, twists);
    rows.clear();
    rows.contacts.clear();
    const int count = random.integer(1, 6);
    for (int i = 0; i < count; ++i) contact(mu_most, tangential_restitution);
    islands.partition(model, rows);
  }

  [[nodiscard]] double kinetic(const Vec& v) {
    Vec p(model.nv);
    mass.multiply(v, p);
    return 0.5 * v.dot(p);
  }
  // Velocity with the impulses of `rows`.
  [[nodiscard]] Vec after() {
    std::vector<Vec6> wrenches(model.bodies.size());
    Vec impulse(model.nv), dv(model.nv);
    apply_rows(rows, rows.Lambda, wrenches, impulse);
    mass.solve(-1, impulse.data(), wrenches.data(), dv.data(), nullptr);
    return state.v + dv;
  }

 private:
  static Model build(Random& random, bool planar) {
    ForestOptions options;
    options.most_bodies = 6;
    if (planar) options.kinds = Kinds::planar;
    return random_forest(random, options).build();
  }

  void contact(double mu_most, bool tangential_restitution) {
    BlockSource s;
    s.contact = static_cast<int>(rows.blocks.size());
    s.b = random.integer(0, model.body_count() - 1);
    s.a = random.chance(0.7) ? -1 : random.integer(0, model.body_count() - 1);
    if (s.a == s.b) s.a = -1;
    ContactLaw law;
    law.restitution = random.chance(0.2) ? random.integer(0, 1) : random.uniform(0, 1);
    law.mu1 = law.mu2 = random.chance(0.2) ? 0 : mu_most * std::pow(random.uniform(0, 1), 2);
    if (random.chance(0.2)) law.mu2 = law.mu1 * random.uniform(0.1, 1);
    if (tangential_restitution) law.tangential_restitution = random.uniform(-1, 1);
    Vec3 n = random.direction(), p = work.X[s.b].r + random.vector3(0.5);
    if (model.planar) {
      n = Vec3(n[0], n[1], 0).normalized();
      p[2] = work.X[s.b].r[2];
    }
    // A second contact at the same place: rows that depend on others.
    if (random.chance(0.2) && !rows.blocks.empty()) {
      n = last_normal;
      p = last_point;
      s.a = last.a;
      s.b = last.b;
    }
    Vec3 t1 =
        (model.planar ? Vec3(-n[1], n[0], 0) : Vec3(n.cross(random.direction()).normalized()));
    const Vec3 t2 = n.cross(t1);
    add(s, law, p, n, t1, t2);
    const Block& k = rows.blocks.back();
    if (rows.gamma_S[k.row] > 0 && random.chance(0.8)) {  // most approach
      rows.blocks.pop_back();
      rows.source.pop_back();
      rows.rows = k.row;
      n = -n;
      t1 = -t1;
      add(s, law, p, n, t1, t2);
    }
    last_normal = n;
    last_point = p;
    last = s;
  }

  void add(const BlockSource& s, const ContactLaw& law, const Vec3& p, const Vec3& n,
           const Vec3& t1, const Vec3& t2) {
    const int row = rows.open(law_of(law), s);
    rows.source.back().restitution = law.restitution;
    const Vec3 axes[3] = {n, t1, t2};
    for (int i = 0; i < rows.blocks.back().rows; ++i) {
      const auto wrench = [&](int body, double sign) -> Vec6 {
        if (body < 0) return Vec6::Zero();
        const Vec3 f = sign * axes[i];
        return join(f, (p - work.X[body].r).cross(f));
      };
      rows.wrench_a.col(row + i) = wrench(s.a, -1);
      rows.wrench_b.col(row + i) = wrench(s.b, 1);
      rows.b[row + i] = 0;
      rows.gamma_S[row + i] = rows.rate(row + i, s, twists, state.v);
    }
    set_restitution(law, rows.blocks.back(), rows);
  }

  Vec3 last_normal = Vec3::UnitX(), last_point = Vec3::Zero();
  BlockSource last;
};

}  // namespace saltus::test
