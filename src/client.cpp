#include <mcphttp/client.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "client_state.hpp"
#include "response_state.hpp"
#include "rpc.hpp"
#include "types.hpp"

namespace mcphttp {
namespace {

// What takes many times the memory of its text is counted against the limit of the text.
bool is_within(json::Value result, std::size_t limit) {
  const std::size_t left = limit - std::min(limit, result.raw().size());
  // An element has a comma or bracket behind it: most results need not be counted.
  const std::size_t most = result.raw().size() / 2;
  return most <= left / element_holder || count_elements(result) <= left / element_holder;
}

template <class To>
auto convert(const Result<Message>& answer, const ResponseLimits& limits, To to)
    -> Result<decltype(to(json::Value()))> {
  if (!answer) return tl::unexpected(answer.error());
  const json::Value result(answer->result());
  if (auto checked = rpc::check_result_object(result); !checked)
    return tl::unexpected(std::move(checked.error()));
  const std::size_t limit = std::max(limits.max_json_response_size, limits.max_sse_event_size);
  if (!is_within(result, limit)) {
    Error error =
        usage_error(ErrorCode::json_too_large,
                    fmt::format("max_json_response_size ({} bytes) exceeded by the elements of a "
                                "result",
                                limit));
    error.delivery = Delivery::answered;
    return tl::unexpected(std::move(error));
  }
  return to(result);
}

// `name` is the member by which an item is asked for: without it there is nothing to ask for.
template <class State, class To, class Name>
auto list_all(State& state, std::string_view method, std::string_view member,
              const CallOptions& options, To to, Name name)
    -> Result<std::vector<decltype(to(json::Value()))>> {
  std::vector<decltype(to(json::Value()))> items;
  auto listed = state.list(
      method, member, options, [&] { items.clear(); },
      [&](json::Value element) {
        auto item = to(element);
        if (!(item.*name).empty()) items.push_back(std::move(item));
      });
  if (!listed) return tl::unexpected(std::move(listed.error()));
  return items;
}

Result<void> first_fault(Result<void> one, Result<void> other) {
  return one ? std::move(other) : std::move(one);
}

}  // namespace

Result<Client> Client::connect(ClientOptions options) {
  return connect(std::move(options), EventLoop());
}

Result<Client> Client::connect(ClientOptions options, EventLoop loop) {
  auto checked = first_fault(
      rpc::check_params("capabilities", options.capabilities, options.limits.max_json_depth),
      first_fault(rpc::check_text("client_info", options.client_info.name),
                  rpc::check_text("client_info", options.client_info.version)));
  if (!checked) return tl::unexpected(std::move(checked.error()));
  auto transport = Transport::State::create(options, std::move(loop.core_));
  if (!transport) return tl::unexpected(std::move(transport.error()));
  options.capabilities =
      with_handler_capabilities(std::move(options.capabilities), options.request_handlers);
  auto state = std::make_shared<State>(std::move(options), std::move(*transport));
  auto connected = state->connect();
  if (!connected) return tl::unexpected(std::move(connected.error()));
  return Client(std::move(state));
}

Client::Client(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;

Client& Client::operator=(Client&& other) noexcept {
  Client(std::move(other)).state_.swap(state_);
  return *this;
}

Client::~Client() {
  if (!state_) return;
  if (state_->options.close_on_destruction) close();
  state_->end();
}

Result<void> Client::close() { return state_->close(); }

const ServerInfo& Client::server() const noexcept { return state_->server; }

std::string Client::session_id() const { return state_->session_id(); }

// --- Tools ---------------------------------------------------------------------------------------

Result<ToolResult> Client::call_tool(std::string_view name, std::string_view arguments,
                                     const CallOptions& options) {
  auto checked =
      first_fault(rpc::check_text("name", name), state_->check("arguments", arguments, 2));
  if (!checked) return tl::unexpected(std::move(checked.error()));
  return convert(state_->request("tools/call", rpc::make_named_params(name, arguments), options),
                 state_->options.limits, to_tool_result);
}

Call Client::start_tool(std::string_view name, std::string_view arguments, CallOptions options,
                        ToolHandler on_done) {
  auto checked =
      first_fault(rpc::check_text("name", name), state_->check("arguments", arguments, 2));
  return state_->start("tools/call", std::move(checked), rpc::make_named_params(name, arguments),
                       std::move(options),
                       [on_done = std::move(on_done),
                        limits = state_->options.limits](const Result<Message>& answer) {
                         if (on_done) on_done(convert(answer, limits, to_tool_result));
                       });
}

Result<std::vector<Tool>> Client::list_tools(const CallOptions& options) {
  std::vector<Tool> tools;
  auto listed = state_->list(
      "tools/list", "tools", options, [&] { tools.clear(); },
      [&](json::Value definition) {
        if (auto tool = state_->take_tool(definition)) tools.push_back(std::move(*tool));
      });
  if (!listed) return tl::unexpected(std::move(listed.error()));
  return tools;
}

// --- Resources, prompts, completion --------------------------------------------------------------

Result<std::vector<Resource>> Client::list_resources(const CallOptions& options) {
  return list_all(*state_, "resources/list", "resources", options, to_resource, &Resource::uri);
}

Result<std::vector<ResourceTemplate>> Client::list_resource_templates(const CallOptions& options) {
  return list_all(*state_, "resources/templates/list", "resourceTemplates", options,
                  to_resource_template, &ResourceTemplate::uri_template);
}

Result<std::vector<Prompt>> Client::list_prompts(const CallOptions& options) {
  return list_all(*state_, "prompts/list", "prompts", options, to_prompt, &Prompt::name);
}

Result<std::vector<ResourceContents>> Client::read_resource(std::string_view uri,
                                                            const CallOptions& options) {
  auto checked = rpc::check_text("uri", uri);
  if (!checked) return tl::unexpected(std::move(checked.error()));
  return convert(
      state_->request("resources/read", rpc::make_text_params("uri", uri), options, true),
      state_->options.limits, [](json::Value result) {
        std::vector<ResourceContents> parts;
        if (const auto contents = result.find("contents")) {
          contents->for_each_element(
              [&parts](json::Value part) { parts.push_back(to_resource_contents(part)); });
        }
        return parts;
      });
}

Result<void> Client::subscribe_resource(std::string_view uri, const CallOptions& options) {
  return state_->subscribe_resource(uri, options);
}

Result<void> Client::unsubscribe_resource(std::string_view uri, const CallOptions& options) {
  return state_->unsubscribe_resource(uri, options);
}

Call Client::subscribe(const SubscriptionFilter& filter, SubscriptionOptions options) {
  return state_->subscribe(filter, std::move(options));
}

Result<PromptResult> Client::get_prompt(std::string_view name, std::string_view arguments,
                                        const CallOptions& options) {
  auto checked =
      first_fault(rpc::check_text("name", name), state_->check("arguments", arguments, 2));
  if (!checked) return tl::unexpected(std::move(checked.error()));
  return convert(
      state_->request("prompts/get", rpc::make_named_params(name, arguments), options, true),
      state_->options.limits, to_prompt_result);
}

Result<Completion> Client::complete(std::string_view reference, std::string_view argument,
                                    std::string_view value, const CallOptions& options) {
  auto checked = first_fault(
      state_->check("reference", reference, 2),
      first_fault(rpc::check_text("argument", argument), rpc::check_text("value", value)));
  if (!checked) return tl::unexpected(std::move(checked.error()));
  return convert(
      state_->request("completion/complete",
                      rpc::make_completion_params(reference, argument, value), options, true),
      state_->options.limits, to_completion);
}

// --- The rest ------------------------------------------------------------------------------------

Result<void> Client::set_log_level(std::string_view level, const CallOptions& options) {
  return state_->set_log_level(level, options);
}

Result<void> Client::ping(const CallOptions& options) { return state_->ping(options); }

Result<Message> Client::request(std::string_view method, std::string_view params,
                                const CallOptions& options) {
  auto checked = first_fault(rpc::check_text("method", method), state_->check("params", params, 1));
  if (!checked) return tl::unexpected(std::move(checked.error()));
  return state_->request(method, params, options);
}

Call Client::start_request(std::string_view method, std::string_view params, CallOptions options,
                           MessageHandler on_done) {
  auto checked = first_fault(rpc::check_text("method", method), state_->check("params", params, 1));
  return state_->start(method, std::move(checked), params, std::move(options), std::move(on_done));
}

Result<void> Client::notify(std::string_view method, std::string_view params,
                            const CallOptions& options) {
  auto checked = first_fault(rpc::check_text("method", method), state_->check("params", params, 1));
  if (!checked) return checked;
  return state_->notify(method, params, options);
}

}  // namespace mcphttp
