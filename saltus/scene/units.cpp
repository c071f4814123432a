#include "saltus/scene/units.h"

#include <charconv>
#include <numbers>
#include <vector>

namespace saltus {

namespace {

struct Unit {
  const char* quantity;  // SI unit
  const char* name;
  double factor;
};

constexpr double degree = std::numbers::pi / 180;

const std::vector<Unit>& units() {
  static const std::vector<Unit> table = {{"m", "m", 1},
                                          {"m", "cm", 1e-2},
                                          {"m", "mm", 1e-3},
                                          {"rad", "rad", 1},
                                          {"rad", "deg", degree},
                                          {"s", "s", 1},
                                          {"s", "ms", 1e-3},
                                          {"s", "us", 1e-6},
                                          {"s", "min", 60},
                                          {"kg", "kg", 1},
                                          {"kg", "g", 1e-3},
                                          {"N", "N", 1},
                                          {"N", "kN", 1e3},
                                          {"N", "mN", 1e-3},
                                          {"m/s", "m/s", 1},
                                          {"m/s", "cm/s", 1e-2},
                                          {"m/s", "mm/s", 1e-3},
                                          {"rad/s", "rad/s", 1},
                                          {"rad/s", "deg/s", degree},
                                          {"rad/s", "Hz", 2 * std::numbers::pi},
                                          {"rad/s", "rpm", std::numbers::pi / 30}};
  return table;
}

std::string trimmed(const std::string& s) {
  const auto a = s.find_first_not_of(' ');
  if (a == std::string::npos) return "";
  return s.substr(a, s.find_last_not_of(' ') - a + 1);
}

}  // namespace

std::optional<double> parse_quantity(const std::string& text, const std::string& unit) {
  const std::string s = trimmed(text);
  const char* first = s.data() + (!s.empty() && s[0] == '+' ? 1 : 0);
  double x = 0;
  const auto [end, status] = std::from_chars(first, s.data() + s.size(), x);
  if (status != std::errc{}) return std::nullopt;
  const std::string name = trimmed(std::string(end, s.data() + s.size()));
  if (name.empty() || name == unit) return x;
  for (const Unit& u : units())
    if (unit == u.quantity && name == u.name) return x * u.factor;
  return std::nullopt;
}

std::string known_units(const std::string& unit) {
  std::string list;
  for (const Unit& u : units())
    if (unit == u.quantity) list += (list.empty() ? "" : ", ") + std::string(u.name);
  return list.empty() ? unit : list;
}

}  // namespace saltus
