#pragma once
#include <string>

namespace saltus::cli {

// Shows the address in the user's browser; false when there is none to be found.
[[nodiscard]] bool open_browser(const std::string& address);

}  // namespace saltus::cli
