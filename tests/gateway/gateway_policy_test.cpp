// Denied tools, held calls, and what the audit says of them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "gateway_process.hpp"
#include "helpers.hpp"

using namespace mcphttp;
using namespace mcphttp::test;
using namespace std::chrono_literals;

namespace {

const std::string listing =
    R"({"tools":[{"name":"rm","x":1},{"name":"ls","y":[2,null]},{"name":"rm"}],)"
    R"("nextCursor":"c","ttlMs":5000,"_meta":{"rm":true}})";
const std::string allowed =
    R"({"tools":[{"name":"ls","y":[2,null]}],"nextCursor":"c","ttlMs":5000,"_meta":{"rm":true}})";

enum class Shape { json, stream };

// Answers every request with that result.
ScriptedServer::Handler answering(const std::string& result, Shape shape) {
  return [=](Connection& connection, const Request& request) {
    if (shape == Shape::json) return answer_json(connection, request, result);
    answer_events(connection, request, result);
  };
}

// The message of a body in either shape.
Json message_in(const std::string& body) {
  const bool is_event = body.rfind("data: ", 0) == 0;
  return Json::parse(is_event ? body.substr(6) : body);
}

std::string post(Downstream& client, const std::string& body) {
  auto response = client.send(body);
  return response ? rest_of(*response) : response.error().to_string();
}

// A command that decides as the content of that file says, once it is there.
std::string waiting_for(const std::string& file) {
  return "while ! [ -s " + file + " ]; do sleep 0.02; done; [ \"$(cat " + file + ")\" = yes ]";
}

void write_whole(const std::string& file, const std::string& text) {
  std::ofstream(file + ".new") << text;
  rename((file + ".new").c_str(), file.c_str());
}

}  // namespace

// --- Denied tools

TEST_CASE("Denied tools are gone from a listing in either shape, and all else is untouched") {
  const Shape shape = GENERATE(Shape::json, Shape::stream);
  ScriptedServer server(answering(listing, shape));
  const GatewayProcess gateway(server.url(), {"--deny", "rm"});
  Downstream client(gateway.url());
  const Json answer = message_in(post(client, list_json));
  CHECK(answer["result"] == Json::parse(allowed));
  CHECK(answer["id"] == 1);
}

TEST_CASE("A listing without denied tools keeps its bytes") {
  const Shape shape = GENERATE(Shape::json, Shape::stream);
  const std::string result = R"({ "tools" : [{"name":"ls", "n":1.50}] })";
  ScriptedServer server(answering(result, shape));
  const GatewayProcess gateway(server.url(), {"--deny", "rm"});
  Downstream client(gateway.url());
  const std::string message = result_json("1", result);
  CHECK(post(client, list_json) == (shape == Shape::json ? message : event(message)));
}

TEST_CASE("A listing over the bound is refused or passed untouched, never half of each") {
  const Shape shape = GENERATE(Shape::json, Shape::stream);
  const bool passes = GENERATE(false, true);
  CAPTURE(shape, passes);
  ScriptedServer server(answering(listing, shape));
  const GatewayProcess gateway(server.url(), {"--deny", "rm", "--max-listing", "50", "--over-limit",
                                              passes ? "pass" : "refuse"});
  Downstream client(gateway.url());
  const std::string body = post(client, list_json);
  if (passes) {
    const std::string message = result_json("1", listing);
    CHECK(body == (shape == Shape::json ? message : event(message)));
  } else {
    CHECK_THAT(message_in(body)["error"]["message"].get<std::string>(),
               Catch::StartsWith("not_inspectable"));
    CHECK_THAT(body, !Catch::Contains("ls"));
  }
}

TEST_CASE("A listing under a Content-Type that is only almost JSON is not passed on") {
  const char* type = GENERATE("application/json-seq", "text/plain, application/json");
  ScriptedServer server([&](Connection& connection, const Request&) {
    connection.write_response(200, {{"Content-Type", type}}, result_json("1", listing));
  });
  const GatewayProcess gateway(server.url(), {"--deny", "rm"});
  Downstream client(gateway.url());
  CHECK_THAT(post(client, list_json), Catch::Contains("not_inspectable") && !Catch::Contains("rm"));
}

