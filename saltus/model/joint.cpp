#include "saltus/model/joint.h"

namespace saltus {

int nq_of(const Joint& joint) {
  return std::visit([](const auto& j) { return j.nq; }, joint);
}
int nv_of(const Joint& joint) {
  return std::visit([](const auto& j) { return j.nv; }, joint);
}
std::string_view name_of(const Joint& joint) {
  return std::visit([](const auto& j) { return j.name; }, joint);
}
bool is_element(const Joint& joint) {
  return std::holds_alternative<Bend>(joint) || std::holds_alternative<RodPiece>(joint);
}
bool has_scalar_coordinates(const Joint& joint) { return nq_of(joint) == nv_of(joint); }

}  // namespace saltus
