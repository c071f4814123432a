#include "saltus/robots/xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

#include "saltus/base/bytes.h"

namespace saltus {

namespace {

constexpr const char* blanks = " \t\r\n";

int depth_of(pugi::xml_node root) {
  int depth = 0, deepest = 0;
  for (pugi::xml_node n = root; n;) {
    deepest = std::max(deepest, depth);
    if (n.first_child()) {
      n = n.first_child();
      ++depth;
      continue;
    }
    while (n && n != root && !n.next_sibling()) {
      n = n.parent();
      --depth;
    }
    if (!n || n == root) break;
    n = n.next_sibling();
  }
  return deepest;
}

}  // namespace

std::optional<std::vector<double>> parse_numbers(const std::string& text) {
  std::vector<double> all;
  std::string_view rest = text;
  for (std::string_view word = next_word(rest, blanks); !word.empty();
       word = next_word(rest, blanks)) {
    const std::optional<double> x = parse_number(word);
    if (!x) return std::nullopt;
    all.push_back(*x);
  }
  return all;
}

// --- elements ------------------------------------------------------------------------------------

int XmlElement::line() const { return file_->line_of(node_); }
const std::string& XmlElement::file() const { return file_->name(); }

void XmlElement::mark() const {
  if (node_) file_->read_nodes_.insert(node_.hash_value());
}

void XmlElement::mark_whole() const {  // depth is bounded by XmlFile::deepest
  mark();
  for (const pugi::xml_attribute a : node_.attributes())
    file_->read_attributes_.insert(a.hash_value());
  for (const XmlElement& c : children()) c.mark_whole();
}

XmlElement XmlElement::child(const char* name) const {
  const XmlElement found(*file_, node_.child(name));
  found.mark();
  return found;
}

std::vector<XmlElement> XmlElement::children(const char* name) const {
  std::vector<XmlElement> all;
  for (const pugi::xml_node n : node_.children(name)) {
    all.emplace_back(*file_, n);
    all.back().mark();
  }
  return all;
}

std::vector<XmlElement> XmlElement::children() const {
  std::vector<XmlElement> all;
  for (const pugi::xml_node n : node_.children())
    if (n.type() == pugi::node_element) all.emplace_back(*file_, n);
  return all;
}

bool XmlElement::has(const char* attribute) const { return !node_.attribute(attribute).empty(); }

std::optional<std::string> XmlElement::text(const char* attribute) const {
  const pugi::xml_attribute a = node_.attribute(attribute);
  if (!a) return std::nullopt;
  file_->read_attributes_.insert(a.hash_value());
  return a.value();
}

std::optional<std::vector<double>> XmlElement::numbers(const char* attribute, std::size_t least,
                                                       std::size_t most) const {
  const std::optional<std::string> given = text(attribute);
  if (!given) return std::nullopt;
  std::optional<std::vector<double>> all = parse_numbers(*given);
  const std::string count =
      least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  if (!all || all->size() < least || all->size() > most)
    throw error(attribute,
                fmt::format("expected {} number{}, got '{}'", count, most == 1 ? "" : "s", *given));
  // Of what has mass or moves: its products still are numbers.
  constexpr double largest = 1e100;
  static constexpr std::array bounded{"mass", "density", "ixx",         "iyy",         "izz", "ixy",
                                      "ixz",  "iyz",     "diaginertia", "fullinertia", "pos", "xyz",
                                      "size", "qpos",    "qvel",        "armature"};
  const bool is_bounded =
      (std::string_view(name()) == "mass" && std::string_view(attribute) == "value") ||
      std::find(bounded.begin(), bounded.end(), std::string_view(attribute)) != bounded.end();
  for (const double x : *all)
    if (is_bounded && std::abs(x) > largest)
      throw error(attribute,
                  fmt::format("expected numbers of at most {:g} in size, got {:g}", largest, x));
  return all;
}

std::optional<double> XmlElement::number(const char* attribute) const {
  const auto all = numbers(attribute, 1, 1);
  return all ? std::optional(all->front()) : std::nullopt;
}

std::optional<int> XmlElement::integer(const char* attribute) const {
  const std::optional<double> x = number(attribute);
  if (!x) return std::nullopt;
  if (*x != std::floor(*x) || std::abs(*x) > 1e9)
    throw error(attribute, fmt::format("expected a whole number, got {}", *x));
  return static_cast<int>(*x);
}

std::optional<bool> XmlElement::boolean(const char* attribute) const {
  const std::optional<std::string> given = text(attribute);
  if (!given) return std::nullopt;
  if (*given == "true" || *given == "1") return true;
  if (*given == "false" || *given == "0") return false;
  throw error(attribute, fmt::format("expected true or false, got '{}'", *given));
}

std::optional<Vec3> XmlElement::vec3(const char* attribute) const {
  const auto all = numbers(attribute, 3, 3);
  return all ? std::optional(Vec3((*all)[0], (*all)[1], (*all)[2])) : std::nullopt;
}

std::string XmlElement::required_text(const char* attribute) const {
  if (std::optional<std::string> given = text(attribute)) return *given;
  throw error(fmt::format("the attribute '{}' is missing", attribute));
}

double XmlElement::required_number(const char* attribute) const {
  if (const std::optional<double> given = number(attribute)) return *given;
  throw error(fmt::format("the attribute '{}' is missing", attribute));
}

std::string XmlElement::label() const {
  const char* name = node_.attribute("name").value();
  return *name ? fmt::format("<{} name=\"{}\">", node_.name(), name)
               : fmt::format("<{}>", node_.name());
}

InputError XmlElement::error(const std::string& message) const {
  return InputError(fmt::format("{}:{}: {}: {}", file(), line(), label(), message));
}

InputError XmlElement::error(const char* attribute, const std::string& message) const {
  return InputError(fmt::format("{}:{}: {} {}: {}", file(), line(), label(), attribute, message));
}

// --- the file ------------------------------------------------------------------------------------

XmlFile::XmlFile(std::string text, std::string name)
    : name_(std::move(name)), text_(std::move(text)) {
  if (text_.size() > most_bytes)
    throw InputError(fmt::format("{}: larger than {} MiB", name_, most_bytes >> 20U));
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  const pugi::xml_parse_result result = document_.load_buffer(
      text_.data(), text_.size(), pugi::parse_default | pugi::parse_doctype, pugi::encoding_utf8);
  if (!result)
    throw InputError(
        fmt::format("{}:{}: not XML: {}", name_, line(result.offset), result.description()));
  for (const pugi::xml_node n : document_.children())
    if (n.type() == pugi::node_doctype && std::strstr(n.value(), "<!ENTITY"))
      throw InputError(fmt::format("{}:{}: entities of a DOCTYPE are not allowed", name_,
                                   line(n.offset_debug())));
  if (!document_.document_element())
    throw InputError(fmt::format("{}: expected an XML element, found none", name_));
  if (depth_of(document_) > deepest)
    throw InputError(fmt::format("{}: nested more than {} deep", name_, deepest));
}

int XmlFile::line(std::ptrdiff_t offset) const {
  const auto at = static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0));
  return static_cast<int>(std::upper_bound(line_starts_.begin(), line_starts_.end(), at) -
                          line_starts_.begin());
}

