#include "server.hpp"

#include <sys/socket.h>

#include <optional>
#include <stdexcept>
#include <string_view>

namespace gateway {
namespace {

using httplib::Request;
using httplib::Response;

struct Objection {
  int status;
  const char* reason;
};

std::string without_port(const std::string& host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string::npos && host.find(']', colon) == std::string::npos;
  return has_port ? host.substr(0, colon) : host;
}

bool allows_origin(const std::string& origin, const Options& options) {
  if (options.allowed_origins.contains(origin)) return true;
  const std::size_t host = origin.find("://");
  return host != std::string::npos &&
         options.allowed_hosts.contains(without_port(origin.substr(host + 3)));
}

// A page of another origin must not reach the gateway, not even by a name of its own that resolves
// to this host (MCP 2025-11-25, Transports, Security Warning).
bool is_from_elsewhere(const Request& request, const Options& options) {
  if (!options.allowed_hosts.contains(without_port(request.get_header_value("Host")))) return true;
  return request.has_header("Origin") &&
         !allows_origin(request.get_header_value("Origin"), options);
}

bool has_body(const Request& request) {
  return request.has_header("Transfer-Encoding") ||
         request.get_header_value("Content-Length", 0).find_first_not_of('0') != std::string::npos;
}

// httplib reads these its own way, or leaves the body to be taken for the next request.
bool is_ambiguous(const Request& request) {
  if (request.get_header_value_count("Host") != 1 ||
      request.get_header_value_count("Content-Length") > 1) {
    return true;
  }
  if (request.method != "POST") return has_body(request);
  return request.has_header("Transfer-Encoding") == request.has_header("Content-Length");
}

// httplib would decode a body in a content coding, take a multipart one apart, and cut a range out
// of what upstream sends.
bool is_uncarried(const Request& request) {
  const std::string type = request.get_header_value("Content-Type");
  return request.has_header("Content-Encoding") || request.has_header("Range") ||
         (request.method == "POST" && type.rfind("application/json", 0) != 0);
}

std::optional<Objection> objection_to(const Request& request, const Options& options) {
  const std::string& method = request.method;
  if (is_from_elsewhere(request, options)) return Objection{403, "Host or Origin is not allowed"};
  if (request.target != options.path) return Objection{404, "no such endpoint"};
  if (method != "POST" && method != "GET" && method != "DELETE") {
    return Objection{405, "POST, GET and DELETE are carried"};
  }
  if (is_ambiguous(request)) return Objection{400, "the framing is ambiguous"};
  if (is_uncarried(request)) return Objection{415, "only plain, whole JSON is carried"};
  return std::nullopt;
}

void add_handlers(httplib::Server& server, const Options& options, Gateway& gateway) {
  server.set_pre_routing_handler([&](const Request& request, Response& response) {
    const auto objection = objection_to(request, options);
    if (!objection) return httplib::Server::HandlerResponse::Unhandled;
    if (objection->status == 405) response.set_header("Allow", "POST, GET, DELETE");
    gateway.refuse(request, response, objection->status, objection->reason);
    return httplib::Server::HandlerResponse::Handled;
  });
  server.Post(".*",
              [&](const Request& request, Response& response, const httplib::ContentReader& read) {
                gateway.post(request, response, read);
              });
  const auto pass = [&](const Request& request, Response& response) {
    gateway.pass(request, response);
  };
  server.Get(".*", pass);
  server.Delete(".*", pass);
  // The default shows the client what was thrown.
  server.set_exception_handler(
      [](const Request&, Response& response, const std::exception_ptr&) { response.status = 500; });
}

}  // namespace

int set_up(httplib::Server& server, const Options& options, Gateway& gateway) {
  add_handlers(server, options, gateway);
  server.new_task_queue = [count = options.connections] { return new httplib::ThreadPool(count); };
  server.set_keep_alive_max_count(100'000);
  server.set_write_timeout(options.stall);
  server.set_tcp_nodelay(true);
  // The default would let a second server share the port.
  server.set_socket_options([](int socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  const int port = options.port != 0 ? options.port : server.bind_to_any_port(options.host);
  const bool is_bound = options.port == 0 ? port > 0 : server.bind_to_port(options.host, port);
  if (!is_bound) throw std::runtime_error("cannot listen on " + options.host);
  return port;
}

}  // namespace gateway
