// A small MCP server on loopback for the agent example: Streamable HTTP, MCP 2025-11-25. It stands
// in for a real server and is no part of the library.
//
//   demo_server [--port N]    0, the default, takes a free port; the endpoint is printed
#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <thread>

namespace {

using httplib::DataSink;
using httplib::Request;
using httplib::Response;
using nlohmann::json;

constexpr const char* tools = R"({"tools":[
  {"name":"build","description":"Builds a target and reports each step as progress.",
   "inputSchema":{"type":"object","properties":{
     "target":{"type":"string"},"steps":{"type":"integer"}}}},
  {"name":"echo","description":"Returns its text.",
   "inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}},
  {"name":"flood","description":"Answers with more than anybody wants to read.",
   "inputSchema":{"type":"object","properties":{"megabytes":{"type":"integer"}}}}]})";

class Sessions {
 public:
  std::string open() {
    std::random_device random;
    std::string id = "demo";
    for (int i = 0; i < 4; ++i) id += '-' + std::to_string(random());
    const std::lock_guard lock(mutex_);
    return *ids_.insert(id).first;
  }
  bool contains(const std::string& id) {
    const std::lock_guard lock(mutex_);
    return ids_.count(id) == 1;
  }
  bool close(const std::string& id) {
    const std::lock_guard lock(mutex_);
    return ids_.erase(id) == 1;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> ids_;
};

json result(const json& id, const json& value) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", value}};
}

json text_result(const json& id, const std::string& text) {
  return result(id, {{"content", {{{"type", "text"}, {"text", text}}}}});
}

void answer(Response& res, const json& message) {
  res.set_content(message.dump(), "application/json");
}

void refuse(Response& res, int status, const json& id, int code, const char* text) {
  res.status = status;
  answer(res, {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", text}}}});
}

int count(const json& arguments, const char* name, double fallback) {
  return static_cast<int>(std::clamp(arguments.value(name, fallback), 1.0, 4096.0));
}

bool send_event(DataSink& sink, const json& message) {
  const std::string event = "event: message\ndata: " + message.dump() + "\n\n";
  return sink.write(event.data(), event.size());
}

// One progress event a step, if the caller gave a token, then the result. Called for each event.
void build(Response& res, const json& id, const json& params, const json& arguments) {
  const std::string target = arguments.value("target", "all");
  const int steps = count(arguments, "steps", 10);
  const json token = params.value("/_meta/progressToken"_json_pointer, json());
  const auto next = [=, step = 0](std::size_t, DataSink& sink) mutable {
    if (step == steps) {
      send_event(sink, text_result(id, target + ": " + std::to_string(steps) + " steps done"));
      sink.done();
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const std::string text = (step++ < steps / 2 ? "compile " : "link ") + target;
    const json progress = {
        {"progressToken", token}, {"progress", step}, {"total", steps}, {"message", text}};
    const json message = {
        {"jsonrpc", "2.0"}, {"method", "notifications/progress"}, {"params", progress}};
    return token.is_null() ? sink.is_writable() : send_event(sink, message);
  };
  res.set_chunked_content_provider("text/event-stream", next);
}

// A well-formed reply of that many MiB and no Content-Length, made while it is sent.
void flood(Response& res, const json& id, const json& arguments) {
  const int pieces = count(arguments, "megabytes", 1);
  const std::string frame = text_result(id, "").dump();
  const std::size_t middle = frame.find("\"\"") + 1;
  const auto next = [=, piece = 0](std::size_t, DataSink& sink) mutable {
    static const std::string filling(std::size_t{1024} * 1024, 'x');
    if (piece == 0) sink.write(frame.data(), middle);
    if (piece++ < pieces) return sink.write(filling.data(), filling.size());
    sink.write(frame.data() + middle, frame.size() - middle);
    sink.done();
    return true;
  };
  res.set_chunked_content_provider("application/json", next);
}

void call(Response& res, const json& id, const std::string& method, const json& params) {
  if (method == "ping") return answer(res, result(id, json::object()));
  if (method == "tools/list") return answer(res, result(id, json::parse(tools)));
  if (method != "tools/call") return refuse(res, 200, id, -32601, "unknown method");
  const std::string name = params.at("name");
  const json arguments = params.value("arguments", json::object());
  if (name == "build") return build(res, id, params, arguments);
  if (name == "echo") return answer(res, text_result(id, arguments.at("text")));
  if (name == "flood") return flood(res, id, arguments);
  refuse(res, 200, id, -32602, "unknown tool");
}

void initialize(Response& res, const json& id, Sessions& sessions) {
  res.set_header("MCP-Session-Id", sessions.open());
  answer(res, result(id, {{"protocolVersion", "2025-11-25"},
                          {"capabilities", {{"tools", json::object()}}},
                          {"serverInfo", {{"name", "demo_server"}, {"version", "1.0.0"}}}}));
}

void post(const Request& req, Response& res, Sessions& sessions) try {
  const json message = json::parse(req.body);
  const json id = message.value("id", json());
  const std::string method = message.value("method", "");
  if (method == "initialize") return initialize(res, id, sessions);
  // A method of later revisions; the refusal sends such a client on to initialize.
  if (method == "server/discover") return refuse(res, 404, id, -32601, "unknown method");
  if (!sessions.contains(req.get_header_value("MCP-Session-Id"))) {
    return refuse(res, 404, id, -32600, "unknown session");
  }
  if (id.is_null()) return void(res.status = 202);
  call(res, id, method, message.value("params", json::object()));
} catch (const json::exception&) {
  refuse(res, 400, nullptr, -32600, "malformed request");
}

// No web page of another origin may reach a server on loopback (MCP 2025-11-25, Transports).
httplib::Server::HandlerResponse check_origin(const Request& req, Response& res) {
  static const std::regex loopback(R"(https?://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?)");
  if (!req.has_header("Origin") || std::regex_match(req.get_header_value("Origin"), loopback)) {
    return httplib::Server::HandlerResponse::Unhandled;
  }
  res.status = 403;
  // Closes: the body that was not read would be taken for the next request, without an Origin.
  res.set_content_provider("text/plain", [](std::size_t, DataSink&) { return false; });
  return httplib::Server::HandlerResponse::Handled;
}

}  // namespace

int main(int argc, char** argv) {
  Sessions sessions;
  httplib::Server server;
  server.set_tcp_nodelay(true);
  // The default would let a second server share the port.
  server.set_socket_options([](int socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_keep_alive_max_count(100000);
  server.set_pre_routing_handler(check_origin);
  server.Post("/mcp", [&](const Request& req, Response& res) { post(req, res, sessions); });
  server.Get("/mcp", [](const Request&, Response& res) { res.status = 405; });
  server.Delete("/mcp", [&](const Request& req, Response& res) {
    res.status = sessions.close(req.get_header_value("MCP-Session-Id")) ? 200 : 404;
  });

  int port = argc == 3 && std::string(argv[1]) == "--port" ? std::atoi(argv[2]) : 0;
  if (port == 0) {
    port = server.bind_to_any_port("127.0.0.1");
  } else if (!server.bind_to_port("127.0.0.1", port)) {
    port = -1;
  }
  if (port < 0) return std::cerr << "demo_server: cannot listen\n", 1;

  std::cout << "listening on http://127.0.0.1:" << port << "/mcp" << std::endl;
  server.listen_after_bind();
}
