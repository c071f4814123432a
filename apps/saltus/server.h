// The local server of the viewer: loopback only, GET and POST without a body, one request a
// connection. It answers from a table of handlers; no path ever reaches the file system.
//
// What a hostile client may do is bounded: a request has a few KiB and must arrive within seconds
// of its connection, slow ones lose their worker, and a page of another site is refused by its
// Host (DNS rebinding) or Origin.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace saltus::cli {

struct HttpReply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::map<std::string, std::string> headers = {};
};

// A refusal: thrown by handlers, answered with its status and {"error": message}.
struct HttpError : std::runtime_error {
  int status;
  HttpError(int code, const std::string& message) : std::runtime_error(message), status(code) {}
};

// The query of a request; every get throws HttpError 400 on what is missing or malformed.
class HttpQuery {
 public:
  explicit HttpQuery(std::multimap<std::string, std::string> values) : values_(std::move(values)) {}
  [[nodiscard]] bool has(const std::string& key) const { return values_.contains(key); }
  [[nodiscard]] std::string text(const std::string& key) const;
  // A decimal number in [least, most].
  [[nodiscard]] std::size_t count(const std::string& key, std::size_t least,
                                  std::size_t most) const;
  [[nodiscard]] std::size_t count_or(const std::string& key, std::size_t otherwise,
                                     std::size_t least, std::size_t most) const;

 private:
  std::multimap<std::string, std::string> values_;
};

using HttpHandler = std::function<HttpReply(const HttpQuery&)>;

class LocalServer {
 public:
  LocalServer();
  ~LocalServer();

  void get(const std::string& path, HttpHandler handler);
  void post(const std::string& path, HttpHandler handler);

  // Takes this port of 127.0.0.1, or with none the usual one or else a free one. Throws InputError
  // when it is in use.
  void bind(std::optional<int> port);
  [[nodiscard]] std::string address() const;  // http://127.0.0.1:8722/
  void serve();                               // until the process ends

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace saltus::cli
