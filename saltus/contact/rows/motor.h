// A motor with a torque limit, where it is no impedance on the diagonal.
#pragma once
#include "saltus/contact/rows/coordinate.h"

namespace saltus {

struct MotorFamily : JointFamily {
  static void open(const Opening& with, int slot) {
    const CoordinateTerms& terms = with.terms[with.model.slots[slot].index];
    const Impedance& z = terms.limited;
    if (z.gain > 0 && !terms.within) open_impedance(with, slot, Interval{z.lower, z.upper}, z);
  }
  static Account account(const Model&, const BlockSlot&) { return Account::motor; }
};

}  // namespace saltus
