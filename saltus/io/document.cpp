#include "saltus/io/document.h"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>

namespace saltus {

namespace {

void refuse_duplicates(const YAML::Node& node, const std::string& name) {
  if (node.IsMap()) {
    std::set<std::string> keys;
    for (const auto& entry : node) {
      const int line = entry.first.Mark().line + 1;
      if (!entry.first.IsScalar())
        throw InputError(fmt::format("{}:{}: expected a plain key", name, line));
      if (!keys.insert(entry.first.Scalar()).second)
        throw InputError(
            fmt::format("{}:{}: the key '{}' is given twice", name, line, entry.first.Scalar()));
      refuse_duplicates(entry.second, name);
    }
  } else if (node.IsSequence()) {
    for (const auto& entry : node) refuse_duplicates(entry, name);
  }
}

bool is_index(const std::string& step) { return step.size() > 2 && step.front() == '['; }

// Position of "[2]" or "[name]" in a list, or -1.
int find_entry(const YAML::Node& list, const std::string& step) {
  const std::string key = step.substr(1, step.size() - 2);
  if (key.find_first_not_of("0123456789") == std::string::npos && key.size() < 9) {
    const int i = std::stoi(key);
    return i < static_cast<int>(list.size()) ? i : -1;
  }
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].IsMap() && list[i]["name"] && list[i]["name"].IsScalar() &&
        list[i]["name"].Scalar() == key)
      return static_cast<int>(i);
  return -1;
}

// The child that a path step leads to; undefined where there is none.
YAML::Node child(const YAML::Node& node, const std::string& step) {
  if (is_index(step)) {
    if (!node.IsSequence()) return YAML::Node(YAML::NodeType::Undefined);
    const int i = find_entry(node, step);
    return i < 0 ? YAML::Node(YAML::NodeType::Undefined) : node[i];
  }
  if (!node.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
  return node[step];
}

}  // namespace

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> steps;
  std::string step;
  const auto flush = [&] {
    if (!step.empty()) steps.push_back(step);
    step.clear();
  };
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '.') {
      flush();
    } else if (path[i] == '[') {
      flush();
      const std::size_t close = path.find(']', i);
      if (close == std::string::npos || close == i + 1)
        throw InputError(fmt::format("'{}': expected a path like bodies[2].mass", path));
      steps.push_back(path.substr(i, close - i + 1));
      i = close;
    } else {
      step += path[i];
    }
  }
  flush();
  if (steps.empty()) throw InputError(fmt::format("'{}': expected a path like time.step", path));
  return steps;
}

Document Document::from_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(fmt::format("{}: cannot read this file", path));
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad() || (text.str().empty() && !in.eof() && in.fail() && !in.good()))
    throw InputError(fmt::format("{}: cannot read this file", path));
  return from_text(text.str(), path);
}

Document Document::from_text(const std::string& text, const std::string& name) {
  Document d;
  d.name_ = name;
  d.text_ = text;
  try {
    d.root_ = YAML::Load(text);
  } catch (const YAML::Exception& e) {
    throw InputError(fmt::format("{}:{}: expected YAML: {}", name, e.mark.line + 1, e.msg));
  }
  if (!d.root_.IsMap())
    throw InputError(fmt::format("{}:1: expected a scene: a YAML mapping of keys", name));
  refuse_duplicates(d.root_, name);
  return d;
}

void Document::set(const std::string& assignment) {
  const std::string option = "--set " + assignment;
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    throw InputError(fmt::format("{}: expected path=value", option));
  YAML::Node value;
  try {
    value = YAML::Load(assignment.substr(equals + 1));
  } catch (const YAML::Exception& e) {
    throw InputError(fmt::format("{}: expected a YAML value: {}", option, e.msg));
  }
  const auto steps = split_path(assignment.substr(0, equals));
  YAML::Node node = root_;
  std::string path;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool last = i + 1 == steps.size();
    std::string step = steps[i];
    if (is_index(step)) {
      const int k = node.IsSequence() ? find_entry(node, step) : -1;
      if (k < 0) throw InputError(fmt::format("{}: there is no {}{}", option, path, step));
      path += fmt::format("[{}]", k);
      if (last)
        node[k] = value;
      else
        node.reset(node[k]);
      continue;
    }
    if (!node.IsMap()) throw InputError(fmt::format("{}: there is no {}.{}", option, path, step));
    path += (path.empty() ? "" : ".") + step;
    if (last) {
      node[step] = value;
    } else {
      // A section that the file leaves out may be opened; whether its keys exist, the reader says.
      if (!node[step] || node[step].IsNull()) node[step] = YAML::Node(YAML::NodeType::Map);
      node.reset(YAML::Node(node[step]));
    }
  }
  overrides_.emplace_back(path, option);
}

std::string Document::effective_text() const {
  if (overrides_.empty()) return text_;
  YAML::Emitter out;
  out << root_;
  std::string text = "# effective scene:";
  for (const auto& o : overrides_) text += " " + o.second;
  return text + "\n" + out.c_str() + "\n";
}

std::string Document::where(const std::string& path) const {
  for (auto it = overrides_.rbegin(); it != overrides_.rend(); ++it)
    if (path == it->first || path.rfind(it->first + ".", 0) == 0 ||
        path.rfind(it->first + "[", 0) == 0)
      return it->second;
  int line = 1;
  YAML::Node node = root_;
  if (!path.empty())
    for (const std::string& step : split_path(path)) {
      const YAML::Node next = child(node, step);
      if (!next.IsDefined()) break;
      if (!is_index(step)) {  // the key's own line; block values start below it
        for (const auto& entry : node)
          if (entry.first.IsScalar() && entry.first.Scalar() == step)
            line = entry.first.Mark().line + 1;
      } else if (next.Mark().line >= 0) {
        line = next.Mark().line + 1;
      }
      node.reset(next);
    }
  return fmt::format("{}:{}", name_, line);
}

InputError Document::error(const std::string& path, const std::string& message) const {
  return InputError(
      fmt::format("{}: {}{}{}", where(path), path, path.empty() ? "" : ": ", message));
}

}  // namespace saltus
