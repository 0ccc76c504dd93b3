#include "protocol.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace mcphttp;

TEST_CASE("the revisions are listed the newest first and found by name") {
  const protocol::Revision* before = nullptr;
  for (const protocol::Revision& revision : protocol::revisions()) {
    if (before != nullptr) CHECK(before->name > revision.name);
    CHECK(protocol::find(revision.name) == &revision);
    before = &revision;
  }
  CHECK(protocol::revisions().size() == 4);
  for (const std::string name : {"", "2024-11-05", "2026-07-2", "2026-07-281", "draft"}) {
    CHECK(protocol::find(name) == nullptr);
  }
}

TEST_CASE("the revisions differ as their specifications say") {
  const protocol::Revision* modern = protocol::find(protocol::newest_modern);
  REQUIRE(modern != nullptr);
  CHECK(modern->is_modern);
  CHECK(modern->has_version_header);
  CHECK_FALSE(modern->has_resumption);
  CHECK_FALSE(modern->has_batches);
  const protocol::Revision* newest = protocol::find(protocol::newest_with_handshake);
  REQUIRE(newest != nullptr);
  CHECK_FALSE(newest->is_modern);
  CHECK(newest->has_version_header);
  CHECK(newest->has_resumption);
  CHECK_FALSE(newest->has_batches);
  const protocol::Revision* oldest = protocol::find("2025-03-26");
  REQUIRE(oldest != nullptr);
  CHECK_FALSE(oldest->is_modern);
  CHECK_FALSE(oldest->has_version_header);
  CHECK(oldest->has_resumption);
  CHECK(oldest->has_batches);
}
