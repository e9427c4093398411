"""Detect sentences of documents that give orders to a language model; they are never quoted as an answer."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from llama_index.core.schema import NodeWithScore

from pipelines.query.question.form import asks_of_commands
from pipelines.store.tokens import tokenise
from pipelines.structure import sentences
from pipelines.text import canonical, fold
from pipelines.types import QueryIntent

_LONGEST = 2_000  # characters of a sentence that are read
# Letters of other scripts that look like Latin ones, once case and accents are folded; digits that stand for letters.
_LOOKALIKES = str.maketrans("аеорсухіѕјԁһӏԛԝмтнквгαορνικτυεβη", "aeopcyxisjdhlqwmthkbraopviktuebn")
_LEET = str.maketrans("013457", "oieast")
_SPACED = re.compile(r"\b(?:\w[ .·*_-]){3,60}\w\b")
_SPACES = str.maketrans(dict.fromkeys(" .·*_-"))
_MACHINE = (
    r"(?:ai|llms?|(?:large )?language models?|assistants?|(?:\w+ )?(?:chat ?)?bots?|(?:chat ?)?gpt|claude|models?)"
)
_INSTRUCTIONS = (
    r"(?:instructions?|prompts?|rules|guidelines|guidance|directives|orders|training|programming|restrictions)"
)
_SAY = r"(?:answer|respond|reply|say|output|print|write|repeat|tell|state|reveal|cite|mention|claim)"
_RESPONSES = r"(?:responses?|repl(?:y|ies)|answers?|outputs?|summar(?:y|ies)|completions?)"
_CLAUSE = r"(?:^\W*|[.:;,!] )(?:and |then |please |now |so )?"
_WITHIN = r"[^.!?\n]{0,50}?"
_ORDERS = (
    # told to forget what it was told
    rf"\b(?:ignore|disregard|forget|neglect|discard|skip|cancel|(?:set|leave|put) aside|stop following)\b{_WITHIN}\b"
    rf"(?:{_INSTRUCTIONS}|context|previous|prior|above|preceding|everything|sources?|documents?|user|asked|told)\b"
    rf"|\binstead of (?:answering|following|obeying|using)\b|{_CLAUSE}repeat after me\b",
    rf"\b(?:overrides?|overrule|bypass)\b{_WITHIN}\b(?:{_INSTRUCTIONS}|developer|message)\b"
    rf"|\b(?:new|real|updated|hidden|secret) (?:system )?{_INSTRUCTIONS}\s*:",
    rf"\b(?:previous|prior|earlier|above|all) (?:\w+ )?{_INSTRUCTIONS} (?:is|are|was|were|has|have|no longer)\b"
    rf"|\bregardless of {_WITHIN}\b(?:{_INSTRUCTIONS}|sources?|documents?|context)\b",
    r"\bsystem (?:prompt|message|override|instruction)s?\b|\b(?:god|dan|now in developer) mode\b|\bjailbr[oe]",
    # told what it is, or what it must say
    rf"\byou (?:are|must|will|shall|should|have to|need to) (?:now an?|no longer|(?:\w+ )?an? (?:\w+ )?{_MACHINE}"
    rf"|(?:now |always |only |never |not )?{_SAY}|obey|comply)\b",
    r"\bpretend (?:to be|that you|you)\b|\b(?:act|behave) as (?:if|though) you\b",
    rf"\byour (?:(?:new|real|next|only|final|own|current) )?(?:{_RESPONSES}|{_INSTRUCTIONS}|task|role)\b",
    rf"\b(?:in|to|of|into|end|begin|start|conclude) (?:every|all|any|each) (?:\w+ )?{_RESPONSES}\b",
    rf"\bcorrect answer to (?:any|every|all|each|this)\b|{_CLAUSE}{_SAY} (?:every|any|all|each) (?:\w+ )?questions?\b",
    rf"{_CLAUSE}(?:only |always |simply |just )?(?:(?:respond|reply|answer) (?:in|as|with|to|only)|always {_SAY})\b",
    rf"(?:{_CLAUSE}|\b(?:must|instead|{_MACHINE}) )(?:only |simply |just )?{_SAY} ?"
    r"(?:(?:only|exactly|with|that|instead|nothing|to (?:every|all|any))\b|: |[\"'])",
    rf"\b(?:do not|don't|never) (?:use|trust|follow|{_SAY})\b{_WITHIN}\b"
    r"(?:users?|sources?|documents?|questions?|this|context)\b"
    r"|\b(?:when|if)\b[^.!?\n]{0,30}?\b(?:user|reader)s? asks?\b",
    rf"\b(?:{_SAY}|show|leak|send)\b{_WITHIN}\b(?:(?:system|api) (?:prompt|keys?)|conversation)\b",
    # told how to cite, or to do something before it answers
    rf"{_CLAUSE}{_SAY}\b{_WITHIN}\b(?:with|as|in) an? (?:footnote|citation)\b"
    r"|\baccording to (?:source|passage|document) \[?\(?\d"
    r"|\bbefore (?:you (?:answer|respond|reply)|answering|responding|replying) "
    r"(?:anything|any|the user|this|questions?)\b",
    # spoken to
    rf"\b(?:attention|note|message|instructions?|notice|important|dear|hey|hello|reminder)\b[\s,:]*(?:(?:to|for) )?"
    rf"(?:all |the |any |every )?{_MACHINE}\b|^\W*to (?:the |any |all )?{_MACHINE}\s?[:,]"
    rf"|\b{_MACHINE} (?:(?:that|who|which) (?:reads?|process|summari)|(?:read|pars|process|summari[sz])ing this)",
    rf"^\W*(?:(?:as|if you are) )?(?:an? |the |any |all |dear )?{_MACHINE}\s?(?:[,:!] ?(?!\w+ing\b)"
    r"|(?:should|must|shall|will now|has to|have to|needs? to|(?:is|are) (?:to|required|instructed|told)) )",
    r"\b(?:who(?:ever)?|anyone (?:who|that)|if you|when you|you (?:who|that)) (?:are )?"
    r"(?:read|summari|process|pars|index)\w* this\b",
    r"\b(?:decode|decrypt|execute|obey)\b[^.!?\n]{0,50}?\b(?:instructions?|orders|obey|execute|follow|base64|payload)\b",
    # the marks of a conversation, and delimiters
    r"<\|[^|<>\n]{0,40}\|>|\[/?inst\]|<<\s*/?\s*(?:sys|source)\b|</?(?:system|assistant|user|instructions?|prompt)\b"
    r"|^\W{0,8}(?:system|assistant|user|human|developer)\W{0,4}:|#{2,4} ?(?:system|instructions?|response)\s*:"
    r"|\brole[\"']\s*:|\b(?:end|begin|start) of (?:the )?(?:system|context|sources?|documents?|data|quot\w+|prompt)\b",
)
_COMMAND = re.compile("|".join(_ORDERS))
_ENCODED = re.compile(
    r"(?<![^\s\"'`(:])(?=[a-zA-Z+/]{0,200}\d)(?=[a-z\d+/]{0,200}[A-Z])[A-Za-z0-9+/]{32,}={0,2}(?![^\s\"'`).,])"
)


@lru_cache(maxsize=16_384)
def is_command(sentence: str) -> bool:
    """True if a sentence addresses a language model: orders, a role, a forged delimiter, encoded text.

    Look-alike letters, accents, case, digits for letters, spaced-out words and invisible characters are normalised
    first.
    """
    text = unicodedata.normalize("NFKC", canonical(sentence[:_LONGEST]))
    if _ENCODED.search(text):
        return True
    plain = fold(text).translate(_LOOKALIKES)
    closed = _SPACED.sub(lambda match: match[0].translate(_SPACES), plain)
    spelt = " ".join(word.translate(_LEET) if any(map(str.isalpha, word)) else word for word in closed.split(" "))
    return any(_COMMAND.search(form) for form in {plain, closed, spelt})


@lru_cache(maxsize=1_024)
def _sentences(text: str) -> list[tuple[str, frozenset[str]]]:
    """The sentences of a passage with their terms."""
    return [(text[start:end], frozenset(tokenise(text[start:end]))) for start, end in sentences(text)]


def supported_only_by_commands(intent: QueryIntent, ranking: Sequence[NodeWithScore]) -> frozenset[str]:
    """Ids of passages in which some term of the question stands only in orders to a language model.

    Empty if the question is about such orders.
    """
    if asks_of_commands(intent):
        return frozenset()
    asked, found = {*intent.terms}, set()
    for hit in ranking:
        told, ordered = set[str](), set[str]()
        for sentence, terms in _sentences(hit.node.get_content()):
            if held := asked & terms - told:
                (ordered if is_command(sentence) else told).update(held)
        if ordered - told:
            found.add(hit.node.node_id)
    return frozenset(found)
