#include "challenges.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using mcphttp::http::Challenge;
using mcphttp::http::parse_challenges;

namespace {

// Challenges in one comparable form: "scheme:token68{name=value|name=value}", joined by spaces.
std::string shown(const std::vector<Challenge>& challenges) {
  std::string text;
  for (const Challenge& challenge : challenges) {
    if (!text.empty()) text += ' ';
    text += challenge.scheme + ":" + challenge.token68 + "{";
    for (const auto& [name, value] : challenge.parameters) {
      if (text.back() != '{') text += '|';
      text.append(name).append("=").append(value);
    }
    text += '}';
  }
  return text;
}

struct Case {
  std::string value;
  std::string expected;
};

}  // namespace

TEST_CASE("challenges are read with their parameters") {
  const auto c = GENERATE(values<Case>({
      {"Bearer", "bearer:{}"},
      {"Bearer error=\"invalid_token\"", "bearer:{error=invalid_token}"},
      {"Bearer realm=\"a\", error=invalid_token", "bearer:{realm=a|error=invalid_token}"},
      {"BEARER Resource_Metadata=\"https://h/x?a=b,c\"",
       "bearer:{resource_metadata=https://h/x?a=b,c}"},
      {"Bearer scope=\"mcp:read mcp:write\"", "bearer:{scope=mcp:read mcp:write}"},
      {R"(Basic realm="say \"hi\" \\")", R"(basic:{realm=say "hi" \})"},
      {"Basic realm=\"\"", "basic:{realm=}"},
      {"Bearer realm = \"a\" , x\t=\ty", "bearer:{realm=a|x=y}"},
  }));
  INFO(c.value);
  CHECK(shown(parse_challenges(c.value)) == c.expected);
}

TEST_CASE("several challenges may share a field") {
  const auto c = GENERATE(values<Case>({
      {"Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"",
       "basic:{realm=simple} newauth:{realm=apps|type=1|title=Login to \"apps\"}"},
      {"Negotiate, NTLM", "negotiate:{} ntlm:{}"},
      {"Negotiate, Bearer realm=x, Basic", "negotiate:{} bearer:{realm=x} basic:{}"},
      {" , ,Basic,,, Bearer a=b , , c=d,", "basic:{} bearer:{a=b|c=d}"},
  }));
  INFO(c.value);
  CHECK(shown(parse_challenges(c.value)) == c.expected);
}

TEST_CASE("a token68 stands alone after its scheme") {
  const auto c = GENERATE(values<Case>({
      {"Negotiate oYG2MIGz==", "negotiate:oYG2MIGz=={}"},
      {"Negotiate a-._~+/9=, Basic realm=x", "negotiate:a-._~+/9={} basic:{realm=x}"},
      {"Negotiate abc", "negotiate:abc{}"},
      {"Bearer realm=x", "bearer:{realm=x}"},
  }));
  INFO(c.value);
  CHECK(shown(parse_challenges(c.value)) == c.expected);
}

TEST_CASE("garbage is skipped and what is sound is kept") {
  const auto c = GENERATE(values<Case>({
      {"", ""},
      {" ,,\t, ", ""},
      {"realm=\"lost\", Basic realm=x", "basic:{realm=x}"},
      {"@@@, Basic realm=x", "basic:{realm=x}"},
      {"\"Digest realm=y, \", Basic realm=x", "basic:{realm=x}"},
      {"=x, Basic", "basic:{}"},
      {"Bearer a=b, realm=, scope=a", "bearer:{a=b|scope=a}"},
      {"Bearer resource_metadata=https://h/x, scope=a",
       "bearer:{resource_metadata=https://h/x|scope=a}"},
      {"Bearer realm=\"a\" error=\"b\"", "bearer:{realm=a|error=b}"},
      {"Bearer realm=\"a\"junk, error=b", "bearer:{realm=a|error=b}"},
      {"Bearer scope=a b c, error=d", "bearer:{scope=a|error=d}"},
      {"Bearer realm=\"never closed, Basic realm=x", "bearer:{}"},
      {"Bearer realm=\"escaped end\\", "bearer:{}"},
      {"Bearer @, Basic", "bearer:{} basic:{}"},
  }));
  INFO(c.value);
  CHECK(shown(parse_challenges(c.value)) == c.expected);
}

TEST_CASE("the number of challenges and parameters is bounded") {
  std::string challenges;
  for (int i = 0; i < 100; ++i) challenges += "Basic a=b, ";
  CHECK(parse_challenges(challenges).size() == mcphttp::http::max_challenges);
  CHECK(parse_challenges(challenges).back().parameters.size() == 1);

  std::string parameters = "Basic a=b, Bearer ";
  for (int i = 0; i < 1000; ++i) parameters += "a=b, ";
  const auto parsed = parse_challenges(parameters);
  REQUIRE(parsed.size() == 2);
  CHECK(parsed[0].parameters.size() + parsed[1].parameters.size() ==
        mcphttp::http::max_challenge_parameters);
}

TEST_CASE("hostile fields are read in linear time") {
  const auto piece =
      GENERATE(values<std::string>({"\"", "\\", "a", "=", ",", " ", "a=\"", "a \"\\"}));
  std::string value = "Bearer ";
  while (value.size() < 65536) value += piece;
  CHECK(parse_challenges(value).size() <= mcphttp::http::max_challenges);
}
