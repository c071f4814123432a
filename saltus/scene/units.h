// Numbers with units: "40 deg", "12.2 cm"; a plain number is SI.
#pragma once
#include <optional>
#include <string>

namespace saltus {

// Reads "value unit" for a quantity whose SI unit is `unit` ("" for a pure number). Empty when the
// text is no number or the unit is not one of this quantity.
[[nodiscard]] std::optional<double> parse_quantity(const std::string& text,
                                                   const std::string& unit);
// "m, cm, mm" for messages.
[[nodiscard]] std::string known_units(const std::string& unit);

}  // namespace saltus
