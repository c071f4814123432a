// The graph of modes from plain histories.
#include "saltus/analysis/modes.h"

#include <gtest/gtest.h>

namespace saltus {
namespace {

ModeEvent event(double t, std::vector<ModeMark> members, bool impact = false) {
  ModeEvent e;
  e.t = t;
  e.members = std::move(members);
  e.impact = impact;
  e.causes = {{"slip", 0, 0}};
  return e;
}

ModeHistory numbered(int n) {
  ModeHistory h;
  for (int i = 1; i <= n; ++i)
    h.parts.push_back({std::to_string(i), "runner runner" + std::to_string(i), true});
  h.end = 10;
  return h;
}

TEST(Modes, StretchesAndTransitions) {
  ModeHistory h = numbered(2);
  const std::vector<ModeMark> first = {{0, true}, {1, false}}, free = {{0, false}, {1, false}};
  h.events = {event(0, first), event(1, free), event(3, free, true), event(4, first),
              event(4.5, free)};
  const ModeGraph g = mode_graph(h);
  ASSERT_EQ(g.modes.size(), 2u);
  EXPECT_EQ(g.modes[0].name, "{1}");
  EXPECT_EQ(g.modes[1].name, "{}");
  EXPECT_EQ(g.modes[0].count, 2);
  EXPECT_DOUBLE_EQ(g.modes[0].duration, 1.5);
  EXPECT_DOUBLE_EQ(g.modes[1].duration, 8.5);
  ASSERT_EQ(g.stretches.size(), 4u);
  EXPECT_EQ(g.stretches[1].events, 2u);  // the impact is within
  EXPECT_DOUBLE_EQ(g.stretches[1].to, 4);
  EXPECT_DOUBLE_EQ(g.stretches[3].to, 10);
  ASSERT_EQ(g.transitions.size(), 3u);
  EXPECT_EQ(g.transitions[0].count, 2);  // {1} to {}
  EXPECT_EQ(g.transitions[1].count, 1);  // {} to {1}
  EXPECT_EQ(g.transitions[2].from, g.transitions[2].to);
  EXPECT_EQ(g.transitions[2].impacts, 1);
}

TEST(Modes, NamesTellModesApart) {
  ModeHistory h = numbered(1);
  h.parts.push_back({"floor-ball", "contact floor - ball", false});
  h.parts.push_back({"limit", "limit", true});
  h.events = {event(0, {{0, true}}), event(1, {{0, true}, {1, false}}), event(2, {{1, true}}),
              event(3, {}), event(4, {{2, false}})};
  std::vector<std::string> names;
  for (const SystemMode& m : mode_graph(h).modes) names.push_back(m.name);
  // The last two hold nothing: an element that slips in one of them is named.
  EXPECT_EQ(names, (std::vector<std::string>{"{1}", "{1, ~floor-ball}", "{floor-ball}", "{}",
                                             "{~limit}"}));
}

TEST(Modes, NumbersBecomeRanges) {
  const ModeHistory h = numbered(9);
  EXPECT_EQ(labels_text(h, {0, 1, 2, 4, 5, 7, 8}), "1-3, 5, 6, 8, 9");
  EXPECT_EQ(labels_text(h, {}), "");
  EXPECT_EQ(labels_text(h, {3, 4, 5, 6}, "~"), "~4-7");
}

TEST(Modes, AnEmptyHistoryHasNoModes) {
  const ModeGraph g = mode_graph({});
  EXPECT_TRUE(g.modes.empty() && g.stretches.empty() && g.transitions.empty());
}

}  // namespace
}  // namespace saltus
