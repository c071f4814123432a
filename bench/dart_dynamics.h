#pragma once

namespace saltus::bench {

void add_dart_dynamics();

}  // namespace saltus::bench
