// Lists over pages: what is taken, what is counted, and where it ends.
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "mcp_server.hpp"

using namespace mcphttp;
using namespace mcphttp::test;

TEST_CASE("tools are listed over all pages, in order and with all their parts") {
  ScriptedServer server(mcp_server(
      {{"tools/list", [](Connection& connection, const Request& request) {
          const Json body = body_of(request);
          if (!body.contains("params")) {
            return answer_json(
                connection, request,
                R"({"tools":[{"name":"a","title":"A","description":"first",)"
                R"("inputSchema":{"type":"object"},"outputSchema":{"type":"string"},)"
                R"("annotations":{"readOnlyHint":true}}],"nextCursor":"p\"2"})");
          }
          if (body["params"]["cursor"] == "p\"2") {
            return answer_json(connection, request, R"({"tools":[],"nextCursor":"3"})");
          }
          answer_json(connection, request, R"({"tools":[{"name":"b","inputSchema":{}}]})");
        }}}));
  Client client = connect(server);
  auto tools = client.list_tools();
  REQUIRE(tools);
  REQUIRE(tools->size() == 2);
  const Tool& first = tools->front();
  CHECK(first.name == "a");
  CHECK(first.title == "A");
  CHECK(first.description == "first");
  CHECK(first.input_schema == R"({"type":"object"})");
  CHECK(first.output_schema == R"({"type":"string"})");
  CHECK(first.annotations == R"({"readOnlyHint":true})");
  CHECK(Json::parse(first.json)["name"] == "a");
  CHECK(tools->back().name == "b");
  CHECK(tools->back().output_schema.empty());
  CHECK(server.requests().size() == 5);
}

TEST_CASE("a list that does not end is list_too_large") {
  struct Case {
    std::string name;
    bool cursor_repeats;
    std::size_t max_pages;
    std::size_t max_size;
    std::size_t pages_read;
    std::string detail;
  };
  const auto list = GENERATE(Case{"the same cursor", true, 1000, 1'000'000, 2, "cursor"},
                             Case{"too many pages", false, 5, 1'000'000, 5, "max_list_pages (5)"},
                             Case{"too many bytes", false, 1000, 200, 6, "max_list_size (200"},
                             Case{"no page at all", false, 0, 200, 0, "max_list_pages (0)"});
  INFO(list.name);
  std::atomic<int> page{0};
  ScriptedServer server(mcp_server(
      {{"tools/list",
        [&, repeats = list.cursor_repeats](Connection& connection, const Request& request) {
          const int cursor = repeats ? 1 : 100 + page++;
          answer_json(connection, request,
                      R"({"tools":[],"nextCursor":"page-)" + std::to_string(cursor) + "\"}");
        }}}));
  auto options = client_options(server);
  options.limits.max_list_pages = list.max_pages;
  options.limits.max_list_size = list.max_size;
  Client client = connect(options);
  auto tools = client.list_tools();
  REQUIRE_FALSE(tools);
  CHECK(code_of(tools) == ErrorCode::list_too_large);
  CHECK(tools.error().detail.find(list.detail) != std::string::npos);
  CHECK(server.requests().size() - 2 == list.pages_read);
}

TEST_CASE("an element of a list or of a typed result counts 256 bytes beside its text") {
  struct Case {
    std::string method;
    std::string result;
    std::optional<ErrorCode> (*use)(Client&);
    ErrorCode code;
  };
  const auto listed = GENERATE(
      Case{"tools/list", R"({"tools":[{},{},{}]})",
           [](Client& client) { return code_of(client.list_tools()); }, ErrorCode::list_too_large},
      Case{"tools/call", R"({"content":[{},{},{}]})",
           [](Client& client) { return code_of(client.call_tool("t", "")); },
           ErrorCode::json_too_large},
      Case{"resources/read", R"({"contents":[{},{},{}]})",
           [](Client& client) { return code_of(client.read_resource("a:b")); },
           ErrorCode::json_too_large},
      Case{"prompts/get", R"({"messages":[{},{},{}]})",
           [](Client& client) { return code_of(client.get_prompt("p", "")); },
           ErrorCode::json_too_large},
      Case{"completion/complete", R"({"completion":{"values":["","",""]}})",
           [](Client& client) { return code_of(client.complete("{}", "a", "")); },
           ErrorCode::json_too_large});
  const std::size_t over = GENERATE(0U, 1U);
  CAPTURE(listed.method, over);
  const std::size_t limit = listed.result.size() + 3 * 256 - over;
  ScriptedServer server(mcp_server({{listed.method, answers(listed.result)}}));
  auto options = client_options(server);
  options.limits.max_list_size = limit;
  options.limits.max_json_response_size = limit;
  options.limits.max_sse_event_size = 0;
  Client client = connect(options);
  CHECK(listed.use(client) == (over == 0 ? std::nullopt : std::optional(listed.code)));
}

TEST_CASE("a list is asked for once more when its connection dies, a tool call is not") {
  std::atomic<int> lists{0};
  ScriptedServer server(mcp_server(
      {{"tools/list",
        [&](Connection& connection, const Request& request) {
          if (lists++ == 0) return connection.reset();
          answer_json(connection, request, R"({"tools":[]})");
        }},
       {"tools/call", [](Connection& connection, const Request&) { connection.reset(); }}}));
  Client client = connect(server);
  CHECK(client.list_tools());
  CHECK(lists == 2);
  auto called = client.call_tool("t", "");
  REQUIRE_FALSE(called);
  CHECK(called.error().code == ErrorCode::connection_lost);
  CHECK(called.error().delivery == Delivery::unknown);
  CHECK(server.requests().size() == 5);
}

TEST_CASE("what cannot be asked for by its name or URI is left out of a list") {
  const std::string elements = R"([7,null,{},{"name":7,"uri":7},{"name":"","uri":""},)"
                               R"({"name":"n","uri":"a:b","uriTemplate":"t"}]})";
  ScriptedServer server(
      mcp_server({{"tools/list", answers(R"({"tools":)" + elements)},
                  {"resources/list", answers(R"({"resources":)" + elements)},
                  {"resources/templates/list", answers(R"({"resourceTemplates":)" + elements)},
                  {"prompts/list", answers(R"({"prompts":)" + elements)}}));
  auto options = client_options(server);
  std::vector<std::string> warnings;
  options.on_warning = [&](const Warning& warning) {
    note_seen(warning);
    CHECK(warning.kind == WarningKind::invalid_tool);
    warnings.push_back(warning.text);
  };
  Client client = connect(options);
  const auto tools = client.list_tools();
  REQUIRE(tools);
  REQUIRE(tools->size() == 1);
  CHECK(tools->front().name == "n");
  CHECK(warnings == std::vector<std::string>(5, "tool (nameless) left out: it has no name"));
  CHECK(client.list_resources()->size() == 1);
  CHECK(client.list_resource_templates()->size() == 1);
  CHECK(client.list_prompts()->size() == 1);
  CHECK(warnings.size() == 5);
}
