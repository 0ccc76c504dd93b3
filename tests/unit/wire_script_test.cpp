// Cases become scripts, and scripts become bytes on the wire.
#include "wire/script.hpp"

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "support/gate.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_server.hpp"
#include "wire/replay.hpp"

using namespace mcphttp::test;
using namespace mcphttp::test::wire;
using namespace std::chrono_literals;

namespace {

const Json post_request = Json::parse(R"({"method": "POST", "rpc": "tools/call", "id": 1})");

Json make_case(const std::string& steps, const std::string& framing = "chunked") {
  return {{"id", "T1"},
          {"setup", "none"},
          {"framing", framing},
          {"request", post_request},
          {"expect", Json::object()},
          {"server", Json::parse(steps)}};
}

std::string error_of(const Json& line) {
  const auto script = parse_script(line.dump());
  return script ? "" : script.error();
}

Script script_of(const Json& line) { return parse_script(line.dump()).value(); }

// Replays the first reply of a case to a request with this body.
ReadResult replay(const Json& line, const std::string& body) {
  const Script script = script_of(line);
  ReceivedIds ids(script);
  ScriptedServer server([&](Connection& connection, const Request& request) {
    play(script.replies.front(), connection, request, {1234, 5678, 1, &ids});
  });
  RawClient client(connect_loopback(AF_INET, server.port()));
  client.post(body);
  return client.read_all();
}

constexpr std::string_view ok_line = "HTTP/1.1 200 OK\r\n";

}  // namespace

TEST_CASE("a case is parsed whole") {
  Json line = make_case(
      R"([{"step":"delay_ms","n":5},{"step":"status","code":103},{"step":"header","name":"A","value":"b"},
    {"step":"status","code":200},{"step":"flush"},{"step":"body","base64":"AP9hYg=="},
    {"step":"repeat","text":"x","times":3,"per_write":2},{"step":"close","abrupt":true}])");
  line["setup"] = "session";
  line["title"] = "t";
  line["note"] = "for readers";
  line["config"] = {{"follow_redirects", "none"}, {"auto_reinitialize", true}, {"queue_bytes", 9}};
  line["limits"] = {{"total_ms", 70}, {"json_depth", 3}};
  line["expect"] = {{"outcome", "result"}};
  line["request"]["headers"] = {{"X-Api-Key", "k0"}};
  line["request"]["body_bytes"] = 77;
  line["then"] = Json::array({{{"request", {{"method", "GET"}}},
                               {"framing", "raw"},
                               {"parallel", true},
                               {"server", Json::array({{{"step", "reset"}}})}}});
  const Script script = script_of(line);
  CHECK(script.id == "T1");
  CHECK(script.title == "t");
  CHECK(script.setup == Setup::session);
  CHECK(script.config.follow_redirects == mcphttp::Redirects::none);
  CHECK(script.config.auto_reinitialize);
  CHECK(script.config.max_redirects == 5);
  CHECK(script.config.queue_bytes == std::size_t{9});
  CHECK(script.limits.total == 70ms);
  CHECK(script.limits.json_depth == 3);
  CHECK(script.limits.event_bytes == 1048576);
  CHECK(script.expect["outcome"] == "result");
  REQUIRE(script.replies.size() == 2);

  const Reply& first = script.replies[0];
  CHECK(first.request.rpc == "tools/call");
  CHECK(first.request.id == Json(1));
  CHECK(first.request.headers.at(0).value == "k0");
  CHECK(first.request.body_bytes == 77);
  REQUIRE(first.steps.size() == 8);
  CHECK(std::get<DelayStep>(first.steps[0]).duration == 5ms);
  CHECK(std::get<BodyStep>(first.steps[5]).bytes == std::string("\0\xff"
                                                                "ab",
                                                                4));
  CHECK(std::get<RepeatStep>(first.steps[6]).per_write == 2);
  CHECK(std::get<CloseStep>(first.steps[7]).abrupt);

  const Reply& second = script.replies[1];
  CHECK(second.framing == Framing::raw);
  CHECK(second.parallel);
  CHECK_FALSE(second.request.id);
}

