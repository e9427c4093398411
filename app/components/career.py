"""A person's career for its page: rows by kind with their sources, bars by years, what the documents disagree about."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

import altair as alt

from app.conversation import Exchange
from app.wording import place, readable
from pipelines.answers import Sentence
from pipelines.months import duration_text
from pipelines.query.careers.computed_answer import skill_mention
from pipelines.query.careers.disagreements import career_disagreements, fact_source
from pipelines.query.careers.people import Person
from pipelines.store.facts import Fact

_HUES = {"Jobs": "#1d7f88", "Studies": "#a06a2c", "Projects": "#7a5ea8", "Talks": "#b0506a", "Skills": "#5f7f3f"}
_KINDS = (*_HUES, "Certificates", "Languages", "About")
_SKILL_BARS = 10
_LINE = 40  # pixels of the chart for a row
_ABOUT = {"dates": "the dates of", "title": "the title at", "employer": "the employer of", "value": ""}
Bar = tuple[date, date, Fact]


@dataclass(frozen=True, slots=True)
class CareerRow:
    """The statements of one thing: `years` as stated, and its bars, each with the fact that it opens."""

    kind: str
    title: str
    detail: str
    years: str
    stated: tuple[Fact, ...]
    bars: tuple[Bar, ...] = ()


@dataclass(frozen=True, slots=True)
class Career:
    """The rows of a person; source n of `exchange`, which the reader can open, is the n-th of `facts`."""

    person: Person
    rows: list[CareerRow]
    facts: list[Fact]
    exchange: Exchange


def career_of(person: Person, today: date) -> Career:
    """The facts that are stated of a person, by kind."""
    rows = sorted(_rows(person, today), key=lambda row: _KINDS.index(row.kind))
    facts = list(dict.fromkeys(fact for row in rows for fact in row.stated))
    exchange = Exchange("", sources={n: fact_source(fact, n) for n, fact in enumerate(facts, start=1)})
    for n, source in exchange.sources.items():
        exchange.sentences.append(Sentence(source.snippet, (n,), "supported", (source.cite(source.start, source.end),)))
    return Career(person, rows, facts, exchange)


def _rows(person: Person, today: date) -> Iterator[CareerRow]:
    for job in person.jobs:
        where = ", ".join(filter(None, (job.record.company, job.record.location)))
        title, more = (job.record.position, where) if job.record.position else (where, "")
        lasted = duration_text([job.stretch] if job.stretch else [])
        years = " · ".join(filter(None, (job.record.date_range, lasted)))
        yield CareerRow("Jobs", title, more, years, job.stated, _bar(job.stated[0], today))
    for skill, stated in person.skills:
        used = [(job, named[0]) for job in person.jobs if (named := skill_mention(job, skill))]
        lasted = duration_text([job.stretch for job, _ in used if job.stretch])
        facts = tuple(dict.fromkeys((*stated, *(fact for _, fact in used))))
        bars = tuple((*bar[:2], fact) for job, fact in used for bar in _bar(job.stated[0], today))
        yield CareerRow("Skills", skill, "", lasted and f"{lasted} in jobs that name it", facts, bars)
    kinds: tuple[tuple[str, tuple[tuple[Fact, ...], ...], tuple[str, ...], str], ...] = (
        ("Studies", person.education, ("degree", "area"), "institution"),
        ("Projects", person.projects, ("name",), "purpose"),
        ("Talks", person.talks, ("title",), "place"),
        ("Certificates", person.certifications, ("name",), "issuer"),
        ("Languages", person.languages, ("language",), "level"),
    )
    for kind, groups, names, detail in kinds:
        for group in groups:
            record: Any = group[0].record
            title, more = " ".join(filter(None, (getattr(record, name) for name in names))), getattr(record, detail)
            years = getattr(record, "date_range", "")
            yield CareerRow(kind, title or more, more if title else "", years, group, _bar(group[0], today))
    for name in ("headline", "location", "pronouns"):
        for fact in person.stated_facts:
            if said := getattr(fact.record, name):
                yield CareerRow("About", said, name, "", (fact,))


def _bar(fact: Fact, today: date) -> tuple[Bar, ...]:
    """From the first day of the start to the day after the end; a year without month is whole; none without dates."""
    record: Any = fact.record
    if not getattr(record, "start_month", ""):
        return ()
    last = today if record.current else _day(record.end_month or record.start_month, after=True)
    return ((_day(record.start_month), last, fact),)


def _day(month: str, *, after: bool = False) -> date:
    year, _, number = month.partition("-")
    following = int(number or 12 * after or 1) + after
    return date(int(year) + following // 13, (following - 1) % 12 + 1, 1)


def table_data(career: Career, opened: int | None) -> dict[str, Any]:
    """The rows by kind, each with the documents that state it, numbered from 1, and the disagreements, each once."""
    numbers = {each: n for n, each in enumerate(dict.fromkeys(fact.document_id for fact in career.facts), start=1)}
    names = {fact.document_id: readable(fact.title, fact.document_name) for fact in career.facts}

    def chip(n: int) -> list[Any]:
        source = career.exchange.sources[n]
        return [n, numbers[source.document_id], f"{names[source.document_id]}, {place(source)}"]

    chips = {fact: chip(n) for n, fact in enumerate(career.facts, start=1)}
    places = {(fact.document_id, fact.start, fact.end): each for fact, each in chips.items()}
    kinds = [[kind, [[row.years, row.title, row.detail, [chips[fact] for fact in row.stated]]
                     for row in career.rows if row.kind == kind]] for kind in _KINDS]  # fmt: skip
    disputes = [
        {"heading": f"The documents disagree about {_ABOUT[each.kind]} {each.about}",
         "sides": [{"said": side.said, "quote": " ".join(side.quote.split()),
                    "chip": places[side.source.document_id, side.source.start, side.source.end]}
                   for side in each.sides]}
        for each in career_disagreements([career.person])
    ]  # fmt: skip
    documents = [[number, names[each]] for each, number in numbers.items()]
    return {"kinds": [each for each in kinds if each[1]], "disputes": disputes, "documents": documents, "open": opened}


def timeline(career: Career) -> Any:
    """The dated rows as bars by years, those of a kind together; a pressed bar has the number of its fact as `n`."""
    skills = [row for row in career.rows if row.kind == "Skills" and row.bars]
    used = sorted(skills, key=lambda row: -sum((last - first).days for first, last, _ in row.bars))
    dated = [row for row in career.rows if row.bars and (row.kind != "Skills" or row in used[:_SKILL_BARS])]
    values = [{"label": ", ".join(filter(None, (row.title, row.detail))), "kind": row.kind, "row": at,
               "from": first.isoformat(), "to": last.isoformat(), "years": row.years, "n": career.facts.index(fact) + 1}
              for at, row in enumerate(dated) for first, last, fact in row.bars]  # fmt: skip
    if not values:
        return None
    shown = [kind for kind in _HUES if any(row.kind == kind for row in dated)]
    base = alt.Chart(alt.InlineData(values=values), height=_LINE * len(dated) + 30).encode(
        y=alt.Y("row:O", axis=None, scale=alt.Scale(paddingInner=0.75, paddingOuter=0.55))
    )
    hues = alt.Scale(domain=shown, range=[_HUES[kind] for kind in shown])
    bars = base.mark_bar(cornerRadius=3, cursor="pointer", strokeWidth=2).encode(
        x=alt.X("from:T", title=None, axis=alt.Axis(format="%Y", tickCount="year", labelOverlap=True, orient="bottom")),
        x2="to:T",
        color=alt.Color("kind:N", title=None, sort=shown, legend=alt.Legend(orient="top"), scale=hues),
        stroke=alt.Stroke("kind:N", legend=None, scale=hues),  # a day of a talk is seen on a telephone, too
        tooltip=[alt.Tooltip("label:N", title="What"), alt.Tooltip("years:N", title="When")],
    ).add_params(alt.selection_point(name="bar", fields=["n"], toggle=False))  # fmt: skip
    names = base.mark_text(
        align="left",
        baseline="bottom",
        dy=-7,
        fontSize=13,
        color="currentColor",
        font="Source Sans",
        limit=alt.ExprRef("width"),
    ).encode(x=alt.value(0), text="label:N", detail="row:O")
    return alt.layer(bars, names).properties(description="The career by years. The tables below say the same.")
