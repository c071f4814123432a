// The sequence of modes of a run, and which modes of two runs are the same.
#pragma once
#include <string>
#include <vector>

#include "saltus/integrators/mode_change.h"

namespace saltus {

// A mode as long as it lasted.
struct ModeSpan {
  double from = 0, to = 0;  // [s]
  std::vector<ModeMember> members;
  [[nodiscard]] double duration() const { return to - from; }
};

// Of a run's changes: in order, neighbours different, none of no duration.
[[nodiscard]] std::vector<ModeSpan> mode_spans(const std::vector<ModeChange>& changes, double end);

struct ModeMatch {
  bool agree = false;
  std::vector<int> partner;             // per mode of the first: that of the second, or -1
  int first_stop = 0, second_stop = 0;  // how far the sequences were followed
};
// Sequences agree if leaving out some modes shorter than `shortest` makes them equal.
[[nodiscard]] ModeMatch match_modes(const std::vector<ModeSpan>& first,
                                    const std::vector<ModeSpan>& second, double shortest);

// "runner1", "contact floor - ball"
[[nodiscard]] std::string short_name(const Model& model, const Place& place);
// "{runner1, contact floor - ball slips}"; scales that slide without friction are free, and left
// out.
[[nodiscard]] std::string text_of(const Model& model, const std::vector<ModeMember>& members);

}  // namespace saltus
