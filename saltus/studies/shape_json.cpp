// The report of a shape as JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "saltus/lie/so3.h"
#include "saltus/studies/shape_study.h"

namespace saltus {

namespace {

using Json = nlohmann::ordered_json;

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }
Json list(const Vec& v) {
  Json j = Json::array();
  for (const double x : v) j.push_back(number(x));
  return j;
}
Json rows(const Mat& m) {
  Json j = Json::array();
  for (int i = 0; i < m.rows(); ++i) j.push_back(list(m.row(i).transpose()));
  return j;
}

Json gait_json(const GaitResult& g) {
  Json j = {{"name", g.name},
            {"duration", g.duration},
            {"closed", g.closed},
            {"way", g.way},
            {"done", g.done},
            {"t", g.t},
            {"position", list(g.g.r)},
            {"rotation", rows(g.g.R)},
            {"rotation_vector", list(log_so3(g.g.R))},
            {"turn", g.turn},
            {"removable_singularities", g.removable}};
  if (g.obstruction)
    j["obstruction"] = {{"t", g.obstruction->t},
                        {"singular", g.obstruction->singular},
                        {"residual", g.obstruction->residual},
                        {"rows", g.obstruction->rows}};
  if (g.state)
    j["state"] = {{"eta", list(g.state->eta)},
                  {"P", list(g.state->P)},
                  {"H", rows(g.state->H)},
                  {"p", list(g.state->p)}};
  if (g.area)
    j["area_rule"] = {{"area", g.area->area}, {"F", list(g.area->F)}, {"dB", list(g.area->dB)}};
  j["singular_inside"] = g.singular_inside;
  if (!g.phases.empty()) {
    j["strikes"] = g.strikes;
    for (const GaitResult::Phase& p : g.phases)
      j["phases"].push_back(
          {{"from", p.from}, {"to", p.to}, {"class", name_of(p.kind)}, {"held", p.held}});
  }
  if (g.cost)
    j["cost"] = {{"largest_torques", list(g.cost->largest)},
                 {"largest_row_forces", list(g.cost->largest_lambda)},
                 {"work", g.cost->work}};
  return j;
}

Json stress_json(const RestStress& r) {
  Json points = Json::array();
  for (const RestStress::Point& p : r.points)
    points.push_back({{"name", p.name}, {"missing_kin", p.missing_kin}, {"missing", p.missing}});
  return {{"balanced", r.balanced},        {"lambda_kin", list(r.lambda_kin)},
          {"tau_kin", list(r.tau_kin)},    {"feasible", r.chosen.feasible},
          {"room", number(r.chosen.room)}, {"lambda", list(r.chosen.lambda)},
          {"tau", list(r.chosen.tau)},     {"points", points}};
}

// A list a row, from the lowest y up.
template <class F>
Json map_json(const HeightMap& map, const F& value) {
  Json all = Json::array();
  for (int j = 0; j < map.ny; ++j) {
    Json row = Json::array();
    for (int i = 0; i < map.nx; ++i) row.push_back(value(static_cast<std::size_t>(j) * map.nx + i));
    all.push_back(row);
  }
  return all;
}

Json grid_json(const ShapeSystem& s, const ShapeGrid& grid) {
  const HeightMap& map = grid.heights;
  const auto& name = s.space.variables;
  Json j = {
      {"variables", {name[s.plane->i].name, name[s.plane->j].name}},
      {"x", map.x},
      {"y", map.y},
      {"class", map_json(map, [&](std::size_t k) { return Json(name_of(grid.kind[k])); })},
      {"rank", map_json(map, [&](std::size_t k) { return Json(grid.rank[k]); })},
      {"rank_with_rates", map_json(map, [&](std::size_t k) { return Json(grid.rank_all[k]); })},
      {"ratio", map_json(map, [&](std::size_t k) { return number(map.cells[k].ratio); })}};
  for (int c = 0; c < s.space.n(); ++c) {
    const std::string& component = s.space.components[c];
    j["F"][component] = map_json(map, [&](std::size_t k) { return number(map.cells[k].F[c]); });
    j["B"][name[s.plane->i].name][component] =
        map_json(map, [&](std::size_t k) { return number(map.cells[k].B_i[c]); });
    j["B"][name[s.plane->j].name][component] =
        map_json(map, [&](std::size_t k) { return number(map.cells[k].B_j[c]); });
  }
  return j;
}

}  // namespace

std::string to_json(const ShapeReport& r) {
  const ShapeSystem& s = r.system;
  Json variables = Json::array(), constraint_rows = Json::array(), gaits = Json::array();
  for (const ShapeVariable& v : s.space.variables) variables.push_back(v.name);
  for (const ConstraintRow& c : s.medium.rows) constraint_rows.push_back(c.name);
  for (const GaitResult& g : r.gaits) gaits.push_back(gait_json(g));
  Json j = {{"group", name_of(s.space.group)},
            {"root", s.model.bodies[s.space.root].name},
            {"reference", s.at_centre ? "centre-of-mass" : s.model.bodies[s.space.reference].name},
            {"eta", s.space.components},
            {"variables", variables},
            {"connection", name_of(s.medium.kind)},
            {"rows", constraint_rows},
            {"at", list(r.at)},
            {"class", name_of(r.kind.kind)},
            {"rank", r.kind.rank},
            {"rank_with_rates", r.kind.rank_all},
            {"singular_values", list(r.kind.singular_values)},
            {"reduced_twist", rows(r.kind.H)},
            {"lambda_stat", rows(r.kind.N)},
            {"compatible_rates", rows(r.kind.rates)},
            {"regular", r.form.regular},
            {"A", rows(r.form.A)},
            {"gaits", gaits}};
  j["not_looked_at"] = r.notes;
  if (r.stress) j["stress"] = stress_json(*r.stress);
  if (r.grid) j["grid"] = grid_json(s, *r.grid);
  return j.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace saltus