TEST_CASE("what a script does not know is an error, never skipped") {
  struct Case {
    std::string where;  // JSON pointer of the value that is set
    Json value;
    std::string error;
  };
  const std::vector<Case> cases{
      {"/server/0/step", "sing", "T1: server step 1: unknown step sing"},
      {"/server/0/volume", 11, "T1: server step 1: unknown key volume"},
      {"/server/0/code", "200", "T1: server step 1: code has the wrong type or range"},
      {"/server/0/code", 20, "T1: server step 1: code has no three digits"},
      {"/server/1/base64", "AA==", "T1: server step 2: wants either text or base64"},
      {"/server/2/abrupt", 1, "T1: server step 3: abrupt has the wrong type or range"},
      {"/server", 1, "T1: server: is not a list of steps"},
      {"/framing", "morse", "T1: case: framing cannot be \"morse\""},
      {"/setup", "odd", "T1: case: setup cannot be \"odd\""},
      {"/colour", "red", "T1: case: unknown key colour"},
      {"/request/id", true, "T1: server request: id is no JSON-RPC id"},
      {"/request/verb", "GET", "T1: server request: unknown key verb"},
      {"/request/headers", Json{{"A", 1}}, "T1: server request: header A is not a string"},
      {"/config", Json{{"speed", 1}}, "T1: config: unknown key speed"},
      {"/limits", Json{{"idle_ms", -1}}, "T1: limits: idle_ms has the wrong type or range"},
      {"/then", Json::array({Json::object()}), "T1: then 1: request is missing"},
      {"/then", 1, "T1: then: is not a list"},
  };
  for (const Case& c : cases) {
    Json line =
        make_case(R"([{"step":"status","code":200},{"step":"body","text":"x"},{"step":"close"}])");
    line[Json::json_pointer(c.where)] = c.value;
    CHECK(error_of(line) == c.error);
  }
  CHECK(parse_script("{").error() == "the line is not JSON");
  CHECK(parse_script("[]").error() == "case: is not an object");
}

TEST_CASE("steps in an order that has no meaning on the wire are an error") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"([{"step":"header","name":"a","value":"b"}])",
       "T1: server step 1: a header outside a header block"},
      {R"([{"step":"body","text":"a"}])", "T1: server step 1: a body before the final status"},
      {R"([{"step":"status","code":100},{"step":"body","text":"a"}])",
       "T1: server step 2: a body before the final status"},
      {R"([{"step":"status","code":200},{"step":"flush"},{"step":"header","name":"a","value":"b"}])",
       "T1: server step 3: a header outside a header block"},
      {R"([{"step":"status","code":200},{"step":"status","code":200}])",
       "T1: server step 2: a status after the final one"},
      {R"([{"step":"close"},{"step":"flush"}])",
       "T1: server step 2: nothing can follow close or reset"},
  };
  for (const auto& c : cases) CHECK(error_of(make_case(c.first)) == c.second);
}

TEST_CASE("a reply is replayed byte for byte") {
  struct Case {
    std::string framing;
    std::string steps;  // after a status of 200
    std::string bytes;  // after the status line
    StreamEnd end;
  };
  const std::vector<Case> cases{
      {"chunked", R"({"step":"body","text":"ab"},{"step":"body","text":""},{"step":"close"})",
       "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", StreamEnd::fin},
      {"chunked",
       R"({"step":"repeat","text":"xy","times":5,"per_write":2},{"step":"close","abrupt":true})",
       "Transfer-Encoding: chunked\r\n\r\n4\r\nxyxy\r\n4\r\nxyxy\r\n2\r\nxy\r\n", StreamEnd::fin},
      {"chunked", R"({"step":"close"})", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       StreamEnd::fin},
      {"length",
       R"({"step":"flush"},{"step":"body","text":"ab"},{"step":"repeat","text":"xy","times":2},{"step":"close"})",
       "Content-Length: 6\r\n\r\nabxyxy", StreamEnd::fin},
      {"close",
       R"({"step":"header","name":"A","value":"{port},{other_port},ö"},{"step":"body","text":"ab"},{"step":"close"})",
       "A: 1234,5678,ö\r\n\r\nab", StreamEnd::fin},
      {"raw",
       R"({"step":"header","name":"Content-Length","value":"9"},{"step":"body","text":"ab"},{"step":"close"})",
       "Content-Length: 9\r\n\r\nab", StreamEnd::fin},
      {"raw", R"({"step":"body","text":"ab"},{"step":"reset"})", "\r\nab", StreamEnd::reset},
      {"chunked", R"({"step":"reset"})", "Transfer-Encoding: chunked\r\n\r\n", StreamEnd::reset},
  };
  for (const Case& c : cases) {
    const std::string steps = R"([{"step":"status","code":200},)" + c.steps + "]";
    INFO(c.framing << " " << steps);
    const ReadResult got = replay(make_case(steps, c.framing), R"({"id":1})");
    CHECK(got.bytes == std::string(ok_line) + c.bytes);
    CHECK(got.end == c.end);
  }
}

