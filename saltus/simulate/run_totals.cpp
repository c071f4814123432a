#include "saltus/simulate/run_totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "saltus/solvers/conflict.h"
#include "saltus/solvers/indeterminacy.h"

namespace saltus {

void PlaceList::add(const Place& place) {
  const auto same = [&](const Place& p) {
    return p.slot == place.slot && p.shape_a == place.shape_a && p.shape_b == place.shape_b;
  };
  const auto* const begin = first.data();
  const auto* const end = begin + std::min<std::size_t>(count, first.size());
  // Beyond the list the last is enough: the points of a contact follow each other.
  if (count > 0 && (same(last) || std::any_of(begin, end, same))) return;
  last = place;
  if (count < std::ssize(first)) first[static_cast<std::size_t>(count)] = place;
  ++count;
}

nlohmann::ordered_json names_of(const Model& model, const PlaceList& places) {
  auto names = nlohmann::ordered_json::array();
  for (int i = 0; i < std::min<std::int64_t>(places.count, std::ssize(places.first)); ++i)
    names.push_back(model.name_of(places.first[i]));
  return names;
}

std::string text_of(const Model& model, const PlaceList& places) {
  std::string text;
  for (const auto& name : names_of(model, places))
    text += (text.empty() ? "" : ", ") + name.get<std::string>();
  if (const std::int64_t more = places.count - std::ssize(places.first); more > 0)
    text += fmt::format(" and {} more", more);
  return text;
}

bool Totals::are_of(const Model& model) const {
  const auto known = [&](const PlaceList& list) {
    return list.count >= 0 && is_place_of(model, list.last) &&
           std::all_of(list.first.begin(), list.first.end(),
                       [&](const Place& p) { return is_place_of(model, p); });
  };
  return is_place_of(model, worst_residual_place) && is_place_of(model, deepest) &&
         known(no_solution.at) && known(undetermined.at);
}

namespace {

std::size_t number_of(std::string_view solver) {
  const auto& names = SolverCounts::names;
  const auto at = std::find(names.begin() + 1, names.end(), solver);
  return at == names.end() ? 0 : static_cast<std::size_t>(at - names.begin());
}

}  // namespace

void SolverCounts::add(const SolveReport& r) {
  ++finished[number_of(r.solver)];
  if (r.gave_up != GaveUp::no)  // the last link, too
    ++gave_up[number_of(r.solver)][static_cast<std::size_t>(r.gave_up)];
  else if (!r.before.empty())
    ++gave_up[number_of(r.before)][static_cast<std::size_t>(r.before_gave_up)];
}

nlohmann::ordered_json to_json(const SolverCounts& counts) {
  const auto count = [](double x) { return static_cast<std::int64_t>(x); };
  auto finished = nlohmann::ordered_json::object(), gave_up = finished;
  for (std::size_t i = 0; i < SolverCounts::names.size(); ++i) {
    if (counts.finished[i] > 0) finished[SolverCounts::names[i]] = count(counts.finished[i]);
    for (std::size_t k = 0; k < SolverCounts::reasons; ++k)
      if (counts.gave_up[i][k] > 0)
        gave_up[SolverCounts::names[i]][gave_up_names[k]] = count(counts.gave_up[i][k]);
  }
  return {{"finished", finished}, {"gave_up", gave_up}};
}

void Totals::add(const ImpactRecord& r) {
  ++impacts;
  fallbacks += r.path == ImpactPath::fallback;
  const double gained = energy_gained(r);
  if (gained == 0) return;
  ++gains;
  const double share = gained / r.kinetic_before;
  if (!(share > most_gained)) return;
  most_gained = share;
  most_gained_time = r.t;
}

NoSolution look_for_solution(const StepResult& step, double tolerance, const State& state) {
  NoSolution none;
  // The residual of a solver that stopped short is a few times the tolerance.
  const Conflict conflict = find_conflict(step.failing.problem, 10 * tolerance);
  if (conflict.blocks.empty()) return none;
  none.step = static_cast<double>(state.step);
  none.time = state.t;
  none.miss = conflict.miss;
  const Island& island = step.islands[step.failing_island];
  for (const int block : conflict.blocks) none.at.add(step.assembly.place(island.blocks[block]));
  return none;
}

bool UndeterminedCounter::same_as_before(const State& state) const {
  const auto alike = [](const ContactImpulse& a, const ContactImpulse& b) {
    return a.key == b.key && a.mode == b.mode;
  };
  return open_ >= 0 && mode_ == state.mode &&
         std::equal(contacts_.begin(), contacts_.end(), state.contacts.begin(),
                    state.contacts.end(), alike);
}

void UndeterminedCounter::count(const StepResult& step, bool name, Undetermined& all) {
  open_ = 0;
  left_out_ = false;
  for (int i = 0; i < step.islands.count(); ++i) {
    const IslandProblem& p = step.problems[i];
    if (std::find(p.is_contact.begin(), p.is_contact.end(), 1) == p.is_contact.end()) continue;
    if (p.route != Route::dense || p.rows > examined_rows) {
      left_out_ = true;
      continue;
    }
    const int mine = indeterminacy(p.problem, p.Lambda);
    open_ += mine;
    if (mine == 0 || !name) continue;
    for (const int block : indeterminate_blocks(p.problem, p.Lambda))
      all.at.add(step.assembly.place(step.islands[i].blocks[block]));
  }
}

int UndeterminedCounter::look(const StepResult& step, const State& state, Undetermined& all) {
  if (!same_as_before(state)) {
    count(step, all.found == 0, all);
    contacts_ = state.contacts;
    mode_ = state.mode;
  }
  if (open_ > 0 && all.found == 0) {
    all.first_step = static_cast<double>(state.step);
    all.first_time = state.t;
  }
  ++all.examined;
  all.left_out += left_out_;
  all.found += open_ > 0;
  all.most = std::max(all.most, static_cast<double>(open_));
  return open_;
}

}  // namespace saltus
