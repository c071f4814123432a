#include "apps/saltus/server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <array>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>

#include "apps/saltus/server_stream.h"
#include "saltus/base/error.h"

namespace saltus::cli {

namespace {

using namespace std::chrono_literals;
using Clock = DeadlineStream::Clock;

constexpr int usual_port = 8722;
constexpr std::size_t workers = 32;
constexpr auto request_time = 3s;  // from the connection to the last byte of the request
constexpr std::size_t request_bytes = 16 * 1024;

// When the connection that this worker serves was made.
thread_local Clock::time_point accepted;

// Counts the time that a connection waits for a worker, so that a flood of slow ones is shed.
class Workers : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> job) override {
    pool_.enqueue([job = std::move(job), now = Clock::now()] {
      accepted = now;
      job();
    });
  }
  void shutdown() override { pool_.shutdown(); }

 private:
  httplib::ThreadPool pool_{workers};
};

// httplib reads requests and writes answers; connections are ours.
class Connections : public httplib::Server {
 private:
  bool process_and_close_socket(socket_t socket) override {
    DeadlineStream stream(socket, accepted + request_time, request_bytes);
    bool closed = false;
    const bool done = process_request(stream, true, closed, [](httplib::Request& request) {
      request.headers.erase("Accept-Encoding");  // compressing takes longer than loopback
      request.ranges.clear();                    // answers are always whole
    });
    stream.close();
    return done;
  }
};

HttpReply error_reply(int status, const std::string& message) {
  const nlohmann::json body = {{"error", message}};
  return {.status = status,
          .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

void write_reply(const HttpReply& reply, httplib::Response& response) {
  response.status = reply.status;
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
  response.set_content(reply.body, reply.type);
}

}  // namespace

std::string HttpQuery::text(const std::string& key) const {
  const auto [first, last] = values_.equal_range(key);
  if (first == last) throw HttpError(400, "the query has no '" + key + "'");
  if (std::next(first) != last) throw HttpError(400, "the query has two '" + key + "'");
  return first->second;
}

std::size_t HttpQuery::count(const std::string& key, std::size_t least, std::size_t most) const {
  const std::string value = text(key);
  std::size_t n = 0;
  const char* end = value.data() + value.size();
  const auto [at, failure] = std::from_chars(value.data(), end, n);
  if (failure != std::errc() || at != end || n < least || n > most)
    throw HttpError(400,
                    fmt::format("'{}': expected a whole number from {} to {}", key, least, most));
  return n;
}

std::size_t HttpQuery::count_or(const std::string& key, std::size_t otherwise, std::size_t least,
                                std::size_t most) const {
  return has(key) ? count(key, least, most) : otherwise;
}

struct LocalServer::Impl {
  Connections server;
  std::map<std::string, HttpHandler> get, post;
  std::array<std::string, 3> hosts;  // what a Host header may say
  int port = 0;

  // Empty, or why the request is refused.
  [[nodiscard]] std::string refusal(const httplib::Request& request) const {
    const auto ours = [&](const std::string& host) {
      return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
    };
    if (request.get_header_value_count("Host") != 1 || !ours(request.get_header_value("Host")))
      return "this server answers only to its own address";
    for (std::size_t i = 0; i < request.get_header_value_count("Origin"); ++i) {
      const std::string origin = request.get_header_value("Origin", i);
      if (!origin.starts_with("http://") || !ours(origin.substr(7)))
        return "this server answers only to its own page";
    }
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    if (request.path != "/" && !site.empty() && site != "same-origin" && site != "none")
      return "this server answers only to its own page";
    return "";
  }

  [[nodiscard]] HttpReply answer(const httplib::Request& request) const {
    if (const std::string why = refusal(request); !why.empty()) return error_reply(403, why);
    const bool reading = request.method == "GET" || request.method == "HEAD";
    if (!reading && request.method != "POST") return error_reply(405, "only GET and POST");
    const auto& handlers = reading ? get : post;
    const auto found = handlers.find(request.path);
    if (found == handlers.end()) return error_reply(404, "nothing is here");
    try {
      return found->second(HttpQuery(request.params));
    } catch (const HttpError& e) {
      return error_reply(e.status, e.what());
    } catch (const std::exception& e) { return error_reply(500, e.what()); }
  }
};

LocalServer::LocalServer() : impl_(std::make_unique<Impl>()) {
  Connections& server = impl_->server;
  server.new_task_queue = [] { return new Workers; };
  // httplib's default would share the port with whoever holds it.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_default_headers({{"Cache-Control", "no-store"},
                              {"X-Content-Type-Options", "nosniff"},
                              {"X-Frame-Options", "DENY"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cross-Origin-Resource-Policy", "same-origin"}});
  // Runs before httplib looks at files, patterns or bodies: it handles everything.
  server.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& out) {
    write_reply(impl_->answer(request), out);
    return httplib::Server::HandlerResponse::Handled;
  });
}

LocalServer::~LocalServer() = default;

void LocalServer::get(const std::string& path, HttpHandler handler) {
  impl_->get[path] = std::move(handler);
}

void LocalServer::post(const std::string& path, HttpHandler handler) {
  impl_->post[path] = std::move(handler);
}

void LocalServer::bind(std::optional<int> port) {
  const std::string host = "127.0.0.1";
  if (impl_->server.bind_to_port(host, port.value_or(usual_port)))
    impl_->port = port.value_or(usual_port);
  else if (port)
    throw InputError(fmt::format(
        "port {} of {} cannot be used: it is taken, or needs rights; choose another with --port",
        *port, host));
  else
    impl_->port = impl_->server.bind_to_any_port(host);
  if (impl_->port <= 0) throw InputError("no port of 127.0.0.1 can be used");
  impl_->hosts = {fmt::format("127.0.0.1:{}", impl_->port),
                  fmt::format("localhost:{}", impl_->port), fmt::format("[::1]:{}", impl_->port)};
}

std::string LocalServer::address() const { return fmt::format("http://{}/", impl_->hosts[0]); }

void LocalServer::serve() { impl_->server.listen_after_bind(); }

}  // namespace saltus::cli