TEST_CASE("only the final header block gets the header of the framing") {
  const Json line =
      make_case(R"([{"step":"status","code":103},{"step":"header","name":"A","value":"b"},
    {"step":"status","code":200},{"step":"body","text":"x"},{"step":"close"}])",
                "length");
  CHECK(replay(line, "{}").bytes ==
        "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
}

TEST_CASE("a reply without status is nothing but its end") {
  const ReadResult got = replay(make_case(R"([{"step":"close"}])"), "{}");
  CHECK(got.bytes.empty());
  CHECK(got.end == StreamEnd::fin);
}

TEST_CASE("a reply without close leaves the connection open for the next request") {
  const Script script = script_of(
      make_case(R"([{"step":"status","code":200},{"step":"body","text":"x"}])", "length"));
  Gate played;
  ScriptedServer server([&](Connection& connection, const Request& request) {
    if (play(script.replies.front(), connection, request, {})) played.open();
  });
  RawClient client(connect_loopback(AF_INET, server.port()));
  const std::string expected = std::string(ok_line) + "Content-Length: 1\r\n\r\nx";
  for (int i = 0; i < 2; ++i) {
    CHECK(client.post("{}"));
    CHECK(client.read(expected.size()).bytes == expected);
  }
  CHECK(played.wait_for(2));
  CHECK(server.connections_accepted() == 1);
}

TEST_CASE("the header block alone goes out after the last step") {
  const Json line = make_case(R"([{"step":"delay_ms","n":1},{"step":"status","code":204}])", "raw");
  const Script script = script_of(line);
  ScriptedServer server([&](Connection& connection, const Request& request) {
    play(script.replies.front(), connection, request, {});
    connection.close();
  });
  RawClient client(connect_loopback(AF_INET, server.port()));
  CHECK(client.post("{}"));
  CHECK(client.read_all().bytes == "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST_CASE("a replay stops when the client has gone") {
  const Script script = script_of(make_case(
      R"([{"step":"status","code":200},{"step":"body","text":"x"},{"step":"repeat","text":"y","times":67108864,"per_write":65536}])"));
  Gate ended;
  std::atomic<bool> complete{true};
  ScriptedServer server([&](Connection& connection, const Request& request) {
    complete = play(script.replies.front(), connection, request, {});
    ended.open();
  });
  RawClient client(connect_loopback(AF_INET, server.port()));
  CHECK(client.post("{}"));
  CHECK(client.read(100).bytes.size() >= 100);
  client.close();
  CHECK(ended.wait());
  CHECK_FALSE(complete);
}

TEST_CASE("pauses are multiplied by the time scale") {
  const Script script = script_of(make_case(R"([{"step":"delay_ms","n":20},{"step":"close"}])"));
  ScriptedServer server([&](Connection& connection, const Request& request) {
    play(script.replies.front(), connection, request, {0, 0, 5, nullptr});
  });
  RawClient client(connect_loopback(AF_INET, server.port()));
  const auto begin = std::chrono::steady_clock::now();
  CHECK(client.post("{}"));
  CHECK(client.read_all().end == StreamEnd::fin);
  CHECK(std::chrono::steady_clock::now() - begin >= 100ms);
}

TEST_CASE("the client's own id stands where the script writes that of the request") {
  struct Case {
    Json scripted;
    Json received;
    std::string text;
    std::string expected;
  };
  const std::vector<Case> cases{
      {1, 42, R"({"id":1,"a":1})", R"({"id":42,"a":1})"},
      {1, 42, "{\"id\" :\r\n\t1 }", "{\"id\" :\r\n\t42 }"},
      {1, 42, R"({"id":"1"})", R"({"id":"42"})"},
      {1, 42, R"({"id":12},{"id":1.5},{"id":null},{"id":"11"})",
       R"({"id":12},{"id":1.5},{"id":null},{"id":"11"})"},
      {1, "s", R"({"id":1},{"id":"1"})", R"({"id":"s"},{"id":"s"})"},
      {"a", 7, R"({"id":"a"},{"id":"b"})", R"({"id":7},{"id":"b"})"},
      {1, 42, R"({"requestId":1,"progressToken":1})", R"({"requestId":42,"progressToken":1})"},
      {1, 42, R"({"io.modelcontextprotocol/subscriptionId":1,"id":1})",
       R"({"io.modelcontextprotocol/subscriptionId":42,"id":42})"},
      {1, 42, R"({"text":"\"id\":1"})", R"({"text":"\"id\":1"})"},
      {1, 42, R"("id")", R"("id")"},
      {1, 42, "id: 1\ndata: {\"id\":1,\r", "id: 1\ndata: {\"id\":42,\r"},
  };
  for (const Case& c : cases) {
    CHECK(with_received_id(c.text, {c.scripted, c.received}) == c.expected);
  }
}

