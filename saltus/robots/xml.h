// An XML file with lines that remembers what was read of it: whatever a reader did not ask for can
// be named afterwards. Entities of a DOCTYPE are never expanded and nothing else is opened.
#pragma once
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "saltus/base/error.h"
#include "saltus/base/types.h"

namespace saltus {

class XmlFile;

// An element, or none. Asking for an attribute or a child marks it as read.
class XmlElement {
 public:
  XmlElement() = default;
  XmlElement(XmlFile& file, pugi::xml_node node) : file_(&file), node_(node) {}

  explicit operator bool() const { return !node_.empty(); }
  [[nodiscard]] std::string name() const { return node_.name(); }
  [[nodiscard]] int line() const;
  [[nodiscard]] const std::string& file() const;
  [[nodiscard]] pugi::xml_node node() const { return node_; }

  [[nodiscard]] XmlElement child(const char* name) const;                  // the first, or none
  [[nodiscard]] std::vector<XmlElement> children(const char* name) const;  // of that name
  [[nodiscard]] std::vector<XmlElement> children() const;                  // all; not marked
  void mark() const;        // read, its contents apart
  void mark_whole() const;  // and all that is in it

  [[nodiscard]] bool has(const char* attribute) const;  // does not mark
  [[nodiscard]] std::optional<std::string> text(const char* attribute) const;
  [[nodiscard]] std::optional<double> number(const char* attribute) const;
  [[nodiscard]] std::optional<int> integer(const char* attribute) const;
  [[nodiscard]] std::optional<bool> boolean(const char* attribute) const;  // true, false, 1, 0
  [[nodiscard]] std::optional<Vec3> vec3(const char* attribute) const;
  // Between `least` and `most` numbers, separated by blanks.
  [[nodiscard]] std::optional<std::vector<double>> numbers(const char* attribute, std::size_t least,
                                                           std::size_t most) const;
  [[nodiscard]] std::string required_text(const char* attribute) const;  // throws, with the line
  [[nodiscard]] double required_number(const char* attribute) const;

  // "robot.urdf:12: <joint name="knee">: message"; with an attribute, "... <joint ...> axis: ..."
  [[nodiscard]] InputError error(const std::string& message) const;
  [[nodiscard]] InputError error(const char* attribute, const std::string& message) const;
  [[nodiscard]] std::string label() const;  // "<joint name="knee">"
  [[nodiscard]] std::string content() const { return node_.child_value(); }  // text inside

 private:
  XmlFile* file_ = nullptr;
  pugi::xml_node node_;
};

// Something in a file that no one read.
struct UnreadItem {
  int line = 0;
  std::string item;  // "<gazebo>", "<link name="base"> foo"
};

class XmlFile {
 public:
  static constexpr std::size_t most_bytes = 64U << 20U;
  static constexpr int deepest = 1000;  // nesting

  // Throws InputError: not XML (with line), nested too deeply, too large, entities declared.
  XmlFile(std::string text, std::string name);
  XmlFile(const XmlFile&) = delete;
  XmlFile& operator=(const XmlFile&) = delete;

  [[nodiscard]] XmlElement root();  // marked
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int line(std::ptrdiff_t offset) const;
  [[nodiscard]] int line_of(pugi::xml_node node) const;
  void set_line(pugi::xml_node node, int line);  // of one that was not in the file
  // In the order of the file; of an element that was not read its contents are not listed.
  [[nodiscard]] std::vector<UnreadItem> unread() const;

 private:
  friend class XmlElement;
  std::string name_, text_;
  std::vector<std::size_t> line_starts_;
  pugi::xml_document document_;
  std::unordered_set<std::size_t> read_nodes_, read_attributes_;
  std::unordered_map<std::size_t, int> set_lines_;
};

// "1 2.5 -3e-2" -> numbers; nothing where a word is not a finite number.
[[nodiscard]] std::optional<std::vector<double>> parse_numbers(const std::string& text);

}  // namespace saltus
