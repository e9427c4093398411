"""CITE: markers -> Citations; each sentence verified against the spans of its sources."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

from pipelines.store.tokens import STOP_WORDS, tokenise
from pipelines.text import fold, plain, sentences
from pipelines.types import Citation, Sentence, Source, VerdictName

SUPPORTED = 0.7
PARTIAL = 0.45
_MARKER = re.compile(
    r"\s*(?:\[\s*(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\s*\]|【\s*(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)[^】\n]{0,40}】)"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[,'’\u00a0\u202f]\d{3})+(?![\d,])")
_WORD = re.compile(r"\w+(?:[.'’-]\w+)*(?:\+\+|#)?")
_NEGATION = re.compile(
    r"\b(?:no|not(?! only\b)|never|none|nobody|nothing|neither|nor|without|cannot|unable|lack(?:s|ed|ing)?"
    r"|(?:fail|refuse)(?:s|d|ed)? to|\w+n['’]t)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.!?;:,](?=\s|$)|\b(?:but|although|though|whereas|while|because)\b", re.IGNORECASE)
_NAME = re.compile(r"(?:(?<!\w)\.)?\b[A-Z]\w*(?:[.'’&-]\w+)*(?:\+\+|#)?")
_DETERMINER = re.compile(r"\s+(?:a|an|the|this|these|his|her|its|their|our|my)\b")
_GENDERS = (frozenset({"he", "him", "his", "himself"}), frozenset({"she", "her", "hers", "herself"}))
# Usual first words: a capital makes no name of them.
_OPENERS = frozenset(
    """according additionally after all also although among another anyone because before between both currently
    despite during each earlier even every everyone finally first following further furthermore given here however
    instead just last later many meanwhile moreover most never next no nobody none nothing now once one only other
    overall over previously prior several since some sometimes soon still then there therefore through throughout
    though thus today together two three under until using when whenever while within without yes yet""".split()
)
_OPENING = re.compile(rf"\b(?:{'|'.join(sorted(_OPENERS))})\b", re.IGNORECASE)
# Stop words that say which of two names or numbers is which.
_DIRECTIONS = frozenset({"to", "from", "into"})


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation in an answer's text: where it stood once all markers were out, and the number it names."""

    at: int
    n: int


def split_markers(text: str) -> tuple[str, list[Marker]]:
    """(the text without its markers, the markers in order); `[1, 2]`, `[1][2]` and `【1】` are read alike."""
    clean: list[str] = []
    markers: list[Marker] = []
    length = done = 0
    for match in _MARKER.finditer(text):
        clean.append(text[done : match.start()])
        length += match.start() - done
        done = match.end()
        markers += [Marker(length, int(n)) for n in re.findall(r"\d+", match.group(1) or match.group(2))]
    clean.append(text[done:])
    return "".join(clean), markers


def cited_sentences(text: str, valid: Sequence[int]) -> list[tuple[str, tuple[int, ...]]]:
    """The sentences of an answer with the sources each cites, in order; a number outside `valid` is dropped.

    A marker belongs to the sentence that it stands in or directly after.
    """
    clean, markers = split_markers(text)
    spans = sentences(clean)
    cited: list[list[int]] = [[] for _ in spans]
    for marker in markers:
        before = [index for index, (start, _) in enumerate(spans) if start < marker.at]
        if before and marker.n in valid and marker.n not in cited[before[-1]]:
            cited[before[-1]].append(marker.n)
    return [
        (" ".join(clean[start:end].split()), tuple(numbers)) for (start, end), numbers in zip(spans, cited, strict=True)
    ]