int XmlFile::line_of(pugi::xml_node node) const {
  const auto given = set_lines_.find(node.hash_value());
  return given == set_lines_.end() ? line(node.offset_debug()) : given->second;
}

void XmlFile::set_line(pugi::xml_node node, int line) { set_lines_[node.hash_value()] = line; }

XmlElement XmlFile::root() {
  const XmlElement top(*this, document_.document_element());
  top.mark();
  return top;
}

std::vector<UnreadItem> XmlFile::unread() const {
  std::vector<UnreadItem> items;
  const auto label = [](pugi::xml_node n) {
    const char* name = n.attribute("name").value();
    return *name ? fmt::format("<{} name=\"{}\">", n.name(), name) : fmt::format("<{}>", n.name());
  };
  // Depth is bounded by `deepest`.
  const auto walk = [&](auto& self, pugi::xml_node n) -> void {
    if (!read_nodes_.contains(n.hash_value())) {
      items.push_back({line_of(n), label(n)});
      return;
    }
    for (const pugi::xml_attribute a : n.attributes())
      if (!read_attributes_.contains(a.hash_value()))
        items.push_back({line_of(n), fmt::format("{} {}", label(n), a.name())});
    for (const pugi::xml_node c : n.children())
      if (c.type() == pugi::node_element) self(self, c);
  };
  walk(walk, document_.document_element());
  return items;
}

}  // namespace saltus