TEST_CASE("an id is found although the writes cut it") {
  Json line = make_case(
      R"([{"step":"status","code":200},{"step":"body","text":"{\"i"},{"step":"body","text":"d\":1"},
    {"step":"flush"},{"step":"body","text":"7,"},{"step":"repeat","text":"{\"id\":17}","times":2,"per_write":2},
    {"step":"body","text":"\"id\":18}"},{"step":"close"}])");
  line["request"]["id"] = 17;
  CHECK(replay(line, R"({"id":99999})").bytes ==
        std::string(ok_line) + "Transfer-Encoding: chunked\r\n\r\n" +
            "3\r\n{\"i\r\n8\r\nd\":99999\r\n1\r\n,\r\n" +
            "18\r\n{\"id\":99999}{\"id\":99999}\r\n8\r\n\"id\":18}\r\n0\r\n\r\n");
}

TEST_CASE("Content-Length counts the id that is really written") {
  const Json line = make_case(
      R"([{"step":"status","code":200},{"step":"body","text":"{\"id\":1}"},{"step":"close"}])",
      "length");
  CHECK(replay(line, R"({"id":123})").bytes ==
        std::string(ok_line) + "Content-Length: 10\r\n\r\n{\"id\":123}");
}

TEST_CASE("raw framing refuses an id of another length") {
  const Script script = script_of(make_case(
      R"([{"step":"status","code":200},{"step":"body","text":"{\"id\":1}"},{"step":"close"}])",
      "raw"));
  ReceivedIds ids(script);
  ScriptedServer server([&](Connection& connection, const Request& request) {
    play(script.replies.front(), connection, request, {0, 0, 1, &ids});
  });
  RawClient client(connect_loopback(AF_INET, server.port()));
  CHECK(client.post(R"({"id":10})"));
  CHECK(client.read_all().bytes.empty());
  CHECK(server.faults() ==
        std::vector<std::string>{"exception: raw framing fixes the length of the id"});
}

TEST_CASE("a request without an id is answered with the id of the case") {
  Json line = make_case("[]");
  line["then"] =
      Json::array({{{"request", {{"method", "GET"}}}, {"server", Json::array()}},
                   {{"request", {{"method", "POST"}, {"id", 0}}}, {"server", Json::array()}}});
  const Script script = script_of(line);
  ReceivedIds ids(script);
  const auto note = [&](std::size_t reply, const std::string& body) {
    Request request;
    request.body = body;
    return ids.note(script.replies[reply].request, request);
  };
  CHECK_FALSE(note(1, ""));
  CHECK(note(0, R"({"id":"first"})")->received == "first");
  CHECK(note(1, "")->received == "first");
  CHECK(note(2, R"({"id":8})")->received == 8);
  CHECK(note(2, R"({"id":8})")->scripted == 0);
  CHECK(note(1, "")->received == "first");
}
