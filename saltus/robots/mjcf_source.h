// An MJCF file with those it includes, and its default classes. Elements come as if every
// <include> were replaced by what its file holds.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "saltus/robots/folders.h"
#include "saltus/robots/xml.h"

namespace saltus::mjcf {

using Element = XmlElement;

inline constexpr int deepest = 1000;  // nesting of bodies, frames and classes, over all files

// "<joint name="knee">", with an attribute "<joint name="knee"> range"
[[nodiscard]] std::string label(const Element& e, const char* attribute = nullptr);

class Sources {
 public:
  // Throws InputError: an include that is missing, leaves the folder, or comes twice.
  Sources(const std::string& text, const std::string& name, Folders folders);

  [[nodiscard]] Element root() const { return root_; }
  [[nodiscard]] std::vector<Element> children(const Element& e) const;  // not marked
  // All children of the root of that name, in order, marked.
  [[nodiscard]] std::vector<Element> sections(const char* name) const;
  // The contents of such sections, not marked.
  [[nodiscard]] std::vector<Element> contents(const char* section) const;
  [[nodiscard]] const Folders& folders() const { return folders_; }
  // Whether an element of that kind has this name anywhere.
  [[nodiscard]] bool is_named(const std::string& tag, const std::string& name) const;
  [[nodiscard]] const std::vector<std::unique_ptr<XmlFile>>& files() const { return files_; }

 private:
  XmlFile& add(const std::string& text, const std::string& name);
  void include_all(const Element& e);
  void include(const Element& e);
  [[nodiscard]] std::string find(const Element& e, const std::string& file) const;

  Folders folders_;
  Element root_;
  std::vector<std::unique_ptr<XmlFile>> files_;
  std::vector<std::string> paths_;                         // canonical, of files_; empty: a text
  std::map<std::string, std::set<std::string>> names_;     // by tag
  std::vector<char> open_;                                 // of files_: being read
  std::unordered_map<std::size_t, std::size_t> included_;  // <include> -> file
};

// An element with what its default class says. A vector may be given in part: the rest is the
// class's, and then the reader's.
class Styled {
 public:
  explicit Styled(const Element& self) : chain_{self} {}
  void add(const Element& of_class) { chain_.push_back(of_class); }

  [[nodiscard]] const Element& self() const { return chain_.front(); }
  [[nodiscard]] const std::vector<Element>& chain() const { return chain_; }  // nearest first
  // The nearest element that has the attribute, or none; marks it in all.
  [[nodiscard]] const Element* holder(const char* attribute) const;
  [[nodiscard]] bool has(const char* attribute) const { return holder(attribute) != nullptr; }
  [[nodiscard]] std::optional<std::string> text(const char* attribute) const;
  [[nodiscard]] std::optional<double> number(const char* attribute) const;
  [[nodiscard]] std::optional<int> integer(const char* attribute) const;
  [[nodiscard]] std::optional<bool> boolean(const char* attribute) const;
  [[nodiscard]] std::optional<Vec3> vec3(const char* attribute) const;
  [[nodiscard]] std::optional<std::vector<double>> pair(const char* attribute) const;
  // The first `least` to `start.size()` numbers replace those of `start`.
  [[nodiscard]] std::vector<double> numbers(const char* attribute, std::vector<double> start,
                                            std::size_t least = 1) const;
  [[nodiscard]] InputError error(const char* attribute, const std::string& message) const;

 private:
  std::vector<Element> chain_;
};

class Defaults {
 public:
  explicit Defaults(const Sources& sources);
  // The element under its class: its own `class`, else `childclass`, else the top one.
  [[nodiscard]] Styled styled(const Element& e, const std::string& childclass) const;
  // Throws where there is none.
  void check_class(const Element& e, const char* attribute, const std::string& name) const;

 private:
  struct Class {
    int parent = -1;
    std::vector<Element> elements;
  };
  void read(const Sources& sources, const Element& e, int parent, int depth);

  std::vector<Class> classes_{Class{}};  // the first is the top one
  std::map<std::string, int> by_name_{{"main", 0}};
};

[[nodiscard]] bool is_actuator(const std::string& tag);

}  // namespace saltus::mjcf
