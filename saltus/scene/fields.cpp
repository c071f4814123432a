#include "saltus/scene/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "saltus/scene/units.h"

namespace saltus {

using Json = nlohmann::ordered_json;

Fields::Fields(const Document& document, const YAML::Node& node, std::string path)
    : document_(&document), node_(node), path_(std::move(path)) {
  if (!node_.IsMap()) return;
  entries_.reserve(node_.size());
  for (const auto& entry : node_) entries_.emplace_back(entry.first.Scalar(), entry.second);
}

Fields::Fields(Json& definitions)
    : schema_(true),
      definitions_(&definitions),
      properties_(Json::object()),
      required_keys_(Json::array()),
      form_schemas_(Json::array()) {}

std::string Fields::at(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

InputError Fields::error(const std::string& key, const std::string& message) const {
  return document_->error(key.empty() ? path_ : at(key), message);
}

Fields& Fields::required() {
  required_ = true;
  return *this;
}

const YAML::Node* Fields::find(const char* key) const {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [&](const auto& entry) { return entry.first == key; });
  return at == entries_.end() ? nullptr : &at->second;
}

bool Fields::has(const char* key) const {
  const YAML::Node* value = find(key);
  return value && !value->IsNull();
}

void Fields::describe(const char* key, Json schema, const char* about) {
  if (*about) schema["description"] = about;
  properties_[key] = std::move(schema);
  if (required_) required_keys_.push_back(key);
  required_ = false;
}

namespace {

// Letters to add, drop or change to get from a to b.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = corner + (a[i - 1] != b[j - 1]);
      corner = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Fields::misspelt(const std::string& key) const {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, key.size() / 2) + 1;
  for (const auto& [other, value] : entries_) {
    // A long key can only be a slip of the pen if it is about as long as the one that is missing.
    if (other.size() > 2 * key.size() ||
        std::find(known_.begin(), known_.end(), other) != known_.end())
      continue;
    if (const std::size_t d = edit_distance(key, other); d < least) {
      least = d;
      nearest = other;
    }
  }
  return nearest.empty() ? "" : fmt::format("; was it misspelt as '{}'?", nearest);
}

YAML::Node Fields::take(const char* key) {
  known_.emplace_back(key);
  if (!node_.IsMap() && node_.IsDefined() && !node_.IsNull())
    throw error("", fmt::format("expected a mapping with keys such as '{}'", key));
  const YAML::Node* value = find(key);
  if (value && value->IsNull()) throw error(key, "expected a value, there is none");
  if (!value && required_) throw error(key, "expected a value, there is none" + misspelt(key));
  required_ = false;
  static const YAML::Node undefined(YAML::NodeType::Undefined);
  return value ? *value : undefined;
}

namespace {

std::string shown(const YAML::Node& node) {
  if (node.IsScalar()) return "'" + node.Scalar() + "'";
  return node.IsSequence() ? "a list" : "a mapping";
}

std::string range_text(Range range) {
  if (range.least == 0 && std::isinf(range.most)) return range.open ? " > 0" : " >= 0";
  if (std::isfinite(range.least) && std::isfinite(range.most))
    return fmt::format(" in [{}, {}]", range.least, range.most);
  return "";
}

std::string quantity_text(const char* unit) {
  return *unit ? fmt::format(" [{}]", known_units(unit)) : "";
}

}  // namespace

double Fields::read_number(const YAML::Node& node, const std::string& path, const char* unit,
                           Range range) const {
  const auto expected = [&] {
    return fmt::format("expected a number{}{}, got {}", range_text(range), quantity_text(unit),
                       shown(node));
  };
  if (!node.IsScalar()) throw document_->error(path, expected());
  const auto x = parse_quantity(node.Scalar(), unit);
  if (!x || !std::isfinite(*x)) throw document_->error(path, expected());
  if (*x < range.least || *x > range.most || (range.open && *x == range.least))
    throw document_->error(path, expected());
  return *x;
}

Json Fields::number_schema(const char* unit, Range range) {
  Json number = {{"type", "number"}};
  if (std::isfinite(range.least)) number[range.open ? "exclusiveMinimum" : "minimum"] = range.least;
  if (std::isfinite(range.most)) number["maximum"] = range.most;
  Json schema;
  // "40 deg" is a string in JSON's eyes; so is 1e-3, which YAML 1.1 readers need a dot for.
  const std::string pattern = R"(^[-+]?[0-9.]+([eE][-+]?[0-9]+)?( *[A-Za-z/^0-9 ]+)?$)";
  schema["anyOf"] = {number, {{"type", "string"}, {"pattern", pattern}}};
  if (*unit) schema["x-unit"] = unit;
  return schema;
}

void Fields::number(const char* key, double& x, const char* unit, const char* about, Range range) {
  if (schema_) return describe(key, number_schema(unit, range), about);
  if (const auto node = take(key); node.IsDefined()) x = read_number(node, at(key), unit, range);
}

void Fields::integer(const char* key, int& x, const char* about, int least) {
  if (schema_) return describe(key, {{"type", "integer"}, {"minimum", least}}, about);
  const auto node = take(key);
  if (!node.IsDefined()) return;
  const double value = node.IsScalar() ? parse_quantity(node.Scalar(), "").value_or(NAN) : NAN;
  if (!(value >= least && value <= 1e9 && value == std::floor(value)))
    throw error(key, fmt::format("expected a whole number >= {}, got {}", least, shown(node)));
  x = static_cast<int>(value);
}

void Fields::boolean(const char* key, bool& x, const char* about) {
  if (schema_) return describe(key, {{"type", "boolean"}}, about);
  const auto node = take(key);
  if (!node.IsDefined()) return;
  if (!node.IsScalar() || (node.Scalar() != "true" && node.Scalar() != "false"))
    throw error(key, fmt::format("expected true or false, got {}", shown(node)));
  x = node.Scalar() == "true";
}

void Fields::text(const char* key, std::string& x, const char* about) {
  if (schema_) return describe(key, {{"type", "string"}}, about);
  const auto node = take(key);
  if (!node.IsDefined()) return;
  if (!node.IsScalar()) throw error(key, fmt::format("expected a text, got {}", shown(node)));
  x = node.Scalar();
}

void Fields::texts(const char* key, std::vector<std::string>& x, const char* about) {
  if (schema_) {
    const Json text = {{"type", "string"}};
    return describe(key, {{"anyOf", {text, {{"type", "array"}, {"items", text}}}}}, about);
  }
  const auto node = take(key);
  if (!node.IsDefined()) return;
  x.clear();
  if (node.IsScalar()) {
    x.push_back(node.Scalar());
    return;
  }
  if (!node.IsSequence()) throw error(key, "expected a text or a list of texts");
  for (const auto& entry : node) {
    if (!entry.IsScalar()) throw error(key, "expected a list of texts");
    x.push_back(entry.Scalar());
  }
}

void Fields::number_or_list(const char* key, std::vector<double>& x, const char* unit,
                            const char* about, std::size_t least, std::size_t most, Range range) {
  if (schema_) {
    Json items = {{"type", "array"}, {"items", number_schema(unit, range)}, {"minItems", least}};
    if (most < 1000000) items["maxItems"] = most;
    if (least > 1) return describe(key, items, about);
    Json any = number_schema(unit, range);
    any["anyOf"].push_back(items);
    return describe(key, any, about);
  }
  const auto node = take(key);
  if (!node.IsDefined()) return;
  const auto count = node.IsSequence() ? node.size() : std::size_t{1};
  if (count < least || count > most || (!node.IsSequence() && (least > 1 || !node.IsScalar()))) {
    const std::string how_many = least == most     ? fmt::format("{} numbers", least)
                                 : most >= 1000000 ? fmt::format("at least {} numbers", least)
                                                   : fmt::format("{} to {} numbers", least, most);
    throw error(key,
                fmt::format("expected {}{}, got {}", how_many, quantity_text(unit),
                            node.IsSequence() ? fmt::format("{} values", count) : shown(node)));
  }
  x.clear();
  if (node.IsScalar()) {
    x.push_back(read_number(node, at(key), unit, range));
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
    x.push_back(read_number(node[i], fmt::format("{}[{}]", at(key), i), unit, range));
}

bool Fields::numbers_or_object(const char* key, std::vector<double>& x, const char* unit,
                               const char* about, std::size_t least, std::size_t most, Range range,
                               const std::function<void(Fields&)>& body) {
  if (schema_) {
    number_or_list(key, x, unit, about, least, most, range);
    Fields inner(*definitions_);
    body(inner);
    Json& entry = properties_[key];
    if (!entry.contains("anyOf")) {  // a list only
      const Json list = entry;
      entry = {{"anyOf", Json::array({list})}};
      describe(key, entry, about);
    }
    properties_[key]["anyOf"].push_back(inner.schema());
    return false;
  }
  if (!has(key) || !find(key)->IsMap()) {
    number_or_list(key, x, unit, about, least, most, range);
    return false;
  }
  return object(key, about, body);
}

void Fields::numbers(const char* key, std::vector<double>& x, const char* unit, const char* about) {
  number_or_list(key, x, unit, about, 1, 1000000);
}

void Fields::rows(const char* key, std::vector<std::vector<double>>& x, const char* unit,
                  const char* about, std::size_t least) {
  if (schema_) {
    const Json row = {{"type", "array"}, {"items", number_schema(unit, {})}, {"minItems", least}};
    return describe(key, {{"type", "array"}, {"items", row}, {"minItems", least}}, about);
  }
  const auto node = take(key);
  if (!node.IsDefined()) return;
  x.clear();
  if (!node.IsSequence() || node.size() < least)
    throw error(key, fmt::format("expected a list of at least {} rows", least));
  for (std::size_t j = 0; j < node.size(); ++j) {
    const std::string row = fmt::format("{}[{}]", at(key), j);
    const std::size_t width = j == 0 ? std::max(least, node[0].size()) : x[0].size();
    if (!node[j].IsSequence() || node[j].size() != width)
      throw document_->error(
          row, fmt::format("expected a row of {} numbers, got {}", width,
                           node[j].IsSequence() ? fmt::format("{}", node[j].size()) : "no list"));
    std::vector<double>& to = x.emplace_back();
    for (std::size_t i = 0; i < width; ++i)
      to.push_back(read_number(node[j][i], fmt::format("{}[{}]", row, i), unit, {}));
  }
}

void Fields::file(const char* key, std::string& path, const char* about) {
  std::string name;
  text(key, name, about);
  if (!name.empty()) path = document_->resolve(name);
}

void Fields::vec3(const char* key, Vec3& x, const char* unit, const char* about) {
  std::vector<double> values{x.x(), x.y(), x.z()};
  number_or_list(key, values, unit, about, 3, 3);
  if (!schema_) x = Vec3(values[0], values[1], values[2]);
}

int Fields::choice(const char* key, int x, std::initializer_list<const char*> options,
                   const char* about) {
  if (schema_) {
    describe(key, {{"enum", std::vector<std::string>(options.begin(), options.end())}}, about);
    return x;
  }
  const auto node = take(key);
  if (!node.IsDefined()) return x;
  int i = 0;
  for (const char* option : options) {
    if (node.IsScalar() && node.Scalar() == option) return i;
    ++i;
  }
  throw error(key,
              fmt::format("expected one of {}, got {}", fmt::join(options, ", "), shown(node)));
}

int Fields::choice_or_object(const char* key, int x, std::initializer_list<const char*> options,
                             const char* about, const Body& body) {
  if (schema_) {
    Fields inner(*definitions_);
    body(inner);
    const std::vector<std::string> names(options.begin(), options.end());
    describe(key, {{"anyOf", {{{"enum", names}}, inner.schema()}}}, about);
    return x;
  }
  if (!has(key) || !find(key)->IsMap()) return choice(key, x, options, about);
  object(key, about, body);
  return -1;
}

bool Fields::object(const char* key, const char* about, const Body& body) {
  if (schema_) {
    const bool must = required_;
    required_ = false;
    Fields inner(*definitions_);
    body(inner);
    required_ = must;
    describe(key, inner.schema(), about);
    return true;
  }
  const auto node = take(key);
  if (!node.IsDefined()) return false;
  Fields inner(*document_, node, at(key));
  body(inner);
  inner.finish();
  return true;
}

void Fields::forms(const char* key, const std::vector<Form>& all) {
  if (schema_) {
    for (const Form& form : all) {
      Fields inner(*definitions_);
      inner.properties_[key] = {{"const", form.name}};
      inner.required_keys_.push_back(key);
      form.body(inner);
      form_schemas_.push_back(inner.schema());
    }
    return;
  }
  required_ = true;
  const auto node = take(key);
  for (const Form& form : all)
    if (node.IsScalar() && node.Scalar() == form.name) return form.body(*this);
  std::vector<const char*> names;
  names.reserve(all.size());
  for (const Form& form : all) names.push_back(form.name);
  throw error(key, fmt::format("expected one of {}, got {}", fmt::join(names, ", "), shown(node)));
}

void Fields::list(const char* key, const char* about, const Body& entry) {
  if (schema_) {
    const bool must = required_;
    required_ = false;
    Fields inner(*definitions_);
    entry(inner);
    required_ = must;
    return describe(key, {{"type", "array"}, {"items", inner.schema()}}, about);
  }
  const auto node = take(key);
  if (!node.IsDefined()) return;
  if (!node.IsSequence()) throw error(key, fmt::format("expected a list, got {}", shown(node)));
  for (std::size_t i = 0; i < node.size(); ++i) {
    Fields inner(*document_, node[i], fmt::format("{}[{}]", at(key), i));
    entry(inner);
    inner.finish();
  }
}

void Fields::table(const char* key, const char* about,
                   const std::function<void(Fields&, const std::string&)>& entry) {
  if (schema_) {
    Fields inner(*definitions_);
    entry(inner, "name");
    return describe(key, {{"type", "object"}, {"additionalProperties", inner.schema()}}, about);
  }
  const auto node = take(key);
  if (!node.IsDefined()) return;
  if (!node.IsMap()) throw error(key, fmt::format("expected a mapping, got {}", shown(node)));
  for (const auto& pair : node) {
    Fields inner(*document_, pair.second, at(key) + "." + pair.first.Scalar());
    entry(inner, pair.first.Scalar());
    inner.finish();
  }
}

bool Fields::scalar(double& x, const char* unit) {
  if (schema_) {
    scalar_allowed_ = true;
    scalar_unit_ = unit;
    return false;
  }
  if (!node_.IsScalar()) return false;
  x = read_number(node_, path_, unit, {});
  return true;
}

void Fields::definition(const char* name, const Body& body) {
  if (!schema_) return body(*this);
  reference_ = fmt::format("#/$defs/{}", name);
  if (definitions_->contains(name)) return;
  (*definitions_)[name] = nullptr;  // in progress: an inner use refers to it
  Fields inner(*definitions_);
  body(inner);
  (*definitions_)[name] = inner.schema();
}

void Fields::finish() {
  for (const auto& [key, value] : entries_) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    throw error(key, fmt::format("unknown key; expected one of {}", fmt::join(known_, ", ")));
  }
}

Json Fields::schema() const {
  if (!reference_.empty()) return {{"$ref", reference_}};
  const auto close = [&](Json object, const Json& more) {
    object["type"] = "object";
    for (const auto& [key, value] : properties_.items()) object["properties"][key] = value;
    if (more.contains("properties"))
      for (const auto& [key, value] : more["properties"].items()) object["properties"][key] = value;
    Json must = required_keys_;
    if (more.contains("required"))
      for (const auto& key : more["required"]) must.push_back(key);
    if (!must.empty()) object["required"] = must;
    object["additionalProperties"] = false;
    return object;
  };
  Json any = Json::array();
  if (scalar_allowed_) {
    const Json number = number_schema(scalar_unit_.c_str(), {});
    for (const auto& form : number["anyOf"]) any.push_back(form);
  }
  if (form_schemas_.empty()) {
    if (any.empty()) return close(Json::object(), Json::object());
    any.push_back(close(Json::object(), Json::object()));
  }
  for (const auto& form : form_schemas_) any.push_back(close(Json::object(), form));
  return {{"anyOf", any}};
}

}  // namespace saltus
