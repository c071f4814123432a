// Other programs, by the shell.
#pragma once
#include <filesystem>
#include <string>

namespace saltus::cli {

// As one word of a shell's command.
[[nodiscard]] std::string quoted(const std::filesystem::path& path);
struct Output {
  int status = 0;  // 0: success
  std::string text;
};
[[nodiscard]] Output output_of(const std::string& command);
[[nodiscard]] std::filesystem::path this_program();

}  // namespace saltus::cli
