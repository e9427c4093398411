"""Verdicts on sentences against their sources."""

from dataclasses import replace

import pytest

from pipelines.answers import Source
from pipelines.query.verification.normalise import without_attribution
from pipelines.query.verify import verify

TEXT = (
    "# Work\n\nAnna Berg joined Acme in March 2019 as a data engineer. She led a team of 12 people.\n"
    "The pipeline handled 4,000 events a second. It did not use Kafka."
)


def source(n: int = 1, snippet: str = TEXT, start: int = 100) -> Source:
    return Source(
        n=n, document_id="d", documentName="cv.md", title="Resume of Anna Berg", uri="file:///cv.md", content_sha="c",
        category="resume", page=None, line_start=1, line_end=4, section_path=("Work",), snippet=snippet, start=start,
        end=start + len(snippet), node_ids=("n",),
    )  # fmt: skip


def test_a_verbatim_sentence_is_supported_by_its_exact_span() -> None:
    checked = verify("She led a team of 12 people.", [1], [source()])
    assert checked.verdict == "supported"
    quote = checked.evidence[0]
    assert quote.quote == "She led a team of 12 people."
    assert TEXT[quote.start - 100 : quote.end - 100] == quote.quote


def test_case_space_and_markup_do_not_matter_to_a_verbatim_sentence() -> None:
    marked = source(snippet="She **led** a [team](http://x.example) of\n12 people.")
    assert verify("she led a team of 12 people.", [1], [marked]).evidence[0].support == 1.0


def test_a_paraphrase_with_the_same_facts_is_supported() -> None:
    assert verify("In March 2019 Anna Berg joined Acme as data engineer.", [1], [source()]).verdict == "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "She led a team of 14 people.",
        "The pipeline did handle Kafka.",
        "The pipeline handled 4,000 events a second at Globex.",
        "She did not lead a team of 12 people.",
    ],
)
def test_a_wrong_number_name_or_negation_is_unsupported(claim: str) -> None:
    assert verify(claim, [1], [source()]).verdict == "unsupported"


def test_a_sentence_that_another_source_bears_out_is_misattributed_and_the_right_span_given() -> None:
    other = source(2, "Zurich is where she studied physics.", 0)
    checked = verify("She led a team of 12 people.", [2], [source(1), other])
    assert checked.verdict == "misattributed"
    assert checked.evidence[-1].n == 1


@pytest.mark.parametrize(
    "opening", ["Based on the provided sources, ", "According to source 3, ", "As stated in the documents, "]
)
def test_an_opening_that_names_the_sources_in_general_is_not_checked(opening: str) -> None:
    checked = verify(f"{opening}she led a team of 12 people.", [1], [source()])
    assert (checked.text, checked.verdict) == (f"{opening}she led a team of 12 people.", "supported")
    assert verify(f"{opening}she led a team of 14 people.", [1], [source()]).verdict == "unsupported"


def test_a_claim_that_names_another_document_than_it_cites_is_not_supported() -> None:
    pump = replace(source(1, "It pumps 40 litres a minute. It needs no oil.", 0), title="tidepump", document_id="p")
    crane = replace(source(2, "It lifts 12 tonnes.", 0), title="quaycrane", document_id="c")
    assert verify("quaycrane pumps 40 litres a minute.", [1], [pump, crane]).verdict == "partial"
    assert verify("tidepump pumps 40 litres a minute.", [1], [pump, crane]).verdict == "supported"


def test_a_pronoun_of_the_source_may_stand_for_the_name_that_the_claim_uses() -> None:
    text = "tidepump prime --port 3\n\nYou need Valve 7 and Hose 12 or longer."
    assert verify("tidepump needs Valve 7 and Hose 12 or longer.", [1], [source(snippet=text)]).verdict == "supported"
    swapped = "The landlord repairs the roof. Tenants repair the doors."
    assert verify("The landlord repairs the doors.", [1], [source(snippet=swapped)]).verdict == "partial"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Half of the letters came by sea.", "supported"),
        ("50 percent of the letters came by sea.", "supported"),
        ("Nine percent of the letters came by sea.", "partial"),
        ("Half of the guests came by boat.", "supported"),
    ],
)
def test_half_of_something_is_a_share_like_any_other(claim: str, verdict: str) -> None:
    text = "Half of the letters came by sea. Nine percent were lost on the way. Half our guests came by boat."
    assert verify(claim, [1], [source(snippet=text)]).verdict == verdict


def test_a_denial_of_something_else_at_the_end_of_a_sentence_does_not_count() -> None:
    text = "No window was broken, since the shutters close when the mast feels nothing."
    assert verify("No window was broken.", [1], [source(snippet=text)]).verdict == "supported"
    assert verify("A window was broken.", [1], [source(snippet=text)]).verdict == "unsupported"


def test_a_sentence_without_a_marker_is_uncited() -> None:
    assert verify("She led a team of 12 people.", [], [source()]).verdict == "uncited"


def test_a_claim_across_two_sentences_is_found_with_a_span_that_covers_both() -> None:
    checked = verify("as a data engineer. She led a team of 12", [1], [source()])
    assert checked.evidence[0].support == 1.0
    assert "joined Acme" in checked.evidence[0].quote
    assert "12 people" in checked.evidence[0].quote