TEST_CASE("A listing that comes again on a stream of GET has no denied tools either") {
  ScriptedServer server([](Connection& connection, const Request&) {
    begin_stream(connection);
    send_event(connection, result_json("1", listing));
    connection.end_chunks();
  });
  const GatewayProcess gateway(server.url(), {"--deny", "rm"});
  Downstream client(gateway.url());
  auto response = client.send("", "GET", {{"Last-Event-ID", "7"}});
  REQUIRE(response);
  CHECK(message_in(rest_of(*response))["result"] == Json::parse(allowed));
}

TEST_CASE("A listing that can be read in two ways is not passed on") {
  ScriptedServer server(answering(R"({"tools":[{"name":"rm"}],"t\u006fols":[]})", Shape::json));
  const GatewayProcess gateway(server.url(), {"--deny", "rm"});
  Downstream client(gateway.url());
  const std::string body = post(client, list_json);
  CHECK_THAT(body, Catch::Contains("two ways") && !Catch::Contains("rm"));
}

TEST_CASE("A call of a denied tool, or of who knows which, does not go upstream") {
  ScriptedServer server(answering("{}", Shape::json));
  const GatewayProcess gateway(server.url(), {"--deny", "rm"});
  Downstream client(gateway.url());
  const std::string params = GENERATE(R"({"name":"rm"})", R"({"name":"ls","n\u0061me":"rm"})",
                                      R"({"name":7})", R"({})", R"([])");
  const Json answer = message_in(post(client, call_json(3, params)));
  CHECK(answer["error"]["code"] == -32602);
  CHECK(answer["id"] == 3);
  CHECK(server.requests().empty());
  CHECK(message_in(post(client, tool_call_json(4, "ls")))["result"] == Json::object());
}

// --- Approval

TEST_CASE("A held call goes upstream only after approval") {
  ScriptedServer server(answering("{}", Shape::json));
  const TemporaryFolder folder;
  const GatewayProcess gateway(
      server.url(), {"--approve", "rm", "--approve-command", waiting_for(folder.file("decision"))});
  Downstream client(gateway.url());
  const bool approved = GENERATE(true, false);
  std::string body;
  std::thread caller([&] { body = post(client, tool_call_json(1, "rm", R"({"path":"x"})")); });
  CHECK(gateway.wait_for_line({{"event", "held"}, {"tool", "rm"}}).is_object());
  const bool waited = server.requests().empty();
  // Others go on meanwhile.
  const std::string other = post(client, tool_call_json(2, "ls"));
  const std::size_t before = server.requests().size();
  write_whole(folder.file("decision"), approved ? "yes" : "no");
  caller.join();
  CHECK(waited);
  CHECK(message_in(other)["result"] == Json::object());
  CHECK(before == 1);
  CHECK(server.requests().size() == (approved ? 2 : 1));
  if (approved) CHECK(message_in(body)["result"] == Json::object());
  if (!approved) CHECK(message_in(body)["error"]["code"] == -32000);
}

TEST_CASE("The command that decides is given the tool and its arguments") {
  ScriptedServer server(answering("{}", Shape::json));
  const TemporaryFolder folder;
  const GatewayProcess gateway(
      server.url(), {"--approve", "r m", "--approve-command",
                     "printf %s \"$1\" >" + folder.file("tool") + "; cat >" + folder.file("in")});
  Downstream client(gateway.url());
  CHECK_THAT(post(client, tool_call_json(1, "r m", R"({"path":"\n"})")), Catch::Contains("result"));
  std::string tool;
  std::string input;
  std::getline(std::ifstream(folder.file("tool")), tool);
  std::getline(std::ifstream(folder.file("in")), input);
  CHECK(tool == "r m");
  CHECK(input == R"({"path":"\n"})");
}

TEST_CASE("Silence, and a gateway without a terminal, mean no") {
  ScriptedServer server(answering("{}", Shape::json));
  std::vector<std::string> arguments{"--approve", "rm", "--approve-within", "0.2"};
  if (GENERATE(true, false)) arguments.insert(arguments.end(), {"--approve-command", "sleep 60"});
  const GatewayProcess gateway(server.url(), arguments);
  Downstream client(gateway.url());
  CHECK(message_in(post(client, tool_call_json(1, "rm")))["error"]["code"] == -32000);
  CHECK(server.requests().empty());
}

