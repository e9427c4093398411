"""Themes of layouts that templates of resumes have, of the half that is looked at while building."""

from corpus_maker.dates import DATES
from corpus_maker.job_lines import (
    bulleted,
    bulleted_dated,
    capitals_pipe,
    company_dated,
    company_first,
    hint,
    hint_right,
    leader,
    one_row,
    position_first,
    run_in,
    stacked,
)
from corpus_maker.pdf import Look
from corpus_maker.resumes import ALL, Theme

_SIDE = ("contact", "skills", "languages", "certifications")
_MAIN = ("summary", "experience", "education", "projects")
_SERVED = (*ALL, "served")

THEMES = (
    Theme("label-column", Look(hint=34, rule=False), DATES["short"], company_first, skills="hint"),
    Theme("boxes", Look(boxed=True), DATES["long"], company_first, skills="cells"),
    Theme(
        "boxes-by-group",
        Look("times", 10, boxed=True),
        DATES["numbers"],
        position_first,
        commas=False,
        skills="headed cells",
    ),
    Theme("grid", Look(size=9), DATES["years"], company_first, skills="cells"),
    Theme(
        "boxes-in-side",
        Look(size=9, boxed=True),
        DATES["short"],
        company_first,
        main=_MAIN,
        side=_SIDE,
        left=False,
        share=0.42,
        skills="cells",
        jobs=3,
    ),
    Theme("graded", Look("times", 10), DATES["short"], company_first, school="graded"),
    Theme("minor", Look(), DATES["long"], company_first, school="minor"),
    Theme("bulleted", Look(), DATES["short"], bulleted, school="bullet"),
    Theme("bulleted-dated", Look("times", 11, "letter", mark="-"), DATES["numbers"], bulleted_dated, located=False),
    Theme("leader", Look("times", 10), DATES["short"], leader, commas=False),
    Theme("run-in", Look(), DATES["years hyphen"], run_in, located=False),
    Theme("served", Look(), DATES["short"], company_first, main=_SERVED, served="Outside the Office"),
    Theme(
        "served-capitals",
        Look("times", 10, upper=True),
        DATES["long"],
        position_first,
        commas=False,
        main=_SERVED,
        served="Governance",
    ),
    Theme("side-titles", Look(titles=38, rule=False, heading_size=12.5), DATES["short"], company_first),
    Theme(
        "side-titles-large",
        Look("times", 10, titles=42, rule=False, heading_size=16),
        DATES["numbers"],
        position_first,
        commas=False,
        skills="cells",
    ),
    Theme("side-titles-plain", Look(titles=36, rule=False, heading_size=9.5), DATES["long"], stacked, located=False),
    Theme("narrow-hints", Look(hint=22, indent=22, rule=False), DATES["long"], hint, commas=False, school="hint"),
    Theme("narrow-dates", Look(aside=24), DATES["long"], position_first, commas=False),
    Theme("narrow-dates-company", Look("times", 10.5, aside=22), DATES["to current"], company_first, commas=False),
    Theme("hint-right", Look(hint=40, indent=40, rule=False), DATES["short"], hint_right, school="hint"),
    Theme(
        "narrow-side",
        Look("times", 10, upper=True, rule=False),
        DATES["short"],
        capitals_pipe,
        main=("summary", "experience", "projects"),
        side=("education", "skills", "languages", "certifications"),
        share=0.33,
        skills="dots",
        jobs=3,
    ),
    Theme(
        "company-dated", Look("times", 10.5, "letter"), DATES["long"], company_dated, school="graded", skills="headed"
    ),
    Theme("one-row", Look(size=9), DATES["years"], one_row, commas=False, skills="semi", school="one line"),
    Theme(
        "volunteering", Look("times", 10), DATES["short"], company_dated, main=_SERVED, served="Volunteer Experience"
    ),
    Theme(
        "side-titles-hints",
        Look(titles=34, hint=38, indent=38, rule=False, heading_size=13),
        DATES["short"],
        hint,
        commas=False,
        school="hint",
    ),
    Theme(
        "label-column-side",
        Look(hint=30, titles=30, rule=False, heading_size=12),
        DATES["short"],
        company_first,
        skills="hint",
    ),
)
