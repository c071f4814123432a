#include "saltus/integrators/mode_change.h"

#include <algorithm>
#include <tuple>

#include "saltus/contact/rows/families.h"

namespace saltus {

std::string_view name_of(Cause cause) {
  constexpr std::string_view names[] = {"start", "drive",   "gap",          "force", "stick",
                                        "slip",  "feature", "accumulation", "jam",   "chatter"};
  return names[static_cast<int>(cause)];
}

namespace {

auto tied(const Place& p) { return std::tie(p.slot, p.shape_a, p.shape_b, p.feature); }

Status status_of_bits(unsigned char mode) {  // Mode of solvers/inclusion.h
  constexpr Status statuses[] = {Status::open, Status::holds, Status::slips, Status::holds};
  return statuses[mode & 3U];
}

// Why a member changed from one status to another.
Cause cause_of(Status before, Status after) {
  if (before == Status::open) return Cause::gap;
  if (after == Status::open) return Cause::force;
  return after == Status::slips ? Cause::stick : Cause::slip;
}

}  // namespace

bool ModeMember::operator==(const ModeMember& o) const {
  return tied(place) == tied(o.place) && status == o.status;
}

std::vector<ModeMember> members_of(const Model& model, const State& state) {
  std::vector<ModeMember> list;
  for (int k = 0; k < static_cast<int>(model.slots.size()); ++k)
    if (has_mode(model.slots[k]) && state.mode[k] != 0)
      list.push_back({{k, -1, -1, 0}, status_of_bits(state.mode[k])});
  for (const ContactImpulse& c : state.contacts)
    list.push_back({{-1, c.key.a, c.key.b, c.key.feature}, status_of_bits(c.mode)});
  return list;
}

void ModeWatcher::look(const Model& model, const State& state, bool impact,
                       std::vector<ModeChange>& changes) {
  std::vector<ModeMember> now = members_of(model, state);
  if (begun_ && !impact && now == last_) return;
  ModeChange change;
  change.t = state.t;
  change.impact = impact;
  const auto status_in = [](const std::vector<ModeMember>& list, const Place& place) {
    const auto at = std::find_if(list.begin(), list.end(),
                                 [&](const ModeMember& m) { return tied(m.place) == tied(place); });
    return at != list.end() ? at->status : Status::open;
  };
  const auto compare = [&](const std::vector<ModeMember>& list, bool gone_only) {
    for (const ModeMember& m : list) {
      const Status before = status_in(last_, m.place), after = status_in(now, m.place);
      if (before != after && (!gone_only || after == Status::open))
        change.causes.push_back({cause_of(before, after), m.place, 0});
    }
  };
  if (!begun_) {
    change.causes.push_back({Cause::start, {}, 0});
  } else {
    compare(now, false);
    compare(last_, true);
  }
  change.after = now;
  begun_ = true;
  last_ = std::move(now);
  changes.push_back(std::move(change));
}

}  // namespace saltus