class MarkerFilter:
    """Takes markers out of a stream of text, whatever way it is cut into pieces."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> Iterator[str | int]:
        """Text that is safe to show, and the number of each marker as it is complete."""
        self._held += piece
        yield from self._drain(final=False)

    def close(self) -> Iterator[str | int]:
        """What was held back: an unfinished marker is text."""
        yield from self._drain(final=True)

    def _drain(self, *, final: bool) -> Iterator[str | int]:
        while match := _MARKER.search(self._held):
            yield from filter(None, [self._held[: match.start()]])
            yield from map(int, re.findall(r"\d+", match.group(1) or match.group(2)))
            self._held = self._held[match.end() :]
        if final:
            yield from filter(None, [self._held])
            self._held = ""
            return
        cut = _safe_until(self._held)
        yield from filter(None, [self._held[:cut]])
        self._held = self._held[cut:]


def _safe_until(text: str) -> int:
    """Where a marker may have begun that is not finished: from there the text is held back, 60 characters at most."""
    opening = max(text.rfind("["), text.rfind("【"))
    begun = opening >= 0 and len(text) - opening < 60 and not re.search(r"[\]】]", text[opening:])
    end = opening if begun else len(text)
    return len(text[:end].rstrip()) if begun or text[-1:].isspace() else end


def verify(sentence: str, cited: Sequence[int], sources: Sequence[Source]) -> Sentence:
    """The sentence with its verdict and, for each source that bears it out, the exact span.

    `supported`: the cited sources hold it, verbatim or by its terms, with every number, name and negation.
    `partial`: they hold a good part. `misattributed`: another source holds it. `unsupported`: none does.
    `uncited`: it names no source.
    """
    by_number = {source.n: source for source in sources}
    checks = [check(sentence, by_number[n]) for n in cited if n in by_number]
    checks.sort(key=lambda found: -found.support)
    if not checks:
        return Sentence(sentence, (), "uncited")
    best = checks[0].verdict
    if best in ("unsupported", "partial"):
        others = [check(sentence, source) for source in sources if source.n not in cited]
        right = [found for found in others if found.verdict == "supported"]
        if right:
            best = "misattributed"
            checks += right[:1]
    return Sentence(sentence, tuple(cited), best, tuple(checks))


def check(sentence: str, source: Source) -> Citation:
    """How far one source bears a sentence out, with the span of it that does best; support in 0..1."""
    spans = sentences(source.snippet) or [(0, len(source.snippet))]
    claim = _folded(sentence)
    exact = next(((s, e) for s, e in spans if _holds(source.snippet[s:e], claim)), None)
    if exact is None and _holds(source.snippet, claim):
        exact = _covering(claim, source.snippet, spans)
    if exact and _denials(source.snippet[slice(*exact)], sentence) == _denials(sentence):
        return _citation(source, exact, "supported", 1.0)
    span, support = _best_span(sentence, source, spans)
    verdict: VerdictName = "supported" if support >= SUPPORTED else "partial" if support >= PARTIAL else "unsupported"
    return _citation(source, span, verdict, round(support, 4))


def _citation(source: Source, span: tuple[int, int], verdict: VerdictName, support: float) -> Citation:
    start, end = span
    return Citation(
        n=source.n,
        document_id=source.document_id,
        content_sha=source.content_sha,
        start=source.start + start,
        end=source.start + end,
        quote=source.snippet[start:end],
        verdict=verdict,
        support=support,
    )


def _covering(claim: str, snippet: str, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The fewest neighbouring sentences that hold a claim which crosses sentence ends."""
    for width in range(2, len(spans) + 1):
        for first in range(len(spans) - width + 1):
            start, end = spans[first][0], spans[first + width - 1][1]
            if _holds(snippet[start:end], claim):
                return start, end
    return 0, len(snippet)


@lru_cache(maxsize=4_096)
def _clean(text: str) -> str:
    """The text without markup and thousands separators."""
    return plain(_THOUSANDS.sub(lambda number: re.sub(r"\D", "", number.group()), text))


def _folded(text: str) -> str:
    return fold(_clean(text))


def _holds(text: str, claim: str) -> bool:
    """Whether a text holds a folded claim verbatim, from word boundary to word boundary (`5` is not in `1.5`)."""
    pattern = rf"(?<![\w-])(?<!\w[.,'/]){re.escape(claim)}(?![\w+#]|[-.,'/]\w)"
    return bool(claim) and re.search(pattern, _folded(text)) is not None


def _best_span(sentence: str, source: Source, spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], float]:
    """The one or two neighbouring sentences that bear a claim out best, and how well: their share (0..1) of its terms.

    The share is capped where the details disagree.
    """
    wanted = set(tokenise(_clean(sentence)))
    windows = [*spans, *((left[0], right[1]) for left, right in pairwise(spans))]
    if not wanted:
        return windows[0], 0.0
    best, best_rank = windows[0], (-1.0, -1.0)
    for start, end in windows:
        text = source.snippet[start:end]
        held = len(wanted & set(tokenise(_clean(text)))) / len(wanted)
        support = min(held, _cap(sentence, text, _head(source))) if held >= PARTIAL else held
        if (support, held) > best_rank:
            best, best_rank = (start, end), (support, held)
    return best, best_rank[0]


