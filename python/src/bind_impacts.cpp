#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "impacts.h"
#include "saltus/integrators/impact_record.h"
#include "saltus/studies/next_impact.h"
#include "scenes.h"

namespace saltus::python {

using namespace nb::literals;

int choice(const char* what, const std::string& name, std::initializer_list<const char*> known) {
  int i = 0;
  std::string all;
  for (const char* k : known) {
    if (name == k) return i;
    ++i;
    all += std::string(all.empty() ? "" : ", ") + k;
  }
  throw InputError(fmt::format("{}: expected one of {}, got '{}'", what, all, name));
}

ImpactLaw law_of(const ImpactArgument& argument) {
  if (const auto* name = std::get_if<std::string>(&argument)) {
    switch (choice("impact", *name, {"capped", "newton", "moreau", "poisson", "chain"})) {
      case 1: return NewtonImpact{};
      case 2: return MoreauImpact{};
      case 3: return PoissonImpact{};
      case 4: return ChainImpact{};
      default: return CappedImpact{};
    }
  }
  return std::visit(
      [](const auto& law) -> ImpactLaw {
        if constexpr (std::is_same_v<std::decay_t<decltype(law)>, std::string>)
          return CappedImpact{};
        else
          return law;
      },
      argument);
}

namespace {

constexpr std::initializer_list<const char*> controls = {"none", "attenuation", "constraint"};
constexpr std::initializer_list<const char*> methods = {"automatic", "exact", "nlp"};

MoreauImpact make_moreau(std::optional<double> restitution) {
  if (restitution && !(*restitution >= 0 && *restitution <= 1))
    throw InputError(
        fmt::format("restitution: expected a number in [0, 1] or None, got {}", *restitution));
  return {restitution.value_or(-1)};
}

ChainImpact make_chain(std::optional<double> energetic, const std::optional<std::string>& control,
                       double v_s, double exponent, const std::string& method) {
  ChainImpact law;
  if (energetic && !(*energetic >= 0 && std::isfinite(*energetic)))
    throw InputError(fmt::format("energetic: expected a number >= 0, got {}", *energetic));
  law.energetic = energetic.value_or(1);
  // As in scenes: with a bound on the energy the velocities are attenuated unless said otherwise.
  law.control = control ? static_cast<EnergyControl>(choice("control", *control, controls))
                        : (energetic ? EnergyControl::attenuation : EnergyControl::none);
  require_positive(v_s, "v_s");
  require_positive(exponent, "exponent");
  law.v_s = v_s;
  law.a = exponent;
  law.method = static_cast<DissipationMethod>(choice("method", method, methods));
  return law;
}

std::string name_of(EnergyControl c) { return controls.begin()[static_cast<int>(c)]; }
std::string name_of(DissipationMethod m) { return methods.begin()[static_cast<int>(m)]; }

void bind_laws(nb::module_& m) {
  nb::class_<CappedImpact>(m, "CappedImpact",
                           "Newton's law as far as energy allows: T+ <= T-. The default.")
      .def(nb::init<>())
      .def("__repr__", [](const CappedImpact&) { return "CappedImpact()"; });
  nb::class_<NewtonImpact>(m, "NewtonImpact",
                           "Newton's law as asked; with friction it may raise the energy.")
      .def(nb::init<>())
      .def("__repr__", [](const NewtonImpact&) { return "NewtonImpact()"; });
  nb::class_<MoreauImpact>(m, "MoreauImpact",
                           "Newton's law with one coefficient in all rows; T+ <= T-.")
      .def(
          "__init__",
          [](MoreauImpact* self, std::optional<double> restitution) {
            new (self) MoreauImpact(make_moreau(restitution));
          },
          "restitution"_a = nb::none(),
          "restitution: in [0, 1], of all contacts; None: the least of those that approach.")
      .def_prop_ro("restitution",
                   [](const MoreauImpact& l) {
                     return l.restitution < 0 ? std::nullopt : std::optional<double>(l.restitution);
                   })
      .def("__repr__", [](const MoreauImpact& l) {
        return l.restitution < 0 ? "MoreauImpact()"
                                 : fmt::format("MoreauImpact(restitution={:g})", l.restitution);
      });
  nb::class_<PoissonImpact>(m, "PoissonImpact",
                            "Compression, then e_n times its impulse again; may raise the energy.")
      .def(nb::init<>())
      .def("__repr__", [](const PoissonImpact&) { return "PoissonImpact()"; });
  nb::class_<ChainImpact>(m, "ChainImpact",
                          "P1's chain: stick trial, dissipation principle, energetic restitution.")
      .def(
          "__init__",
          [](ChainImpact* self, std::optional<double> energetic,
             const std::optional<std::string>& control, double v_s, double exponent,
             const std::string& method) {
            new (self) ChainImpact(make_chain(energetic, control, v_s, exponent, method));
          },
          nb::kw_only(), "energetic"_a = nb::none(), "control"_a = nb::none(), "v_s"_a = 1e-5,
          "exponent"_a = 1.0, "method"_a = "automatic",
          "energetic: e* >= 0, T+ <= e* T-; control, how it is kept: none, attenuation (the "
          "default with an e*), constraint; v_s: speed at which friction falls to its dynamic "
          "value [m/s], exponent of that transition; method of the dissipation principle: "
          "automatic, exact (one or two unknowns), nlp.")
      .def_ro("energetic", &ChainImpact::energetic)
      .def_ro("v_s", &ChainImpact::v_s, "[m/s]")
      .def_ro("exponent", &ChainImpact::a)
      .def_prop_ro("control", [](const ChainImpact& l) { return name_of(l.control); })
      .def_prop_ro("method", [](const ChainImpact& l) { return name_of(l.method); })
      .def("__repr__", [](const ChainImpact& l) {
        return fmt::format(
            "ChainImpact(energetic={:g}, control='{}', v_s={:g}, exponent={:g}, method='{}')",
            l.energetic, name_of(l.control), l.v_s, l.a, name_of(l.method));
      });
}

Array1 array_of(const std::vector<double>& x) {
  return owned(Vec(Eigen::Map<const Vec>(x.data(), static_cast<Eigen::Index>(x.size()))));
}

nb::dict dict_of(const FeasibleCurve& c, const Model& model) {
  nb::dict d;
  d["contact"] = text(model.name_of(c.contact));
  d["restitution"] = c.restitution;
  d["mu_s"] = c.mu_s;
  d["mu_d"] = c.mu_d;
  d["mu_f"] = c.mu_f;
  d["sticking_pulls"] = c.sticking_pulls;
  d["v_before"] = c.before;
  d["chosen_v"] = c.chosen_v;
  d["chosen_mu"] = c.chosen_mu;
  d["energy_ratio"] = c.energy_ratio;
  d["path"] = std::string(saltus::name_of(c.path));
  d["v"] = array_of(c.v);
  d["mu"] = array_of(c.mu);
  d["p_n"] = array_of(c.p_n);
  return d;
}

nb::dict feasible(const SceneHandle& handle, const ArrayLike& restitution, int skip,
                  std::optional<double> reach, int samples) {
  FeasibleOptions o;
  const Vec e = vector_of_any_length(restitution, "restitution");
  o.restitution.assign(e.data(), e.data() + e.size());
  o.skip = skip;
  o.reach = reach;
  o.samples = samples;
  const Scene scene = handle.read();
  const NextImpact impact = [&] {
    const nb::gil_scoped_release release;
    return next_impact(scene, o);
  }();
  nb::list curves;
  for (const FeasibleCurve& c : impact.curves) curves.append(dict_of(c, impact.model));
  nb::dict found;
  found["title"] = text(scene.title);
  found["t"] = impact.t;
  found["curves"] = curves;
  return found;
}

}  // namespace

void bind_impacts(nb::module_& m) { bind_laws(m); }

void bind_feasible(nb::module_& m) {
  m.def("_feasible", &feasible, "scene"_a, "restitution"_a, "skip"_a, "reach"_a.none(),
        "samples"_a);
}

}  // namespace saltus::python
