#include "saltus/scene/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "saltus/scene/limits.h"

namespace saltus {

namespace {

// Refuses what YAML allows and a scene does not: a key given twice, a key that is no text, aliases
// that lead back to themselves or multiply without end.
class Checker {
 public:
  using Where = std::function<std::string(const YAML::Node&)>;
  explicit Checker(Where where) : where_(std::move(where)) {}

  void check(const YAML::Node& node, const std::string& path, int depth = 0) {
    if (depth > most_depth || ++values_ > most_values)
      throw InputError(fmt::format("{}: {}: expected at most {} values nested at most {} deep",
                                   where_(node), path, most_values, most_depth));
    if (node.IsMap()) {
      std::set<std::string> keys;
      for (const auto& entry : node) {
        if (!entry.first.IsScalar())
          throw InputError(fmt::format("{}: expected a plain key", where_(entry.first)));
        const std::string& key = entry.first.Scalar();
        const std::string inner = path.empty() ? key : fmt::format("{}.{}", path, key);
        if (!keys.insert(key).second)
          throw InputError(fmt::format("{}: {}: expected the key once, it is given twice",
                                       where_(entry.first), inner));
        check(entry.second, inner, depth + 1);
      }
    } else if (node.IsSequence()) {
      for (std::size_t i = 0; i < node.size(); ++i)
        check(node[i], fmt::format("{}[{}]", path, i), depth + 1);
    }
  }

 private:
  static constexpr int most_depth = 64;
  Where where_;
  int values_ = 0;
};

// YAML::Load reads the first document and forgets the others; YAML::LoadAll may never end.
void refuse_second_document(const std::string& text, const std::string& name) {
  struct Counter : YAML::EventHandler {
    int documents = 0, line = 0;
    void OnDocumentStart(const YAML::Mark& mark) override {
      ++documents;
      line = mark.line + 1;
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
  };
  std::istringstream in(text);
  YAML::Parser parser(in);
  Counter counter;
  try {
    while (counter.documents < 2 && parser.HandleNextDocument(counter)) {}
  } catch (const YAML::Exception& e) {
    throw InputError(fmt::format("{}:{}: expected YAML: {}", name, e.mark.line + 1, e.msg));
  }
  if (counter.documents > 1)
    throw InputError(
        fmt::format("{}:{}: expected one scene, here begins another document", name, counter.line));
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

}  // namespace

std::vector<std::string> split_path(const std::string& path) {
  const auto malformed = [&] {
    return InputError(fmt::format("'{}': expected a path like time.step or bodies[2].mass", path));
  };
  std::vector<std::string> steps;
  std::size_t i = 0;
  while (i < path.size()) {
    if (path[i] == '[') {
      const std::size_t close = path.find(']', i);
      if (close == std::string::npos || close == i + 1) throw malformed();
      steps.push_back(path.substr(i, close - i + 1));
      i = close + 1;
    } else {
      if (!steps.empty() && path[i++] != '.') throw malformed();
      const std::size_t end = std::min(path.find_first_of(".[", i), path.size());
      if (end == i) throw malformed();
      steps.push_back(path.substr(i, end - i));
      i = end;
    }
  }
  if (steps.empty()) throw malformed();
  return steps;
}

Document Document::from_file(const std::string& path) {
  constexpr std::size_t most_bytes = 256U << 20U;
  const auto refuse = [&](int error) {
    return InputError(
        fmt::format("{}: cannot read: {}", path, std::generic_category().message(error)));
  };
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) throw refuse(EISDIR);
  std::ifstream in(path, std::ios::binary);
  if (!in) throw refuse(errno);
  std::string text;  // maybe of a pipe, which need not end
  std::vector<char> part(1U << 16U);
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > most_bytes)
      throw InputError(fmt::format("{}: expected at most {} MiB", path, most_bytes >> 20U));
  }
  if (in.bad()) throw refuse(EIO);
  Document document = from_text(text, path);
  document.folder_ = std::filesystem::absolute(path).parent_path().string();
  return document;
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
  refuse_second_document(text, name);
  Checker([&](const YAML::Node& node) {
    return fmt::format("{}:{}", name, node.Mark().line + 1);
  }).check(d.root_, "");
  return d;
}

void Document::set(const std::string& assignment) {
  const std::string option = "--set " + assignment;
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0 ||
      assignment.find_first_not_of(" \t\n", equals + 1) == std::string::npos)
    throw InputError(fmt::format("{}: expected path=value", option));
  YAML::Node value;
  try {
    value = YAML::Load(assignment.substr(equals + 1));
  } catch (const YAML::Exception& e) {
    throw InputError(fmt::format("{}: expected a YAML value: {}", option, e.msg));
  }
  std::vector<std::string> steps;
  try {
    steps = split_path(assignment.substr(0, equals));
  } catch (const InputError& e) { throw InputError(fmt::format("{}: {}", option, e.what())); }
  Checker([&](const YAML::Node&) {
    return std::string(option);
  }).check(value, assignment.substr(0, equals));
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
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return text + "\n" + out.c_str() + "\n";
}

std::string Document::resolve(const std::string& file) const {
  names_files_ = true;
  return (std::filesystem::path(folder_) / file).lexically_normal().string();
}

bool Document::afford(std::size_t values) const {
  generated_ += std::min(values, most_generated + 1);  // no overflow
  return generated_ <= most_generated;
}

std::string Document::where(const std::string& path) const {
  for (auto it = overrides_.rbegin(); it != overrides_.rend(); ++it)
    if (path == it->first || path.rfind(it->first + ".", 0) == 0 ||
        path.rfind(it->first + "[", 0) == 0)
      return it->second;
  int line = 1;
  YAML::Node node = root_;
  // Names that a user chose may hold dots and brackets: of the keys here, the longest that fits.
  for (std::size_t i = 0; i < path.size();) {
    if (node.IsMap()) {
      const std::string rest = path.substr(i + (path[i] == '.' ? 1 : 0));
      YAML::Node key, next;
      for (const auto& entry : node) {
        const std::string& name = entry.first.Scalar();
        const bool fits = rest.rfind(name, 0) == 0 &&
                          (rest.size() == name.size() || std::strchr(".[", rest[name.size()]));
        if (fits && (!key.IsScalar() || name.size() > key.Scalar().size()))
          key.reset(entry.first), next.reset(entry.second);
      }
      if (!key.IsScalar() || key.Scalar().empty()) break;
      i = path.size() - rest.size() + key.Scalar().size();
      if (key.Mark().is_null()) return opened_by(path.substr(0, i));
      line = key.Mark().line + 1;  // the key's own line; block values start below it
      node.reset(next);
    } else if (node.IsSequence()) {
      const std::size_t close = path.find(']', i);
      if (path[i] != '[' || close == std::string::npos) break;
      const int k = find_entry(node, path.substr(i, close + 1 - i));
      if (k < 0) break;
      i = close + 1;
      const YAML::Node next = node[k];
      if (!next.Mark().is_null()) line = next.Mark().line + 1;
      node.reset(next);
    } else {
      break;
    }
  }
  return fmt::format("{}:{}", name_, line);
}

// The override that put a section there which the file leaves out.
std::string Document::opened_by(const std::string& section) const {
  for (const auto& [path, option] : overrides_)
    if (path.rfind(section, 0) == 0) return option;
  return name_;
}

InputError Document::error(const std::string& path, const std::string& message) const {
  return InputError(
      fmt::format("{}: {}{}{}", where(path), path, path.empty() ? "" : ": ", message));
}

}  // namespace saltus
