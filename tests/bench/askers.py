"""Many askers of one running `footnote serve`: requests, errors, times, and the first byte of a stream.

python -m tests.bench.askers http://127.0.0.1:8502 --askers 50 --seconds 30
"""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import httpx

from tests.bench import arguments, show

QUESTIONS = (
    "Where does Marit work now?", "How many years of Go?", "Which languages does she speak?", "What is her blood type?",
    "What did she study?", "What caused the outage?", "Which talks has she given?", "Tell me about yourself",
)  # fmt: skip


async def asked(url: str, token: str, askers: int, seconds: float) -> dict[str, Any]:
    """What askers who ask again and again for some seconds see; streams are timed before, one after the other."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    limits = httpx.Limits(max_connections=askers)
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=120, limits=limits) as client:
        first = [await _first_byte(client, question) for question in QUESTIONS * 3][len(QUESTIONS) :]
        statuses, times = Counter[str](), list[float]()
        end = time.monotonic() + seconds

        async def ask(number: int) -> None:
            questions = cycle(QUESTIONS[number % len(QUESTIONS) :] + QUESTIONS[: number % len(QUESTIONS)])
            while time.monotonic() < end:
                began = time.perf_counter()
                try:
                    reply = await client.post("/v1/ask", json={"question": next(questions)})
                    statuses[str(reply.status_code)] += 1
                except httpx.HTTPError as error:
                    statuses[type(error).__name__] += 1
                times.append(time.perf_counter() - began)

        await asyncio.gather(*(ask(number) for number in range(askers)))
    return {
        "askers": askers,
        "seconds": seconds,
        "replies": dict(statuses),
        "per_second": round(len(times) / seconds, 1),
        "p50_ms": _at(times, 0.5),
        "p95_ms": _at(times, 0.95),
        "first_byte_ms": {"p50": _at(first, 0.5), "p95": _at(first, 0.95)},
    }


async def _first_byte(client: httpx.AsyncClient, question: str) -> float:
    began = time.perf_counter()
    async with client.stream("POST", "/v1/ask", json={"question": question, "stream": True}) as reply:
        pieces = reply.aiter_bytes()
        await anext(pieces)
        took = time.perf_counter() - began
        async for _ in pieces:
            pass
    return took


def _at(times: Sequence[float], share: float) -> float:
    return round(sorted(times)[min(int(len(times) * share), len(times) - 1)] * 1000, 1)


def main() -> int:
    """Ask, and print what was seen as JSON."""
    parser = arguments("askers", __doc__)
    parser.add_argument("url", help="address of a running `footnote serve` over data/sample")
    parser.add_argument("--token", default="")
    parser.add_argument("--askers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    report = asyncio.run(asked(given.url, given.token, given.askers, given.seconds))
    show(report)
    return 0 if set(report["replies"]) == {"200"} else 1


if __name__ == "__main__":
    sys.exit(main())
