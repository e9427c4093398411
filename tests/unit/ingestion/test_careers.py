"""Career vocabulary: dates and durations, section names, places, and the cache of word scores."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.ingestion.parsers.careers.dates import MONTHS, DateRange, date_ranges, durations, stacked_range
from pipelines.ingestion.parsers.careers.places import place_score
from pipelines.ingestion.parsers.careers.section_names import SECTION_NAMES, section_of
from pipelines.ingestion.parsers.careers.vocabulary import MAX_CACHED_LENGTH, cached_for_short_text


def months_of(text: str) -> list[tuple[str, str | None, bool]]:
    return [(found.start_month, found.end_month, found.current) for found in date_ranges(text)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("January 2020 to March 2021", "2020-01", "2021-03"),
        ("JAN 2020 - SEPT 2021", "2020-01", "2021-09"),
        ("01/2020 - 03/2021", "2020-01", "2021-03"),
        ("6/2015-7/2016", "2015-06", "2016-07"),
        ("01/20 – 03/21", "2020-01", "2021-03"),
        ("2020-01 – 2021-03", "2020-01", "2021-03"),
        ("15.03.2019 - 31.12.2020", "2019-03", "2020-12"),
        ("15 March 2019 – 3 April 2020", "2019-03", "2020-04"),
        ("Jan – Mar 2020", "2020-01", "2020-03"),
        ("2019–2021", "2019", "2021"),
        ("Mar. 2020 - Exp. Mar. 2021", "2020-03", "2021-03"),
        ("2019 – expected 2021", "2019", "2021"),
        ("2019-21", "2019", "2021"),
        ("2019/20", "2019", "2020"),
        ("2018/2019", "2018", "2019"),
        ("2019 - 15 March 2020", "2019", "2020-03"),
        ("von März 2019 bis Dezember 2021", "2019-03", "2021-12"),
        ("Okt. 2018 – Dez. 2019", "2018-10", "2019-12"),
        ("de janvier 2019 à mars 2020", "2019-01", "2020-03"),
        ("juil. 2018 - févr. 2019", "2018-07", "2019-02"),
        ("enero de 2019 - diciembre de 2020", "2019-01", "2020-12"),
        ("set de 2019 – fev de 2021", "2019-09", "2021-02"),
        ("dal 2019 al 2021", "2019", "2021"),
        ("gennaio 2019 - agosto 2020", "2019-01", "2020-08"),
    ],
)
def test_date_ranges_keep_the_stated_precision(text: str, start: str, end: str) -> None:
    assert date_ranges(f"Acme\t{text}\tBerlin") == (DateRange(5, 5 + len(text), text, start, end),)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("Jan 2020 – Present", "2020-01"),
        ("Nov. 2012 to Current", "2012-11"),
        ("Jan 2020 –\nPresent", "2020-01"),
        ("2020 –", "2020"),
        ("since 2020", "2020"),
        ("12.2019 - heute", "2019-12"),
        ("seit März 2020", "2020-03"),
        ("août 2019 – aujourd’hui", "2019-08"),
        ("depuis 2020", "2020"),
        ("de enero de 2020 a la actualidad", "2020-01"),
        ("ago. 2021 - actualidad", "2021-08"),
        ("jan de 2020 – o momento", "2020-01"),
        ("fevereiro de 2020 até o momento", "2020-02"),
        ("gennaio 2019 – presente", "2019-01"),
        ("gennaio 2020 ad oggi", "2020-01"),
    ],
)
def test_an_open_range_is_current_and_has_no_end(text: str, start: str) -> None:
    assert date_ranges(text) == (DateRange(0, len(text), text, start, None, current=True),)


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("June 2020", "2020-06"),
        ("Sept. 2018", "2018-09"),
        ("Jan '20", "2020-01"),
        ("Jan ’98", "1998-01"),
        ("March 15, 2019", "2019-03"),
        ("03/15/2019", "2019-03"),
        ("2019-03-15", "2019-03"),
        ("1er janvier 2020", "2020-01"),
        ("Summer 2019", "2019"),
        ("Q3 2021", "2021"),
        ("2021", "2021"),
    ],
)
def test_a_single_date_has_no_end(text: str, month: str) -> None:
    assert date_ranges(text) == (DateRange(0, len(text), text, month, None),)


@pytest.mark.parametrize("month", MONTHS)
def test_every_month_name_is_read(month: int) -> None:
    for word in MONTHS[month].split():
        assert months_of(f"{word.capitalize()} 2020 - {word}. 2021") == [
            (f"2020-{month:02d}", f"2021-{month:02d}", False)
        ]


@pytest.mark.parametrize(
    "text",
    "10-20 people|+49 2019 2020|555-2019|2019-5551234|2000 users|$2019|ISO 9001:2015|10.2010/xyz|CVE-2019-1234|ES2015"
    "|the 2010s|20192020|https://a.com/2019/03/post|version 2020.3|1949|2100|2000+|100-2000%|Jan".split("|"),
)
def test_other_numbers_are_not_dates(text: str) -> None:
    assert months_of(text) == []


def test_an_ambiguous_month_word_is_left_out() -> None:
    assert [found.text for found in date_ranges("We rolled out 2019. Out de 2019 sim.")] == ["2019", "Out de 2019"]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("2019\t2022", ("2019", "2022", False)),
        ("2022\n2019", ("2019", "2022", False)),
        ("Mar 2019\n\nPresent", ("2019-03", None, True)),
        ("2019\tBerlin", None),
        ("2019", None),
        ("2015\t2016\t2017", None),
    ],
)
def test_two_ends_alone_in_columns_or_lines_are_a_range(text: str, stated: tuple | None) -> None:
    found = stacked_range(f"x {text}", 2, len(text) + 2)
    assert (found and (found.start_month, found.end_month, found.current)) == stated


def test_dates_are_in_order_without_overlap() -> None:
    text = "Acme, 2019, 2020 and 03/2021 – Present (3 years); B: May 2015 - June 2017"
    found = date_ranges(text)
    assert [date.text for date in found] == ["2019", "2020", "03/2021 – Present", "May 2015 - June 2017"]
    assert all(text[date.start : date.end] == date.text for date in found)


@pytest.mark.parametrize(
    "text",
    [
        "2 years 3 months", "(3 yrs 2 mos)", "2 Jahre 3 Monate", "1 an 2 mois", "(2 años 3 meses)", "1 ano 2 meses",
        "2 anni 3 mesi", "10 mos", "1 yr", "3 years and 1 month", "less than a year", "weniger als ein Jahr",
        "moins d'un an", "menos de un año", "menos de um ano", "meno di un anno",
    ],
)  # fmt: skip
def test_durations_include_their_brackets(text: str) -> None:
    assert durations(f"Present {text} x") == [(8, 8 + len(text))]


def test_a_bracket_with_other_words_is_not_part_of_a_duration() -> None:
    text = "(2 years, mostly)"
    assert [text[start:end] for start, end in durations(text)] == ["2 years"]


DATE_LIKE_TEXT = st.lists(
    st.sampled_from(
        [*"0123456789-–/.,' \n\t", "2019", "Jan ", "since ", "'20", "de ", "März", " à ", "Present", "İ", "ﬁ"]
    ),
    max_size=60,
).map("".join)


@given(DATE_LIKE_TEXT | st.text())
@settings(max_examples=300)
def test_date_spans_are_exact_and_ascending_without_overlap(text: str) -> None:
    done = 0
    for date in date_ranges(text):
        assert done <= date.start < date.end <= len(text)
        assert text[date.start : date.end] == date.text
        assert 1950 <= int(date.start_month[:4]) <= 2099
        done = date.end
    for start, end in durations(text):
        assert text[start:end].strip()


@pytest.mark.parametrize(
    ("title", "section"),
    [
        ("EXPERIENCE", "experience"),
        ("Work history:", "experience"),
        ("E X P E R I E N C E", "experience"),
        ("W O R K   E X P E R I E N C E", "experience"),
        ("## **Employment History**", "experience"),
        ("3. Work Experience", "experience"),
        ("💼 Experience", "experience"),
        ("• Experience •", "experience"),
        ("Experience (continued)", "experience"),
        ("Relevant professional experience", "experience"),
        ("Top Skills", "top_skills"),
        ("Honors-Awards", "awards"),
        ("Selected Honors", "awards"),
        ("Volunteer Experience", "volunteering"),
        ("Licenses & Certifications", "certifications"),
    ],
)
def test_section_headings_are_recognised_in_any_style(title: str, section: str) -> None:
    assert section_of(title) == section


@pytest.mark.parametrize(
    ("section", "titles"),
    [
        ("summary", "About | Zusammenfassung | Résumé professionnel | Extracto | Resumo | Riepilogo"),
        ("experience", "Employment | Berufserfahrung | Expérience | Experiencia laboral | Experiência | Esperienza"),
        ("education", "Education | Ausbildung | Formation | Educación | Formação acadêmica | Istruzione"),
        ("skills", "Skills | Kenntnisse | Compétences | Aptitudes | Competências | Competenze tecniche"),
        ("languages", "Languages | Sprachen | Langues | Idiomas | Línguas | Lingue"),
        (
            "certifications",
            "Certificates | Zertifikate | Certificats | Certificaciones | Certificações | Certificazioni",
        ),
        ("contact", "Contact | Kontakt | Coordonnées | Contactar | Contato | Contatti"),
        (
            "top_skills",
            "Top Skills | Top-Kenntnisse | Principales compétences | Aptitudes principales"
            " | Principais competências | Competenze principali",
        ),
    ],
)
def test_section_headings_are_recognised_in_six_languages(section: str, titles: str) -> None:
    known = {title.strip(): section_of(title) for title in titles.split("|")}
    assert known.pop("Résumé professionnel", section) in ("", section)
    assert set(known.values()) == {section}


def test_of_two_section_names_the_first_counts_but_skills_before_languages() -> None:
    assert section_of("Languages & Frameworks") == "skills"
    assert section_of("Skills and Languages") == "skills"
    assert section_of("Languages and Interests") == "languages"
    assert section_of("Awards / Publications") == "awards"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Experience at Google",
        "Languages: Python, Go",
        "Engineer",
        "Professional",
        "Skills 2020",
        "Resume",
        "word " * 90,
    ],
)
def test_other_lines_are_no_section_headings(line: str) -> None:
    assert section_of(line) == ""


@given(st.text())
def test_section_of_accepts_any_line(line: str) -> None:
    assert section_of(line) in {"", *SECTION_NAMES}


def test_results_are_cached_only_for_short_text() -> None:
    judged: list[int] = []
    length = cached_for_short_text(lambda words: judged.append(len(words)) or len(words))
    assert [
        length("a" * size)
        for size in (MAX_CACHED_LENGTH, MAX_CACHED_LENGTH, MAX_CACHED_LENGTH + 1, MAX_CACHED_LENGTH + 1)
    ] == judged[:1] * 2 + judged[1:]
    assert judged == [MAX_CACHED_LENGTH, MAX_CACHED_LENGTH + 1, MAX_CACHED_LENGTH + 1]


@pytest.mark.parametrize(
    ("place", "score"),
    [
        ("Berlin", 3),
        ("Princeton, NJ", 2),
        ("Lyon, France", 3),
        ("Remote (US)", 3),
        ("Dakar, Sénégal", 2),
        ("Bielstadt, Germany", 2),
        ("Oakline, Berlin", 1),
        ("Acme, Data Platform", 0),
        ("", 0),
    ],
)
def test_place_scores_depend_on_the_known_parts(place: str, score: int) -> None:
    assert place_score(place) >= score
    assert (place_score(place) == 0) == (score == 0)
