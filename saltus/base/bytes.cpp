#include "saltus/base/bytes.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "saltus/base/error.h"

namespace saltus {

std::string read_bytes(const std::string& path, std::size_t most) {
  const auto refuse = [&](const std::string& why) {
    return InputError(fmt::format("{}: cannot read: {}", path, why));
  };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error || !std::filesystem::exists(status)) throw refuse("there is no such file");
  if (!std::filesystem::is_regular_file(status)) throw refuse("it is no plain file");
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw refuse(error.message());
  if (size > most) throw refuse(fmt::format("it has {} bytes, expected at most {}", size, most));
  std::ifstream in(path, std::ios::binary);
  if (!in) throw refuse(std::generic_category().message(errno));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (static_cast<std::size_t>(in.gcount()) != bytes.size()) throw refuse("it ends too early");
  return bytes;
}

std::optional<double> parse_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size() || text.empty() || !std::isfinite(x))
    return std::nullopt;
  return x;
}

std::string_view next_word(std::string_view& rest, std::string_view separators) {
  const std::size_t begin = rest.find_first_not_of(separators);
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  rest.remove_prefix(begin);
  const std::string_view word = rest.substr(0, rest.find_first_of(separators));
  rest.remove_prefix(word.size());
  return word;
}

bool Lines::next(std::string_view& line) {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line = rest_.substr(0, end);
  rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  ++number_;
  return true;
}

}  // namespace saltus