TEST_CASE("At the terminal only the number of the request allows it") {
  ScriptedServer server(answering("{}", Shape::json));
  const TemporaryFolder folder;
  const std::string terminal = folder.file("terminal");
  REQUIRE(mkfifo(terminal.c_str(), 0600) == 0);
  const Socket typing(open(terminal.c_str(), O_RDWR | O_CLOEXEC));
  const GatewayProcess gateway(server.url(), {"--approve", "rm"}, terminal);
  Downstream client(gateway.url());
  struct Row {
    std::string typed;
    bool allows;
  };
  const auto row =
      GENERATE(values<Row>({{"1\n", true}, {"y\n", false}, {"\n", false}, {"2\n", false}}));
  CAPTURE(row.typed);
  REQUIRE(write(typing.fd(), row.typed.data(), row.typed.size()) > 0);
  const Json answer = message_in(post(client, tool_call_json(1, "rm", R"({"a":"\u001b[2J"})")));
  CHECK(answer.contains("result") == row.allows);
  CHECK(server.requests().size() == (row.allows ? 1 : 0));
  CHECK_THAT(gateway.log(), Catch::Contains(R"(Request 1 calls "rm" with {"a":"\u001b[2J"})"));
}

// --- Audit

TEST_CASE("Every line of a request carries its number, its id and its tool") {
  ScriptedServer server([](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, progress_json("1", 1));
    send_event(connection, progress_json("1", 2));
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  const GatewayProcess gateway(server.url());
  // Two clients may use the same id.
  Downstream first(gateway.url());
  Downstream second(gateway.url());
  std::string other;
  std::thread caller([&] { other = post(second, tool_call_json(5, "cp")); });
  const std::string body = post(first, tool_call_json(5, "mv"));
  caller.join();
  CHECK(body == other);
  for (const char* tool : {"mv", "cp"}) {
    CAPTURE(tool);
    const Json end = gateway.wait_for_line({{"event", "end"}, {"tool", tool}});
    REQUIRE(end.is_object());
    std::vector<std::string> events;
    std::vector<std::string> sent;
    std::size_t bytes = 0;
    for (const Json& line : gateway.audit()) {
      if (line["request"] != end["request"]) continue;
      events.push_back(line["event"]);
      if (line["event"] != "request") CHECK((line["tool"] == tool && line["id"] == 5));
      if (line["event"] != "sent") continue;
      bytes += line["bytes"].get<std::size_t>();
      for (const Json& message : line["messages"]) sent.push_back(message.dump());
    }
    CHECK(events ==
          std::vector<std::string>{"request", "call", "head", "sent", "sent", "sent", "end"});
    const std::string progress = R"({"method":"notifications/progress"})";
    CHECK(sent == std::vector<std::string>{progress, progress, R"({"id":5})"});
    CHECK(bytes == body.size());
    CHECK(end["bytes"] == body.size());
    CHECK(end["upstream"] == "answered");
    CHECK(end["downstream"] == "clean");
  }
}

TEST_CASE("Foreign text cannot break a line of the audit or make one longer than it should be") {
  const std::string name = "a\\n{}\\u001b" + std::string(5000, 'x');
  ScriptedServer server([&](Connection& connection, const Request& request) {
    begin_stream(connection);
    send_event(connection, R"({"jsonrpc":"2.0","method":")" + name + "\"}");
    send_event(connection, result_json(id_of(request)));
    connection.end_chunks();
  });
  const GatewayProcess gateway(server.url());
  Downstream client(gateway.url());
  post(client, R"({"jsonrpc":"2.0","id":")" + name +
                   R"(","method":"tools/call","params":{"name":")" + name + "\"}}");
  REQUIRE(gateway.wait_for_line({{"event", "end"}, {"upstream", "answered"}}).is_object());
  const std::vector<Json> lines = gateway.audit();
  CHECK(lines.size() == 6);
  for (const Json& line : lines) CHECK(line.dump().size() < 2000);
}
