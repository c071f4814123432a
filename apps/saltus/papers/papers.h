// The pages of the papers' site. Each writes its runs to `folder`, returns HTML and counts the
// figures that missed their tolerance.
#pragma once
#include <string>

namespace saltus::cli {

[[nodiscard]] std::string p0_page(const std::string& folder, int& misses);
[[nodiscard]] std::string p1_page(const std::string& folder, int& misses);
[[nodiscard]] std::string p2_page(const std::string& folder, int& misses);
[[nodiscard]] std::string p3_page(const std::string& folder, int& misses);
[[nodiscard]] std::string p4_page(const std::string& folder, int& misses);

}  // namespace saltus::cli
