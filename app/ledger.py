"""The ledger of a logged query in words, for the command line and the page that inspects it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.wording import read_as

_UNDERSTOOD = ("categories", "sections", "years", "phrases", "names", "wants")


def outcome_of(row: Mapping[str, Any]) -> str:
    """The outcome of a logged query: whether it was answered, or of a search the band of its evidence."""
    ended = row["band"] if row["answered"] is None else ("answered" if row["answered"] else "abstained")
    return f"{ended}, auto" if row["route"] == "auto" else str(ended)


def understood(intent: Mapping[str, Any]) -> list[str]:
    """What was understood of a question."""
    parts = [f"searched for {intent['search_text']!r}"] if intent["search_text"] != intent["question"] else []
    parts += [f"{name}: {', '.join(map(str, intent[name]))}" for name in _UNDERSTOOD if intent.get(name)]
    if meant := read_as(intent.get("condensed", ""), intent.get("condensed_by", ""), intent.get("added", ())):
        parts.insert(0, meant[0].lower() + meant[1:])
    return parts + [name.replace("_", "-") for name in ("recent", "follow_up", "greeting") if intent.get(name)]


def kept_evidence(trace: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The evidence of the attempt that was kept."""
    return next((tried["evidence"] for tried in reversed(trace["attempts"]) if tried["kept"]), None)


def attempt_lines(attempts: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """(label, text) of each attempt to find evidence."""
    return [
        (
            f"Attempt {tried['name']}",
            f"{'kept' if tried['kept'] else 'dropped'}: {tried['why']}; strength {tried['evidence']['strength']:.2f} "
            f"({tried['evidence']['band']}), {tried['ms']:.0f} ms; searched for “{tried['search_text']}”",
        )
        for tried in attempts
    ]


def evidence_lines(evidence: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """(label, text) of how strong the evidence is, and of the signals that say so; nothing without any."""
    if evidence is None:
        return
    sufficient = "sufficient" if evidence["sufficient"] else f"not sufficient: {evidence['reason']}"
    similar = "" if evidence["similarity"] is None else f"similarity {evidence['similarity']:.2f} · "
    missing = ", ".join(evidence["missing"]) or "nothing"
    said = (
        f"{evidence['band']}, strength {evidence['strength']:.2f}, {sufficient} · {similar}"
        f"coverage {evidence['coverage']:.0%} · {evidence['matches']} candidates · missing {missing}"
    )
    yield "Evidence", said
    yield "Signals", " · ".join(f"{name} {value:.3g}" for name, value in evidence["signals"].items())
