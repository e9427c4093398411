"""LlamaIndex's MetadataFilters as SQL conditions: keys and values are bound parameters, never SQL text."""

import math
import operator
from collections.abc import Callable
from typing import Any

from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
from sqlalchemy import ColumnElement, Text, and_, cast, false, func, literal, or_, select, true
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from pipelines.errors import RetrievalError
from pipelines.store.filters import is_storable
from pipelines.store.schema import documents
from pipelines.types import NodeMetadata

_STORED_KEYS = {*NodeMetadata.model_fields, "doc_id", "ref_doc_id"}
_DOCUMENT_COLUMNS = {"author", "name", "source_uri", "source_kind", "bytes", "published_at", "modified_at"}
_UTC = 'YYYY-MM-DD"T"HH24:MI:SS"Z"'


def metadata_condition(filters: MetadataFilters, stored: ColumnElement[Any]) -> ColumnElement[bool]:
    """The condition on the stored metadata of a node, never NULL; `NOT` holds if none of its filters does.

    A key is one of the caller's own, else a field of NodeMetadata, else a column of the document (`author`, `name`,
    `source_uri`, `source_kind`, `bytes`, and as ISO 8601 text `published_at`, `modified_at`). Values compare as
    LlamaIndex's in-memory store compares them, but values of different types are unequal and have no order, and ANY,
    ALL and CONTAINS look into lists only.

    Raises:
        RetrievalError: If an operator is not supported, or a value does not fit its operator or cannot be stored.
    """
    parts = [
        metadata_condition(each, stored)
        if isinstance(each, MetadataFilters)
        else func.coalesce(_comparison(each, _value(each.key, stored)), false())
        for each in filters.filters
    ]
    if filters.condition == FilterCondition.NOT:
        return ~or_(false(), *parts)
    return or_(*parts) if filters.condition == FilterCondition.OR and parts else and_(true(), *parts)


def _value(key: str, stored: ColumnElement[Any]) -> ColumnElement[Any]:
    """The JSON value of a key; NULL if it is missing or null."""
    found: list[Any] = [stored["extra"][key]]
    if key in _STORED_KEYS:
        found.append(stored[key])
    elif key in _DOCUMENT_COLUMNS:
        column: Any = documents.c[key]
        value = func.to_char(func.timezone("UTC", column), _UTC) if key.endswith("_at") else column
        of_it = documents.c.id == stored["document_id"].astext
        found.append(select(func.to_jsonb(value)).where(of_it).scalar_subquery())
    return func.nullif(func.coalesce(*found), cast(JSONB.NULL, JSONB), type_=JSONB)


def _comparison(each: MetadataFilter, value: Any) -> ColumnElement[bool]:
    if each.operator == FilterOperator.IS_EMPTY:
        return or_(value.is_(None), value.in_([cast([], JSONB), cast("", JSONB)]))
    if each.operator not in _COMPARISONS:
        raise RetrievalError(f"The filter operator {each.operator.name} ({each.operator.value}) is not supported.")
    wanted: Any = each.value
    several = wanted if isinstance(wanted, list) else [wanted]
    kinds, compare = _COMPARISONS[each.operator]
    if not isinstance(wanted, kinds):
        raise RetrievalError(f"The filter on {each.key[:40]!r} has no value that {each.operator.name} can compare.")
    if not all(map(is_storable, [each.key, *several])) or not all(map(_is_json, several)):
        raise RetrievalError(f"The filter on {each.key[:40]!r} has a value that cannot be stored.")
    return compare(value, wanted)


def _is_json(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _json(value: Any) -> Any:
    return cast(value, JSONB)


def _is(value: Any, kind: str) -> Any:
    return func.jsonb_typeof(value) == kind


def _text(value: Any) -> Any:
    return value.op("#>>", return_type=Text())(cast([], ARRAY(Text)))


def _ordered(order: Callable[[Any, Any], Any]) -> Callable[[Any, Any], ColumnElement[bool]]:
    def compare(value: Any, wanted: Any) -> ColumnElement[bool]:
        if isinstance(wanted, str):  # by code points, whatever the collation of the database
            return and_(_is(value, "string"), order(_text(value).collate("C"), literal(wanted)))
        return and_(_is(value, "number"), order(value, _json(wanted)))

    return compare


_SCALAR = (str, int, float)
# By operator, the types of its values, and the SQL condition on (the stored value, the filter's value).
_COMPARISONS: dict[FilterOperator, tuple[Any, Callable[[Any, Any], ColumnElement[bool]]]] = {
    FilterOperator.EQ: ((*_SCALAR, list), lambda value, wanted: value == _json(wanted)),
    FilterOperator.NE: ((*_SCALAR, list), lambda value, wanted: value.is_distinct_from(_json(wanted))),
    FilterOperator.GT: (_SCALAR, _ordered(operator.gt)),
    FilterOperator.GTE: (_SCALAR, _ordered(operator.ge)),
    FilterOperator.LT: (_SCALAR, _ordered(operator.lt)),
    FilterOperator.LTE: (_SCALAR, _ordered(operator.le)),
    FilterOperator.IN: (list, lambda value, wanted: or_(false(), *(value == _json(one) for one in wanted))),
    FilterOperator.NIN: (
        list, lambda value, wanted: and_(true(), *(value.is_distinct_from(_json(one)) for one in wanted))
    ),
    FilterOperator.ANY: (list, lambda value, wanted: or_(false(), *(value.contains(_json([one])) for one in wanted))),
    FilterOperator.ALL: (list, lambda value, wanted: and_(_is(value, "array"), value.contains(_json(wanted)))),
    FilterOperator.CONTAINS: (_SCALAR, lambda value, wanted: value.contains(_json([wanted]))),
    FilterOperator.TEXT_MATCH: (
        str, lambda value, wanted: and_(_is(value, "string"), func.strpos(_text(value), wanted) > 0)
    ),
}  # fmt: skip
