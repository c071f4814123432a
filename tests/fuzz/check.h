// What the fuzz targets share. A reader may refuse a text with an InputError; any other exception,
// a crash, a hang or a report of a sanitizer is a finding.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "saltus/base/error.h"
#include "saltus/robots/robot.h"
#include "saltus/scene/scene.h"

namespace saltus {

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The whole way of a robot file: read, reported, built. `root` keeps mutations to one format; the
// length of the text, which mutations change, chooses the base.
inline void read_and_build(const std::string& text, const std::string& name, const char* root) {
  if (text.find(root) == std::string::npos) return;
  const auto base = static_cast<RobotBase>(text.size() % 3);
  static_assert(static_cast<int>(RobotBase::floating) == 2);
  try {
    const Robot robot = read_robot(text, name, "", {base});
    static_cast<void>(report_text(robot));
    static_cast<void>(report_json(robot));
    static_cast<void>(build_system(scene_of(robot)));
  } catch (const InputError&) {}
}

}  // namespace saltus

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