def _cap(sentence: str, span: str, head: str) -> float:
    """The most support (0..1) that the details of a claim allow.

    Below `PARTIAL` where a number or a name is absent or only one side denies; below `SUPPORTED` where the two deny
    differently often, speak of a he and a she, or give the same names or numbers in other places.
    """
    numbers, names, place = _numbers(sentence), _names(sentence), f"{head}\n{_clean(span)}"
    terms = set(tokenise(place))
    if numbers - _numbers(place) or not all(_named(name, terms) for name in names):
        return PARTIAL - 0.01
    denied, said = _denials(span, sentence), _denials(sentence)
    if bool(denied) != bool(said):
        return PARTIAL - 0.01
    if denied != said or _genders_differ(sentence, span) or _swapped(sentence, span):
        return SUPPORTED - 0.01
    return 1.0


def _numbers(text: str) -> Counter[str]:
    """The numbers of a text, however their thousands are set; digits between letters (k8s) are none."""
    padded = f" {_folded(text)} "
    found = _NUMBER.finditer(padded)
    return Counter(n.group() for n in found if not (padded[n.start() - 1].isalpha() and padded[n.end()].isalpha()))


def _names(text: str) -> list[str]:
    """The capitalised words of a text, but for stop words, usual first words and a first verb (`Led a team`)."""
    clean = _clean(text)
    return [
        name.group()
        for name in _NAME.finditer(clean)
        if name.group().lower() not in _OPENERS
        and tokenise(name.group())
        and not (name.start() == 0 and _DETERMINER.match(clean, name.end()))
    ]


def _named(name: str, terms: set[str]) -> bool:
    """Whether a name is among the terms of a text: whole, or by all its parts or its long form."""
    whole, *parts = tokenise(name)
    return whole in terms or (bool(parts) and terms.issuperset(parts))


def _denials(text: str, claim: str = "") -> int:
    """How often a text denies something; with a claim, only where the denial goes on with a term of the claim.

    What is denied stands in the clause after the denial, or in the first later one that has terms (`not, however,`).
    """
    clean, terms, found = _clean(text), set(tokenise(_clean(claim))), 0
    for negation in _NEGATION.finditer(clean):
        clauses = (_OPENING.sub(" ", clause) for clause in _CLAUSE_END.split(clean[negation.end() :]))
        denied = next((held for clause in clauses if (held := set(tokenise(clause)))), set[str]())
        found += not claim or not denied or not denied.isdisjoint(terms)
    return found


def _genders_differ(sentence: str, span: str) -> bool:
    """Whether one side speaks only of a he, and the other only of a she."""
    said, held = (
        [not gender.isdisjoint(_WORD.findall(fold(text))) for gender in _GENDERS] for text in (sentence, span)
    )
    return sum(said) == sum(held) == 1 and said != held


def _swapped(sentence: str, span: str) -> bool:
    """Whether two names or numbers change places around the same words (`Ann told Bo`, `Bo told Ann`).

    A passive (`Bo was told by Ann`) turns the order of names round.
    """
    claim, text = _stems(sentence), _stems(span)
    numbers = [word for word in claim if word[0].isdigit()]
    names = [stem for name in _names(sentence) for stem in _stems(name)]
    pairs = [(pair, set[str]()) for pair in combinations(dict.fromkeys(numbers), 2)]
    pairs += [(pair, set(names) | set(numbers)) for pair in combinations(dict.fromkeys(names), 2)]
    return any(_turned(one, other, ignored, claim, text) for (one, other), ignored in pairs)


def _turned(one: str, other: str, ignored: set[str], claim: Sequence[str], text: Sequence[str]) -> bool:
    """Whether around the same words a text has two words only in the other order than a claim."""
    ignored = ignored | (STOP_WORDS - _DIRECTIONS)
    orders = {
        in_order == (("by" in said[-2:]) == ("by" in held[-2:]))
        for in_order, pair in ((True, (one, other)), (False, (other, one)))
        for said in _between(one, other, claim)
        for held in _between(*pair, text)
        if (set(said) & set(held)) - ignored
    }
    return orders == {False}


def _between(one: str, other: str, words: Sequence[str]) -> list[Sequence[str]]:
    """What stands between each occurrence of one word and each later one of the other."""
    starts = [at for at, word in enumerate(words) if word == one]
    ends = [at for at, word in enumerate(words) if word == other]
    return [words[start + 1 : end] for start in starts for end in ends if start < end]


def _stems(text: str) -> list[str]:
    """The words of a text in order, stemmed; stop words stay."""
    words = (word.group() for word in _WORD.finditer(_folded(text)))
    return [next(iter(tokenise(word, aliases=False)), word) for word in words]


def _head(source: Source) -> str:
    return " ".join((source.title, *source.section_path))
