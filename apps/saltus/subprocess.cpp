#include "apps/saltus/subprocess.h"

#include <array>
#include <cstdio>
#include <stdexcept>

namespace saltus::cli {

std::string quoted(const std::filesystem::path& path) {
  std::string result = "'";
  for (const char c : path.string()) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

Output output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start a shell");
  Output out;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    out.text.append(buffer.data(), n);
  out.status = pclose(pipe);
  return out;
}

std::filesystem::path this_program() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none);
}

}  // namespace saltus::cli
