// A YAML document with addresses: file and line of every value, and `--set path=value` overrides.
#pragma once
#include <yaml-cpp/yaml.h>

#include <string>
#include <utility>
#include <vector>

#include "saltus/base/error.h"

namespace saltus {

class Document {
 public:
  // Throws InputError: unreadable file, not YAML (with line), a key given twice.
  static Document from_file(const std::string& path);
  static Document from_text(const std::string& text, const std::string& name);

  // "snake.friction=0.3", "bodies[2].mass=1", "metrics[v1].to=9" (a list entry by its name).
  void set(const std::string& assignment);

  [[nodiscard]] const YAML::Node& root() const { return root_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // The text as it was read, and the document with its overrides as text.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string effective_text() const;
  // Where files that the document names are looked for: its own folder, or that of the scene a run
  // was made from.
  [[nodiscard]] std::string resolve(const std::string& file) const;
  void set_folder(const std::string& folder) { folder_ = folder; }
  // The folder, absolute, if a file was asked for; else empty.
  [[nodiscard]] std::string folder_of_files() const { return names_files_ ? folder_ : ""; }
  // Counts values that a generator of the document makes: aliases may repeat it without end.
  // Returns whether all of them together stay within most_generated.
  [[nodiscard]] bool afford(std::size_t values) const;
  // "file:12: path" of a value, or the override that put it there; the nearest parent that exists.
  [[nodiscard]] std::string where(const std::string& path) const;
  [[nodiscard]] InputError error(const std::string& path, const std::string& message) const;

 private:
  [[nodiscard]] std::string opened_by(const std::string& section) const;

  std::string name_, text_, folder_;
  mutable bool names_files_ = false;
  mutable std::size_t generated_ = 0;
  YAML::Node root_;
  std::vector<std::pair<std::string, std::string>> overrides_;  // normalised path, assignment
};

// "a.b[2]" -> {"a", "b", "[2]"}; throws InputError on a malformed path.
[[nodiscard]] std::vector<std::string> split_path(const std::string& path);

}  // namespace saltus
