// The program that the official conformance suite drives (conformance.sh): it plays one scenario
// against the server whose URL is the last argument. The suite judges what the server saw; the exit
// code says only that everything the scenario asks for succeeded.
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include <mcphttp/client.hpp>

using namespace mcphttp;
using Json = nlohmann::json;

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// The value of a Result, or the end of the scenario.
template <class T>
T expect(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// Fills a form as a user would who agrees to everything: the defaults, and yes.
Json fill_in(const Json& schema) {
  Json content = Json::object();
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [name, property] : properties.items()) {
    if (property.contains("default")) {
      content[name] = property["default"];
    } else if (property.value("type", "") == "boolean") {
      content[name] = true;
    }
  }
  return content;
}

void accept_form(const Message& request, Responder responder) {
  const Json params = Json::parse(request.params());
  const Json answer = {{"action", "accept"},
                       {"content", fill_in(params.value("requestedSchema", Json::object()))}};
  expect(responder.result(answer.dump()));
}

struct Setup {
  ClientOptions options;
  Json context;  // what the suite tells the scenario's client; null for most
};

Client connect(const Setup& setup) { return expect(Client::connect(setup.options)); }

Client connect_with_forms(Setup setup) {
  setup.options.request_handlers.emplace("elicitation/create", accept_form);
  return connect(setup);
}

void decline(const Message& /*request*/, Responder responder) { responder.error(-1, "declined"); }

// --- Scenarios -----------------------------------------------------------------------------------

void list_tools(const Setup& setup) {
  Client client = connect(setup);
  expect(client.list_tools());
  expect(client.close());
}

// The suite also judges how capabilities are declared: all of them, here.
void list_tools_with_every_capability(Setup setup) {
  for (const char* method : {"elicitation/create", "sampling/createMessage", "roots/list"})
    setup.options.request_handlers.emplace(method, decline);
  list_tools(setup);
}

void add_numbers(const Setup& setup) {
  Client client = connect(setup);
  expect(client.list_tools());
  expect(client.call_tool("add_numbers", R"({"a":5,"b":3})"));
  expect(client.close());
}

// Calls every tool on offer without arguments.
void call_listed_tools(Client& client) {
  for (const Tool& tool : expect(client.list_tools())) expect(client.call_tool(tool.name, "{}"));
}

void answer_forms(const Setup& setup) {
  Client client = connect_with_forms(setup);
  call_listed_tools(client);
}

// Without handlers: those would open a stream of the server's own messages, which the suite would
// take for the one resumed.
void survive_closed_stream(const Setup& setup) {
  Client client = connect(setup);
  call_listed_tools(client);
}

void use_every_kind(const Setup& setup) {
  Client client = connect(setup);
  call_listed_tools(client);
  for (const Resource& resource : expect(client.list_resources()))
    expect(client.read_resource(resource.uri));
  for (const Prompt& prompt : expect(client.list_prompts()))
    expect(client.get_prompt(prompt.name, "{}"));
}

void call_tools_of_context(const Setup& setup) {
  Client client = connect(setup);
  expect(client.list_tools());
  for (const Json& call : setup.context.at("toolCalls")) {
    expect(client.call_tool(call.at("name").get<std::string>(), call.at("arguments").dump()));
  }
}

void call_valid_tools(const Setup& setup) {
  Client client = connect(setup);
  for (const Tool& tool : expect(client.list_tools()))
    expect(client.call_tool(tool.name, R"({"region":"us-west1"})"));
}

// Sends each schema back exactly as it was listed.
void echo_schemas(const Setup& setup) {
  const std::string echo = "json_schema_echo";
  Client client = connect(setup);
  for (const Tool& tool : expect(client.list_tools())) {
    if (tool.name != echo)
      expect(client.call_tool(echo, R"({"schema":)" + tool.input_schema + "}"));
  }
}

using Scenario = std::function<void(const Setup&)>;

const std::map<std::string, Scenario> scenarios{
    {"initialize", list_tools},
    {"tools_call", add_numbers},
    {"elicitation-sep1034-client-defaults", answer_forms},
    {"sse-retry", survive_closed_stream},
    {"request-metadata", list_tools_with_every_capability},
    {"http-standard-headers", use_every_kind},
    {"http-custom-headers", call_tools_of_context},
    {"http-invalid-tool-headers", call_valid_tools},
    {"sep-2322-client-request-state", answer_forms},
    {"json-schema-ref-no-deref", list_tools},
    {"json-schema-2020-12-preservation", echo_schemas},
};

Setup read_setup(std::string url) {
  Setup setup;
  setup.options.url = std::move(url);
  setup.options.client_info = {"mcphttp-conformance", "1.0.0"};
  const bool is_modern = environment("MCP_CONFORMANCE_PROTOCOL_VERSION") == "2026-07-28";
  setup.options.era = is_modern ? Era::modern : Era::legacy;
  setup.options.on_warning = [](const Warning& warning) { std::cerr << warning.text << '\n'; };
  const std::string context = environment("MCP_CONFORMANCE_CONTEXT");
  if (!context.empty()) setup.context = Json::parse(context);
  return setup;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw std::runtime_error("usage: conformance_client URL");
  scenarios.at(environment("MCP_CONFORMANCE_SCENARIO"))(read_setup(argv[argc - 1]));
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
