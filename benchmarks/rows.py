"""What is run beside what, and the goals: which figure must stand in which relation to which other."""
from dataclasses import dataclass
from typing import Optional

MIB = 1024 * 1024


@dataclass(frozen=True)
class Sizes:
    """How much is done in one round: in a full run, with --short, and two sizes to count instructions between."""
    full: int
    short: int
    counted: Optional[tuple] = None


@dataclass(frozen=True)
class Program:
    """bench_ours or bench_floor: one scenario against one target of the server."""
    name: str
    scenario: str
    target: str
    sizes: Sizes
    width: Optional[int] = None
    count_in_target: bool = False


@dataclass(frozen=True)
class Pass:
    """One benchmark of bench_parser."""
    name: str


@dataclass(frozen=True)
class Doubling:
    """A benchmark of bench_parser over sizes that double: how much more time each takes than the half of it."""
    name: str
    sizes: tuple


@dataclass(frozen=True)
class ParserRival:
    """eventsource-parser over the same bytes."""
    corpus: str


@dataclass(frozen=True)
class ClientRival:
    """The official TypeScript client."""
    target: str
    sizes: Sizes


@dataclass(frozen=True)
class Contest:
    """Sides that are run one after the other in every round; `ours` is one of them."""
    name: str
    sides: dict


@dataclass(frozen=True)
class Goal:
    row: str
    figure: str
    contest: str  # "library": measured once, by library.py
    name: str  # of the figure that the sides print
    against: Optional[str] = None  # the side to divide by; none: the figure of ours as it is
    at_least: Optional[float] = None
    at_most: Optional[float] = None
    unit: float = 1  # what the figure is divided by to be shown
    full_only: bool = False

    def is_met(self, value):
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def bound(self):
        return f"≥ {self.at_least:g}" if self.at_least is not None else f"≤ {self.at_most:g}"


def both(scenario, target, sizes, **more):
    return {"ours": Program("bench_ours", scenario, target, sizes, **more),
            "floor": Program("bench_floor", scenario, target, sizes, **more)}


CALLS = Sizes(2000, 800, (50, 150))
FLIGHT = Sizes(8000, 3000, (200, 600))
BODIES = Sizes(12, 4, (1, 2))

CONTESTS = [
    Contest("parser_200", {"ours": Pass("ours/200"), "floor": Pass("scan/200"), "rival": ParserRival("200")}),
    Contest("parser_64k", {"ours": Pass("ours/64k"), "floor": Pass("scan/64k"), "rival": ParserRival("64k")}),
    Contest("parser_lines", {"ours": Pass("ours/lines"), "floor": Pass("scan/lines"), "rival": ParserRival("lines")}),
    Contest("bytewise", {"ours": Pass("ours/bytewise"), "floor": Pass("machine/bytewise")}),
    Contest("one_event", {"ours": Doubling("ours/one_event", ("16", "32", "64"))}),
    Contest("call_json", {**both("calls", "/json", CALLS), "rival": ClientRival("/json", Sizes(1000, 600))}),
    Contest("call_sse", both("calls", "/sse", CALLS)),
    Contest("flight_16", both("flight", "/json", FLIGHT, width=16)),
    Contest("flight_64", both("flight", "/json", FLIGHT, width=64)),
    Contest("listing_16m", both("results", f"/listing/{16 * MIB}", BODIES)),
    Contest("base64_16m", both("results", f"/base64/{16 * MIB}", BODIES)),
    Contest("listing_64k", both("results", f"/listing/{64 * 1024}", Sizes(1000, 400, (10, 30)))),
    Contest("stream", both("stream", "/stream", Sizes(16384, 4096, (64, 192)), count_in_target=True)),
    Contest("streams", both("streams", "", Sizes(2000, 400), width=10000)),
]

PARSER = "SSE parser, 16 KiB pieces"
BYTEWISE = "one byte at a time"
CALL = "blocking tools/call, small JSON"
CALL_SSE = "same, answered as one-event SSE"
FLIGHTS = "calls in flight"
LARGE = "16 MiB JSON result"
STREAM = "event stream of 64 KiB events"
STREAMS = "10,000 open streams, one loop"
RIVAL = "official TypeScript client, same calls"
LIBRARY = "library, without dependencies"

GOALS = [
    Goal(PARSER, "200-byte events, bytes/s", "parser_200", "bytes_per_second", "rival", at_least=4),
    Goal(PARSER, "64 KiB events, bytes/s", "parser_64k", "bytes_per_second", "rival", at_least=4),
    Goal(PARSER, "16-line events, bytes/s", "parser_lines", "bytes_per_second", "rival", at_least=4),
    Goal(PARSER, "200-byte events, of a memchr scan", "parser_200", "bytes_per_second", "floor", at_least=0.45),
    Goal(BYTEWISE, "time, of a byte state machine", "bytewise", "ns_per_byte", "floor", at_most=3),
    Goal(BYTEWISE, "one event of 16 MiB, of 8 MiB", "one_event", "growth_to_16", at_most=2.2),
    Goal(BYTEWISE, "one event of 32 MiB, of 16 MiB", "one_event", "growth_to_32", at_most=2.2),
    Goal(BYTEWISE, "one event of 64 MiB, of 32 MiB", "one_event", "growth_to_64", at_most=2.2),
    Goal(CALL, "p50", "call_json", "p50_us", "floor", at_most=1.25),
    Goal(CALL, "CPU a call", "call_json", "cpu_us", "floor", at_most=1.25),
    Goal(CALL_SSE, "p50", "call_sse", "p50_us", "floor", at_most=1.35),
    Goal(CALL_SSE, "CPU a call", "call_sse", "cpu_us", "floor", at_most=1.35),
    Goal(FLIGHTS, "16, requests/s", "flight_16", "per_second", "floor", at_least=0.85),
    Goal(FLIGHTS, "64, requests/s", "flight_64", "per_second", "floor", at_least=0.85),
    Goal(LARGE, "listing-like, bytes/s", "listing_16m", "bytes_per_second", "floor", at_least=0.6),
    Goal(LARGE, "base64-like, bytes/s", "base64_16m", "bytes_per_second", "floor", at_least=0.6),
    Goal(LARGE, "listing-like, peak memory / body", "listing_16m", "memory_factor", at_most=5),
    Goal(LARGE, "base64-like, peak memory / body", "base64_16m", "memory_factor", at_most=1.1),
    Goal("64 KiB JSON result", "listing-like, bytes/s", "listing_64k", "bytes_per_second", "floor", at_least=0.8),
    Goal(STREAM, "bytes/s", "stream", "bytes_per_second", "floor", at_least=0.5),
    Goal(STREAM, "growth of memory, MiB", "stream", "growth_bytes", at_most=1, unit=MIB),
    Goal(STREAMS, "memory each, KiB", "streams", "stream_bytes", at_most=20, unit=1024),
    Goal(STREAMS, "wake-up to callback, p50", "streams", "p50_us", "floor", at_most=1.5),
    Goal(STREAMS, "CPU an event, growth from 1,000", "streams", "cpu_growth", "floor", at_most=1.1),
    Goal(RIVAL, "CPU a call", "call_json", "cpu_us", "rival", at_most=1 / 5),
    Goal(RIVAL, "peak memory", "call_json", "peak_bytes", "rival", at_most=1 / 10),
    Goal(LIBRARY, "stripped, KiB", "library", "stripped_bytes", at_most=600, unit=1024),
    Goal(LIBRARY, "clean build, s of CPU", "library", "clean_build_s", at_most=90, full_only=True),
]
