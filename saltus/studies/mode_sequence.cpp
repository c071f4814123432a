#include "saltus/studies/mode_sequence.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "saltus/contact/rows/families.h"

namespace saltus {

namespace {

auto key(const ModeMember& m) {
  return std::tuple(m.place.slot, m.place.shape_a, m.place.shape_b, m.place.feature, m.status);
}

std::vector<ModeMember> sorted(std::vector<ModeMember> members) {
  std::sort(members.begin(), members.end(),
            [](const ModeMember& a, const ModeMember& b) { return key(a) < key(b); });
  return members;
}

// A place in both sequences, and the last mode that they had in common (-1: none yet).
using Reached = std::tuple<int, int, int>;

}  // namespace

std::vector<ModeSpan> mode_spans(const std::vector<ModeChange>& changes, double end) {
  std::vector<ModeSpan> spans;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const double to = i + 1 < changes.size() ? changes[i + 1].t : end;
    if (to <= changes[i].t) continue;
    std::vector<ModeMember> members = sorted(changes[i].after);
    if (!spans.empty() && spans.back().members == members)
      spans.back().to = to;
    else
      spans.push_back({changes[i].t, to, std::move(members)});
  }
  return spans;
}

// Depth first, matching before leaving out; what was reached is not looked at again. Modes that
// last cannot be left out, so few places can be reached.
ModeMatch match_modes(const std::vector<ModeSpan>& first, const std::vector<ModeSpan>& second,
                      double shortest) {
  const int n = static_cast<int>(first.size()), m = static_cast<int>(second.size());
  const auto optional = [&](const ModeSpan& s, int last) {
    return s.duration() < shortest || (last >= 0 && first[last].members == s.members);
  };
  std::map<Reached, Reached> from;  // how a place was reached
  std::vector<std::pair<Reached, Reached>> open{{{0, 0, -1}, {-1, -1, -1}}};
  Reached furthest{0, 0, -1};
  ModeMatch result;
  while (!open.empty() && !result.agree) {
    const auto [at, before] = open.back();
    open.pop_back();
    if (!from.emplace(at, before).second) continue;
    const auto [i, j, last] = at;
    if (i + j > std::get<0>(furthest) + std::get<1>(furthest)) furthest = at;
    result.agree = i == n && j == m;
    // The last pushed is looked at first.
    if (j < m && optional(second[j], last)) open.push_back({{i, j + 1, last}, at});
    if (i < n && optional(first[i], last)) open.push_back({{i + 1, j, last}, at});
    if (i < n && j < m && first[i].members == second[j].members)
      open.push_back({{i + 1, j + 1, i}, at});
  }
  result.partner.assign(first.size(), -1);
  std::tie(result.first_stop, result.second_stop, std::ignore) = furthest;
  for (Reached at = furthest; std::get<0>(at) > 0 || std::get<1>(at) > 0;) {
    const Reached before = from.at(at);
    if (std::get<0>(at) > std::get<0>(before) && std::get<1>(at) > std::get<1>(before))
      result.partner[std::get<0>(before)] = std::get<1>(before);
    at = before;
  }
  return result;
}

std::string short_name(const Model& model, const Place& place) {
  const std::string name = model.name_of(place);
  const std::string kind = "runner ";  // of a name that says so itself
  return name.starts_with(kind) ? name.substr(kind.size()) : name;
}

std::string text_of(const Model& model, const std::vector<ModeMember>& members) {
  std::string text = "{";
  for (const ModeMember& m : members) {
    const BlockSlot* slot = m.place.slot >= 0 ? &model.slots[m.place.slot] : nullptr;
    const int runner = slot ? runner_of(*slot) : -1;
    const bool free =
        runner >= 0 && m.status == Status::slips && model.runners[runner].friction == 0;
    if (free) continue;
    if (text.size() > 1) text += ", ";
    text += short_name(model, m.place);
    if (m.status == Status::slips) text += " slips";
  }
  return text + "}";
}

}  // namespace saltus
