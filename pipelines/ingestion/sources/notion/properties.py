"""What the properties of a page say, as text."""

from collections.abc import Callable, Mapping
from typing import Any

from pipelines.ingestion.loaders.notion.words import bare, words
from pipelines.ingestion.sources.notion.address import digits
from pipelines.ingestion.sources.notion.api import Api
from pipelines.ingestion.sources.notion.asking import Gone, Refused
from pipelines.ingestion.sources.notion.reduce import pieces

_SHOWN = 25  # of a property's values, a page itself shows no more
_LONG = frozenset({"title", "rich_text", "relation", "people"})

Told = Mapping[str, Any]


class Properties:
    """Reads properties; the titles of related pages come from those listed already, else from one request each."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._titles: dict[str, str] = {}

    def know(self, page: Told) -> str:
        """The title of a page, remembered for relations to it."""
        title = title_of(page)
        self._titles[digits(page["id"])] = title
        return title

    def of(self, page: Told, asked: Mapping[str, str]) -> tuple[list[list[str]], dict[str, str]]:
        """([name, text] of the properties that say something, by name; what of them took requests of its own).

        Rollups are not among the latter: they change with other pages, when the page's own time stays.

        Args:
            page: What Notion says of the page.
            asked: What took requests the last time, where the page did not change since.
        """
        found, took = [], dict[str, str]()
        for name, told in sorted((page.get("properties") or {}).items()):
            if told["type"] == "title":
                continue
            if self._is_asked(told):
                is_own = told["type"] != "rollup"
                text = asked[name] if is_own and name in asked else self._asked(page, told)
                took |= {name: text} if is_own else {}
            else:
                text = property_text(told, self._titles)
            if text.strip():
                found.append([name, " ".join(text.split())])
        return found, took

    def _is_asked(self, told: Told) -> bool:
        """Whether the property says more than the page shows of it."""
        value = told.get(told["type"])
        if told["type"] == "rollup" and isinstance(value, dict):
            return len(value.get("array") or ()) >= _SHOWN
        if told["type"] not in _LONG or not isinstance(value, list):
            return False
        unknown = told["type"] == "relation" and any(digits(each["id"]) not in self._titles for each in value)
        return unknown or bool(told.get("has_more")) or len(value) >= _SHOWN

    def _asked(self, page: Told, told: Told) -> str:
        kind, values = told["type"], told[told["type"]]
        if kind == "rollup":
            return self._rolled_up(page, told)
        if told.get("has_more") or len(values) >= _SHOWN:
            items = self._api.property_items(digits(page["id"]), told["id"])
            values = [item[kind] for item in items if item.get("type") == kind]
        if kind == "relation":
            return ", ".join(filter(None, (self._title(digits(each["id"])) for each in values)))
        return property_text({"type": kind, kind: values}, self._titles)

    def _rolled_up(self, page: Told, told: Told) -> str:
        """All values of a rollup, or those that the page shows where Notion gives no others."""
        try:
            items = list(self._api.property_items(digits(page["id"]), told["id"]))
        except (Gone, Refused):
            return property_text(told, self._titles)
        return ", ".join(filter(None, map(self._item, items)))

    def _item(self, item: Told) -> str:
        """One of the values that a rollup shows, which may be of any kind."""
        kind, value = item["type"], item.get(item["type"])
        if kind == "relation" and isinstance(value, Mapping):
            return self._title(digits(value["id"])) if value else ""
        is_one = kind in _LONG and isinstance(value, Mapping)
        return property_text({**item, kind: [value]} if is_one else item, self._titles)

    def _title(self, page_id: str) -> str:
        if page_id not in self._titles:
            try:
                self._titles[page_id] = title_of(self._api.page(page_id))
            except (Gone, Refused):
                self._titles[page_id] = ""
        return self._titles[page_id]


def title_of(page: Told) -> str:
    """The words of a page's title on one line; empty where it has none."""
    for told in (page.get("properties") or {}).values():
        if told.get("type") == "title":
            return " ".join(bare(pieces(told.get("title"))).split())
    return ""


def property_text(told: Told, titles: Mapping[str, str]) -> str:
    """What a property's value says; nothing for one that is empty or of a kind without words."""
    kind = str(told.get("type") or "")
    value = told.get(kind)
    if value is None or value == "":
        return ""
    if kind in ("title", "rich_text"):
        return words(pieces(value))
    if kind == "relation":
        return ", ".join(filter(None, (titles.get(digits(each["id"]), "") for each in value)))
    if kind in ("formula", "rollup", "array"):
        return _computed(value, titles)
    return ", ".join(filter(None, (_one(each) for each in (value if isinstance(value, list) else [value]))))


def _computed(value: Any, titles: Mapping[str, str]) -> str:
    """What a formula or a rollup came to."""
    if value.get("type") == "array":
        return ", ".join(filter(None, (property_text(each, titles) for each in value["array"])))
    return property_text(value, titles)


def _one(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float | str):
        return str(value)
    return next((text for read in _READ if (text := read(value))), "") if isinstance(value, Mapping) else ""


def _date(value: Told) -> str:
    return " → ".join(str(value[end]) for end in ("start", "end") if value.get(end))


def _number(value: Told) -> str:
    if value.get("number") is None:
        return ""
    return f"{value['prefix']}-{value['number']}" if value.get("prefix") else str(value["number"])


def _named(value: Told) -> str:
    return str(value.get("name") or value.get("address") or value.get("state") or "")


_READ: tuple[Callable[[Told], str], ...] = (_date, _named, _number)
