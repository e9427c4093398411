"""E-mail addresses, telephone numbers and links of a text."""

import pytest

from pipelines.contacts import begins_address, email_in, is_contact, linkedin_slug, links_in, phones_in


def test_addresses_and_links_are_found_and_told_apart() -> None:
    text = "Ann Lee, ann.lee@mail.example. See ann.example/work, https://example.org/a_(b)."
    assert email_in(text) == "ann.lee@mail.example"
    assert links_in(text) == ("ann.example/work", "https://example.org/a_")


def test_numbers_with_as_many_digits_as_telephones_have_may_be_one() -> None:
    assert list(phones_in("+49 341 555 0142 or 12345, not 1234567890123456789")) == ["+49 341 555 0142"]


def test_a_profile_that_a_line_end_cuts_is_joined() -> None:
    assert linkedin_slug("www.linkedin.com/in/jane-\ndoe-1234 (LinkedIn)") == "jane-doe-1234"
    assert linkedin_slug("linkedin.com/company/acme") == ""


@pytest.mark.parametrize("text", ["https://a.example", "www.a.example", "ann@a.example", "github.com/ann"])
def test_an_address_is_known_by_its_beginning(text: str) -> None:
    assert begins_address(text)
    assert is_contact(text)


@pytest.mark.parametrize("text", ["and/or", "Ann Lee", "2019 - 2021 at Acme", "e.g. this"])
def test_words_are_no_contact(text: str) -> None:
    assert not begins_address(text)
    assert not is_contact(text)