@pytest.mark.parametrize(
    ("claim", "text", "verdict"),
    [
        ("5 years of experience with Go.", "15 years of experience with Go", "unsupported"),
        ("5 years of experience with Go.", "15 years of experience with Go.", "unsupported"),
        ("5 years of experience with Go.", "1.5 years of experience with Go.", "unsupported"),
        ("Able to deploy without downtime.", "was unable to deploy without downtime", "unsupported"),
        ("The team was able to deploy without downtime.", "The team was unable to deploy without downtime.", "partial"),
        ("able to deploy without downtime", "The team was not able to deploy without downtime.", "partial"),
        ("She did lead a team.", "She did not, however, lead a team.", "unsupported"),
        ("He led the project.", "She led the project.", "partial"),
        ("Kubernetes was adopted by the team in 2021.", "Nomad was adopted by the team in 2021.", "unsupported"),
        ("Google hired Marit as an engineer in 2020.", "Acme hired Marit as an engineer in 2020.", "unsupported"),
        ("She moved to Go in 2020.", "A long time ago she moved to Java in 2020.", "unsupported"),
        ("Revenue grew from 10 to 20.", "Revenue fell from 20 to 10.", "partial"),
        ("Revenue grew from 20 to 20.", "Revenue grew from 10 to 20.", "unsupported"),
        ("Marit reported to Anna.", "Anna reported to Marit.", "partial"),
        ("Acme hired Marit in 2020.", "Acme was hired by Marit in 2020.", "partial"),
    ],
)
def test_a_false_sentence_that_looks_alike_is_not_supported(claim: str, text: str, verdict: str) -> None:
    assert verify(claim, [1], [source(snippet=text)]).verdict == verdict


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("1,000 sensors were moved.", "1000 sensors were moved."),
        ("1000 sensors were moved.", "In 2020, 1,000 sensors were moved."),
        ("Anna built the crane, and it ran for six years.", "Anna built the crane, not the pier. It ran six years."),
        ("Anna built the crane and ran it for years.", "Anna built the crane. It ran for years, but was not blue."),
        ("Led a team of 12 people at Acme.", "At Acme she leads a team of 12 people."),
        ("Overall, Marit ran Kubernetes at Acme in 2020.", "In 2020 Marit ran k8s at Acme."),
        ("Acme hired Marit in 2020.", "Marit was hired by Acme in 2020."),
        ("Marit knows Go, Rust and C++.", "Marit knows C++, Rust and Go."),
        ("Marit leads R&D for .NET and IT.", "For .NET and IT, Marit leads R&D."),
        ("Not only did it scale to 20 nodes.", "It did scale to 20 nodes."),
        ("She did not use Kafka at Acme.", "At Acme she never used Kafka."),
    ],
)
def test_a_true_sentence_in_other_words_is_supported(claim: str, text: str) -> None:
    assert verify(claim, [1], [source(snippet=text)]).verdict == "supported"


# Parts of a claim

CRANE = source(1, "The crane moved 40 containers an hour. Marit built it in 2014.\n\n`pip install crane`")
SHIP = source(2, "The ship left Bergen on 3 May because the harbour froze over. It carried salted fish.")


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The text mentions that the crane moved 40 containers an hour.", "supported"),
        ("The crane moved 40 containers an hour, according to the document.", "supported"),
        ("It is stated in the source that Marit built it in 2014.", "supported"),
        ("Install it by `pip install crane`.", "supported"),
        ("Install it by `npm install crane`.", "unsupported"),
        ("The ship left Bergen on 3 May because the harbour froze over.", "supported"),
        ("The ship left Bergen on 3 May because its crew was paid by a rich uncle.", "partial"),
        ("The ship carried salted fish, and the crane moved 40 containers an hour.", "supported"),
        ("The ship carried salted fish; the crane moved 40 containers an hour.", "supported"),
    ],
)
def test_attributions_code_reasons_and_halves_are_judged_by_themselves(claim: str, verdict: str) -> None:
    cited = (1, 2) if "ship" in claim else (1,)
    assert verify(claim, cited, (CRANE, SHIP)).verdict == verdict


def test_a_half_without_a_subject_of_its_own_is_not_supported_by_what_another_document_says_of_somebody_else() -> None:
    crane = source(1, "Marit wrote the crane controller in Rust.")
    sailor = replace(source(2, "Jonas has sailed around the whole world twice in a wooden boat."), document_id="sailor")
    claim = "Marit wrote the crane controller in Rust and has sailed around the whole world twice in a wooden boat."
    assert verify(claim, [1], [crane, sailor]).verdict != "supported"


def test_two_halves_that_one_source_supports_apart_do_not_make_a_claim_that_it_does_not_support() -> None:
    text = (
        "The Writers honoured her in 2002. She was inducted by the Science Fiction Hall of Fame in {} and the Science "
        "Fiction Writers of America named her its 28th Grand Master in {}."
    )
    claim = text.format(2011, 2009).partition("2002. ")[2]
    assert verify(claim, [1], [source(1, text.format(2009, 2011))]).verdict == "partial"
    assert verify(claim, [1], [source(1, text.format(2011, 2009))]).verdict == "supported"


def test_what_somebody_s_posts_explain_is_a_claim_of_its_own() -> None:
    assert without_attribution("Her blog posts explain retrieval.") == "Her blog posts explain retrieval."
    assert without_attribution("Her blog post says that retrieval works.") == "retrieval works."
    assert without_attribution("The text mentions 11 hospitals.") == "11 hospitals."
