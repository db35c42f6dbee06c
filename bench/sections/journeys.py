"""What a journey costs: beside plain requests, and beside k6 on the same journey.

Five steps, three captures, a JSON body; nginx answers each of them with the same small document. Memory of a
user is the slope of the peak between two numbers of users.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict

from rows import Effort, Row, Section, ratio_text, spread
from servers import nginx
from tools import JOSTLE, K6_JOURNEY, Tool
from turns import Turn, in_turns
from window import Sample

from sections.memory import more_per_client

CLIENTS = 64
FEW_USERS, USERS = 100, 1_000
BAR_PLAIN, BAR_STEPS, BAR_BYTES, BAR_K6_CPU, BAR_K6_MEMORY = 1.03, 1.5, 250, 1 / 8, 1 / 40

PLAIN_DOCUMENT = Tool("plain document", lambda url, clients: JOSTLE.closed(f"{url}journey/orders", clients))
"""The document that is the response to each of the five steps."""
ONE_STEP = '[journey.one]\nsteps = [{ get = "/" }]\n'
FIVE_STEPS = r"""
[journey.five]
steps = [
  { name = "login", post = "/journey/login", json = { user = "user {client}", password = "secret" }, capture = { token = "json:/user/token" } },
  { name = "search", get = "/journey/search?q=tea", capture = { id = 'regex:"id": "(\d+)"' } },
  { name = "item", get = "/journey/items/{id}", capture = { price = "json:/items/0/price" } },
  { name = "order", post = "/journey/orders/{id}", json = { price = "{price}" }, headers = { Authorization = "Bearer {token}" } },
  { name = "orders", get = "/journey/orders", headers = { Authorization = "Bearer {token}" } },
]
"""  # noqa: E501
FOUR_CAPTURES = """
[journey.four]
[[journey.four.steps]]
get = "/"
capture = { a = "regex:x{32}", b = "regex:x{32}", c = "regex:x{32}", d = "regex:x{32}" }
"""


def run(effort: Effort) -> Section:
    files = {"one": ONE_STEP, "five": FIVE_STEPS, "four": FOUR_CAPTURES}
    for name, text in files.items():
        (effort.folder / f"{name}.toml").write_text(text)
    tools = {
        ("plain", CLIENTS): JOSTLE,
        ("one step", CLIENTS): _journey("one step", effort, "one"),
        ("plain document", CLIENTS): PLAIN_DOCUMENT,
        ("five steps", CLIENTS): _journey("five steps", effort, "five"),
        ("five steps", FEW_USERS): _journey("five steps", effort, "five"),
        ("five steps", USERS): _journey("five steps", effort, "five"),
        ("k6", FEW_USERS): K6_JOURNEY,
        ("k6", USERS): K6_JOURNEY,
    }
    with nginx() as server:
        turns = {
            (name, clients): Turn(tool, tool.closed(server.url, clients), clients)
            for (name, clients), tool in tools.items()
        }
        found = in_turns(turns, server, effort)
    slopes = more_per_client(effort, effort.folder / "four.toml")
    rows = [
        _ratio("CPU of a journey of one step ÷ a plain request", _cpu, found["one step", CLIENTS],
               found["plain", CLIENTS], BAR_PLAIN),
        _ratio("CPU per request of five steps ÷ a plain request of the same document", _cpu,
               found["five steps", CLIENTS],
               found["plain document", CLIENTS], BAR_STEPS),
        Row("user memory per idle client with four captures of 32 bytes, more than without, bytes",
            f"≤ {BAR_BYTES}", spread(slopes, ",.0f"), statistics.median(slopes) <= BAR_BYTES),
        _ratio(f"CPU per request of five steps ÷ k6, {USERS:,} users", _cpu, found["five steps", USERS],
               found["k6", USERS], BAR_K6_CPU),
        _against_k6(found),
    ]  # fmt: skip
    samples = [asdict(sample) | {"what": name} for (name, _), each in found.items() for sample in each]
    return Section(rows, _details(found), samples)


def _journey(name: str, effort: Effort, file: str) -> Tool:
    path = effort.folder / f"{file}.toml"
    return Tool(name, lambda url, clients: [*JOSTLE.closed(url, clients), "--journey", str(path)])


def _cpu(sample: Sample) -> float:
    return sample.cpu_us


def _ratio(
    what: str, of: Callable[[Sample], float], ours: Sequence[Sample], theirs: Sequence[Sample], bar: float
) -> Row:
    ratios = [of(one) / of(other) for one, other in zip(ours, theirs, strict=True)]
    return Row(what, ratio_text(bar), spread(ratios, ".3f"), statistics.median(ratios) <= bar)


def _against_k6(found: dict[tuple[str, int], list[Sample]]) -> Row:
    """Memory of a user, a ratio of medians: of one round, that of jostle is near the noise of its Python."""
    bytes_of = {
        name: statistics.median(
            1e6 * (many.peak_mb - few.peak_mb) / (USERS - FEW_USERS)
            for few, many in zip(found[name, FEW_USERS], found[name, USERS], strict=True)
        )
        for name in ("five steps", "k6")
    }
    ratio = bytes_of["five steps"] / bytes_of["k6"]
    told = f"{ratio:.4f} ({bytes_of['five steps']:,.0f} and {bytes_of['k6']:,.0f} bytes)"
    return Row(
        f"memory per user ÷ k6, {USERS:,} users", ratio_text(BAR_K6_MEMORY), told, ratio <= BAR_K6_MEMORY
    )


def _details(found: dict[tuple[str, int], list[Sample]]) -> str:
    lines = ["| users | what | CPU µs/request | requests/s | peak MB |", "|---|---|---|---|---|"]
    for (name, clients), samples in found.items():
        peak_mb = statistics.median(s.peak_mb for s in samples)
        lines.append(
            f"| {clients:,} | {name} | {spread([s.cpu_us for s in samples])} "
            f"| {spread([s.rate for s in samples], ',.0f')} | {peak_mb:,.0f} |"
        )
    return "\n".join(lines)
