// The modes of a run: which sets of contacts and elements held or slipped, for how long, and how
// they follow each other (P3's transition graph). Plain data: what a run file's tables hold.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace saltus {

// Something that can hold or slip.
struct ModePart {
  std::string label;     // short, for sets
  std::string name;      // in full
  bool element = false;  // of the model, either holds or slips; a contact may be open, too
};

struct ModeMark {
  int part = -1;
  bool holds = false;  // else it slips
  bool operator==(const ModeMark&) const = default;
  friend bool operator<(const ModeMark& a, const ModeMark& b) {
    return a.part != b.part ? a.part < b.part : a.holds < b.holds;
  }
};

struct ModeCause {
  std::string what;  // "gap", "slip", ...
  int part = -1;     // -1: nowhere
  double value = 0;  // accumulation: its end [s]
};

// A change of mode, or an impact.
struct ModeEvent {
  double t = 0;  // [s]
  bool impact = false;
  double kinetic_before = 0, kinetic_after = 0;  // [J]
  double share = 1;                              // of the restitution that energy allowed
  std::vector<ModeCause> causes;
  std::vector<ModeMark> members;  // what holds or slips from then on, ascending
};

struct ModeHistory {
  std::vector<ModePart> parts;
  std::vector<ModeEvent> events;
  double end = 0;  // of the run [s]
};

struct SystemMode {
  std::string name;               // "{1}": 1 holds; "{~a-b}": a contact slips
  std::vector<int> holds, slips;  // parts
  int count = 0;                  // how often it was entered
  double duration = 0;            // together [s]
  double first = 0;               // when it was entered first [s]
};

// An unbroken time in one mode; it may hold impacts that left the mode as it was.
struct ModeStretch {
  int mode = -1;
  double from = 0, to = 0;            // [s]
  std::size_t event = 0, events = 1;  // the one that began it, and how many it holds
};

// From == to: events that left the mode as it was.
struct ModeTransition {
  int from = -1, to = -1;
  int count = 0, impacts = 0;
  std::vector<std::string> causes;  // the different ones: "slip 2"
};

struct ModeGraph {
  std::vector<SystemMode> modes;  // in the order of their first appearance
  std::vector<ModeStretch> stretches;
  std::vector<ModeTransition> transitions;  // ascending by from, to
};

[[nodiscard]] ModeGraph mode_graph(const ModeHistory& history);

// "slip 2"; an accumulation with its end.
[[nodiscard]] std::string text_of(const ModeHistory& history, const ModeCause& cause);
// Of all causes, several of one kind together: "slip 1, 2".
[[nodiscard]] std::string causes_text(const ModeHistory& history, const ModeEvent& event);
// Labels of parts, neighbouring numbers as ranges: "1-3, 7".
[[nodiscard]] std::string labels_text(const ModeHistory& history, const std::vector<int>& parts,
                                      const char* prefix = "");

}  // namespace saltus
