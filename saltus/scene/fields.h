// One description of a scene's keys serves two readers: it fills the structs from a document, and
// it writes the JSON Schema. So the published schema cannot drift from what is read.
#pragma once
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "saltus/base/types.h"
#include "saltus/scene/document.h"

namespace saltus {

struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool open = false;  // least itself is not allowed
};
inline constexpr Range positive{0, std::numeric_limits<double>::infinity(), true};
inline constexpr Range not_negative{0, std::numeric_limits<double>::infinity(), false};

class Fields {
 public:
  // Reads `node` at `path` of the document.
  Fields(const Document& document, const YAML::Node& node, std::string path);
  // Writes a schema.
  explicit Fields(nlohmann::ordered_json& definitions);

  // Each call describes one key. A key that is absent leaves the value as it is, unless required.
  Fields& required();  // the next key must be there
  void number(const char* key, double& x, const char* unit, const char* about, Range range = {});
  void integer(const char* key, int& x, const char* about, int least);
  void boolean(const char* key, bool& x, const char* about);
  void text(const char* key, std::string& x, const char* about);
  void texts(const char* key, std::vector<std::string>& x, const char* about);
  void numbers(const char* key, std::vector<double>& x, const char* unit, const char* about);
  // A list of rows of equal length.
  void rows(const char* key, std::vector<std::vector<double>>& x, const char* unit,
            const char* about, std::size_t least);
  // The name of a file, looked for from the document's folder.
  void file(const char* key, std::string& path, const char* about);
  void vec3(const char* key, Vec3& x, const char* unit, const char* about);
  // A number, or a list of `least` to `most` numbers.
  void number_or_list(const char* key, std::vector<double>& x, const char* unit, const char* about,
                      std::size_t least, std::size_t most, Range range = {});
  // The same, or an object: then x stays as it is and true is returned.
  bool numbers_or_object(const char* key, std::vector<double>& x, const char* unit,
                         const char* about, std::size_t least, std::size_t most, Range range,
                         const std::function<void(Fields&)>& body);
  // x becomes the position of the text among the options.
  int choice(const char* key, int x, std::initializer_list<const char*> options, const char* about);

  // The same, or an object: then -1 is returned (for a schema: x).
  int choice_or_object(const char* key, int x, std::initializer_list<const char*> options,
                       const char* about, const std::function<void(Fields&)>& body);

  using Body = std::function<void(Fields&)>;
  // Returns whether the key is there (always, for a schema).
  bool object(const char* key, const char* about, const Body& body);
  // Several forms told apart by a key (`type`); each has its own keys.
  struct Form {
    const char* name;
    Body body;
  };
  void forms(const char* key, const std::vector<Form>& forms);
  void list(const char* key, const char* about, const Body& entry);
  // Keys chosen by the user (names); the entry also learns the key.
  void table(const char* key, const char* about,
             const std::function<void(Fields&, const std::string&)>& entry);
  // An entry that is itself a value (a number for a constant signal) or an object of the named
  // definition, which may contain itself.
  bool scalar(double& x, const char* unit);  // true: this value is a plain number, now in x
  void definition(const char* name, const Body& body);

  [[nodiscard]] bool has(const char* key) const;
  [[nodiscard]] bool writing_schema() const { return schema_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] InputError error(const std::string& key, const std::string& message) const;

  [[nodiscard]] bool afford(std::size_t values) const { return document_->afford(values); }
  void finish();  // refuses keys that no call described
  [[nodiscard]] nlohmann::ordered_json schema() const;

 private:
  [[nodiscard]] const YAML::Node* find(const char* key) const;
  [[nodiscard]] YAML::Node take(const char* key);
  [[nodiscard]] std::string at(const std::string& key) const;
  // "; was it misspelt as 'mas'?" where an unread key resembles the one that is missing.
  [[nodiscard]] std::string misspelt(const std::string& key) const;
  [[nodiscard]] double read_number(const YAML::Node& node, const std::string& path,
                                   const char* unit, Range range) const;
  [[nodiscard]] static nlohmann::ordered_json number_schema(const char* unit, Range range);
  void describe(const char* key, nlohmann::ordered_json schema, const char* about);

  const Document* document_ = nullptr;
  YAML::Node node_;
  // Of node_: yaml-cpp decodes every key for each that is looked up.
  std::vector<std::pair<std::string, YAML::Node>> entries_;
  std::string path_;
  std::vector<std::string> known_;
  bool required_ = false;
  bool schema_ = false;
  bool scalar_allowed_ = false;
  std::string scalar_unit_;
  nlohmann::ordered_json* definitions_ = nullptr;
  nlohmann::ordered_json properties_, required_keys_, form_schemas_;  // of a schema
  std::string reference_;
};

}  // namespace saltus
