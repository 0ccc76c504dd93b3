#include "handle_pool.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <utility>

using namespace mcphttp;

namespace {

using Options = std::shared_ptr<const TransportOptions>;

Options make_options() { return std::make_shared<const TransportOptions>(); }

CURL* keep_one(HandlePool& pool, const Options& options) {
  auto handle = std::make_unique<EasyHandle>(options);
  CURL* const curl = handle->curl;
  pool.give_back(std::move(handle));
  return curl;
}

}  // namespace

TEST_CASE("a handle is taken again only with the options it was set up with, and once") {
  HandlePool pool;
  const Options options = make_options();
  CHECK(pool.take(options) == nullptr);
  CURL* const kept = keep_one(pool, options);
  CHECK(pool.take(make_options()) == nullptr);
  const auto taken = pool.take(options);
  REQUIRE(taken != nullptr);
  CHECK(taken->curl == kept);
  CHECK(pool.take(options) == nullptr);
}

TEST_CASE("kept handles do not keep the options") {
  HandlePool pool;
  Options options = make_options();
  const std::weak_ptr<const TransportOptions> watched = options;
  keep_one(pool, options);
  options.reset();
  CHECK(watched.expired());
  CHECK(pool.take(make_options()) == nullptr);
}

TEST_CASE("a full pool drops the handle that was kept longest") {
  HandlePool pool;
  const Options first = make_options();
  const Options others = make_options();
  keep_one(pool, first);
  for (int i = 0; i < 64; ++i) keep_one(pool, others);
  CHECK(pool.take(first) == nullptr);
  CHECK(pool.take(others) != nullptr);
}
