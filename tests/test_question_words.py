"""A question's words are read in one room: no other module compares them with words or patterns of its own.

Two checks of the syntax tree. A module outside the room may hand the plain text of a question on (to a search, a model,
the record), but does not read, fold, split or compare it. And it holds no list, or pattern, of the words that ask.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
QUERY = ROOT / "pipelines" / "query"
ROOM = QUERY / "question"
SOURCES = sorted(path for path in QUERY.rglob("*.py") if ROOM not in path.parents)
# The attributes that hold a question's plain text.
TEXTS = {"search_text", "wording", "condensed", "corrected", "question"}
READERS = {"read", "tokenise", "index_terms", "word_parts", "word_spans", "counted_things"}  # of any text's words
# What reads a text: its own methods, and what is called with it.
READING = {
    "split", "startswith", "endswith", "find", "index", "count", "lower", "casefold", "strip", "partition", "replace",
    "removeprefix", "removesuffix", "isdisjoint", "findall", "finditer", "search", "match", "fullmatch", "sub",
}  # fmt: skip
ASKING = {"who", "whom", "whose", "when", "where", "why", "how", "which", "wer", "wann", "wo", "warum", "wie"}
CALLED = READERS | {
    "fold",
    "findall",
    "finditer",
    "search",
    "match",
    "fullmatch",
    "sub",
    "split",
    "set",
    "list",
    "sorted",
}
# What reads sentences of documents and of answers, by their clauses; orders to a model address "anyone who reads this".
OF_SENTENCES = ("verification/", "verify.py", "prompt_injection.py")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _is_text(node: ast.AST) -> bool:
    """True for `intent.search_text`, `search.intent.question` and the like, and the text of a QuestionType."""
    if ast.unparse(node) == "self.question":  # a search of query variants compares terms, as a retriever does
        return False
    is_of_type = isinstance(node, ast.Attribute) and node.attr == "text" and ast.unparse(node.value) == "wanted"
    return is_of_type or (isinstance(node, ast.Attribute) and node.attr in TEXTS)


def _parents(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    return {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}


def _reads(path: Path) -> Iterator[str]:
    """The places where a module reads a question's plain text: by a method, an operator, a pattern or a fold."""
    tree = _tree(path)
    parents = _parents(tree)
    aliases = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_text(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        is_alias = isinstance(node, ast.Name) and node.id in aliases and isinstance(node.ctx, ast.Load)
        if not (_is_text(node) or is_alias):
            continue
        parent = parents[node]
        while isinstance(parent, ast.BoolOp | ast.FormattedValue):
            parent = parents[parent]
        is_method = isinstance(parent, ast.Attribute) and parent.attr in READING
        is_compared = isinstance(parent, ast.Compare) and not all(isinstance(op, ast.Eq | ast.Is) for op in parent.ops)
        is_folded = isinstance(parent, ast.Call) and ast.unparse(parent.func).rpartition(".")[2] in CALLED
        if is_method or is_compared or is_folded:
            yield f"{path.name}:{node.lineno} {ast.unparse(parent)[:70]}"


def _lists(path: Path) -> Iterator[str]:
    """The strings of a module, docstrings apart, that hold two question words or more: lists of them, and patterns."""
    tree = _tree(path)
    shown = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in shown:
            said = "".join(char if char.isalpha() else " " for char in node.value).split()
            if len(ASKING & set(said)) > 1:
                yield f"{path.name}:{node.lineno} {node.value[:60]!r}"


@pytest.mark.parametrize(
    "code",
    [
        "x = intent.search_text.split()", "text = intent.wording\nfold(text)", "P.search(search.intent.question)",
        "'who' in intent.search_text", "words = fold(intent.corrected or intent.question)",
        "read(wanted.text).has('wages')", "tokenise(search.intent.wording)", "read(intent.wording).all",
    ],
)  # fmt: skip
def test_a_module_that_reads_the_words_of_a_question_is_found(code: str, tmp_path: Path) -> None:
    path = tmp_path / "reader.py"
    path.write_text(code)
    assert list(_reads(path))


@pytest.mark.parametrize(
    "code", ["QueryBundle(intent.search_text)", "f'{intent.search_text} (found)'", "x.question == 1"]
)
def test_a_module_that_hands_the_question_on_is_left_alone(code: str, tmp_path: Path) -> None:
    path = tmp_path / "reader.py"
    path.write_text(code)
    assert not list(_reads(path))


def test_no_module_outside_the_room_reads_the_words_of_a_question() -> None:
    assert [place for path in SOURCES for place in _reads(path)] == []


def test_no_module_outside_the_room_has_a_list_of_words_that_ask() -> None:
    others = [path for path in SOURCES if not str(path.relative_to(QUERY)).startswith(OF_SENTENCES)]
    assert [place for path in others for place in _lists(path)] == []
