// Which parts of a robot file that no one read matter for its motion.
#include <algorithm>
#include <array>
#include <string_view>

#include "saltus/robots/robot.h"

namespace saltus {

namespace {

using namespace std::string_view_literals;

// Elements that are seen, measured, or speak to other programs.
constexpr std::array seen_elements{"camera"sv,
                                   "light"sv,
                                   "texture"sv,
                                   "material"sv,
                                   "visual"sv,
                                   "statistic"sv,
                                   "size"sv,
                                   "custom"sv,
                                   "sensor"sv,
                                   "tuple"sv,
                                   "numeric"sv,
                                   "text"sv,
                                   "gazebo"sv,
                                   "layer"sv,
                                   "skin"sv,
                                   "calibration"sv,
                                   "safety_controller"sv,
                                   "mesh"sv,
                                   "hfield"sv,
                                   "plugin"sv,
                                   "verbose"sv,
                                   "ros"sv,
                                   "projector"sv,
                                   "audio_sink"sv,
                                   "audio_source"sv,
                                   "group_state"sv,
                                   "chain"sv,
                                   "lidar"sv,
                                   "model"sv,
                                   "rgba"sv,
                                   "quality"sv,
                                   "map"sv,
                                   "scale"sv,
                                   "global"sv,
                                   "hardwareInterface"sv};
// Attributes that do not move anything.
constexpr std::array seen_attributes{"rgba"sv,
                                     "material"sv,
                                     "user"sv,
                                     "group"sv,
                                     "texture"sv,
                                     "specular"sv,
                                     "shininess"sv,
                                     "reflectance"sv,
                                     "emission"sv,
                                     "texrepeat"sv,
                                     "texuniform"sv,
                                     "texturedir"sv,
                                     "nuser_jnt"sv,
                                     "discardvisual"sv,
                                     "fusestatic"sv,
                                     "solref"sv,
                                     "solimp"sv,
                                     "solreflimit"sv,
                                     "solimplimit"sv,
                                     "solreffriction"sv,
                                     "solimpfriction"sv,
                                     "solmix"sv,
                                     "margin"sv,
                                     "gap"sv,
                                     "integrator"sv,
                                     "solver"sv,
                                     "cone"sv,
                                     "jacobian"sv,
                                     "iterations"sv,
                                     "tolerance"sv,
                                     "ls_iterations"sv,
                                     "ls_tolerance"sv,
                                     "noslip_iterations"sv,
                                     "noslip_tolerance"sv,
                                     "impratio"sv,
                                     "time"sv,
                                     "version"sv,
                                     "hex"sv,
                                     "class"sv,
                                     "sdf_iterations"sv,
                                     "sdf_initpoints"sv,
                                     "ccd_iterations"sv,
                                     "ccd_tolerance"sv,
                                     "mpr_iterations"sv,
                                     "mpr_tolerance"sv,
                                     "magnetic"sv,
                                     "apirate"sv,
                                     "o_margin"sv,
                                     "o_solref"sv,
                                     "o_solimp"sv,
                                     "o_friction"sv,
                                     "ctrl"sv,
                                     "type"sv};

template <class List>
bool is_in(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

bool matters_unread(const std::string& item) {
  // "<geom name="a b"> solref"
  const std::string_view all = item;
  const std::size_t end = all.rfind('>');
  if (end == std::string_view::npos) return true;
  const std::string_view tag = all.substr(1, all.find_first_of(" >") - 1);
  const std::string_view attribute = end + 2 < all.size() ? all.substr(end + 2) : "";
  return attribute.empty() ? !is_in(seen_elements, tag) : !is_in(seen_attributes, attribute);
}

}  // namespace saltus
