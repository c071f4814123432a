// Files as bytes, and numbers in them; what reads meshes and grids of others.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace saltus {

// Throws InputError naming the file: missing, a folder, unreadable, or larger than `most` bytes.
[[nodiscard]] std::string read_bytes(const std::string& path, std::size_t most);

// A finite number that is the whole text; nothing where it is none. Whatever the locale.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

// The text up to the next of the separators, which is dropped with those that follow it; at the end
// it is empty.
[[nodiscard]] std::string_view next_word(std::string_view& rest, std::string_view separators);

// Lines of a text one after the other, counted from 1; false at the end.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  bool next(std::string_view& line);
  [[nodiscard]] int number() const { return number_; }

 private:
  std::string_view rest_;
  int number_ = 0;
};

}  // namespace saltus
