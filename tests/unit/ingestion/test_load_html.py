"""Blocks, title, date and charset of HTML files."""

import time

import pytest

from pipelines.errors import LoadError

PAGE = b"""<!DOCTYPE html><html><head><title>Ann &amp; Bob</title>
<meta name="author" content="Ann Lee"><meta property="article:published_time" content="2024-03-02T08:00:00Z">
<meta name="description" content="Of bread."></head>
<body><nav><a href="/">Home</a> <a href="/about">About</a></nav>
<p>An introduction before any heading.</p>
<h1>Bread</h1>
<p>We bake <b>every</b> day, see <a href="x">the log</a>, and H<sub>2</sub>O is <i>half</i>way gone.</p>
<h2>Steps</h2>
<ol><li>Mix<ul><li>flour</li></ul></li><li>Bake <em>well</em>.</li></ol>
<table><tr><th>Day</th><th>Loaves</th></tr><tr><td>Mon</td><td>3 | 4</td></tr></table>
<pre>oven = 230
time = 45</pre>
<script>var x = "no";</script><!-- no --></body></html>"""


def test_a_page_is_rendered_with_exact_blocks(load_bytes) -> None:
    document = load_bytes(PAGE, "bread.html")
    assert [(block.kind, document.text[block.start : block.end]) for block in document.blocks] == [
        ("paragraph", "An introduction before any heading."),
        ("heading", "Bread"),
        ("paragraph", "We bake every day, see the log, and H2O is halfway gone."),
        ("heading", "Steps"),
        ("list", "1. Mix"),
        ("list", "- flour"),
        ("list", "2. Bake well."),
        ("table", "| Day | Loaves |\n| --- | --- |\n| Mon | 3 \\| 4 |"),
        ("code", "```\noven = 230\ntime = 45\n```"),
    ]


def test_the_head_gives_title_author_date_and_description(load_bytes) -> None:
    document = load_bytes(PAGE, "bread.html")
    assert (document.title, document.author) == ("Bread", "Ann Lee")
    assert document.published_at is not None
    assert document.published_at.isoformat() == "2024-03-02T08:00:00+00:00"
    assert document.metadata["description"] == "Of bread."


@pytest.mark.parametrize(
    "head",
    [
        '<meta property="article:published_time" content="2024-03-02T23:30:00-05:00">',
        '<time datetime="2024-03-01">1 March</time><time class="dt-published" datetime="2024-03-02T00:10:00+09:00">',
        '<p>On <time datetime="2024-03-02T23:30:00-05:00">2 March</time> it rained.</p>',
    ],
)
def test_a_page_is_dated_by_the_day_that_it_states(load_bytes, head: str) -> None:
    document = load_bytes(f"{head}<h1>Rain</h1><p>Much.</p>".encode(), "a.html")
    assert document.published_at is not None
    assert str(document.published_at.date()) == "2024-03-02"


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>Mork | Stories</title><h1>How we roast</h1><p>Hot.</p><h2>Drum</h2><p>Big.</p>", "How we roast"),
        ("<title>All tides</title><h1>May</h1><p>High.</p><h1>June</h1><p>Low.</p>", "All tides"),
        ("<title>Tide table</title><p>High.</p>", "Tide table"),
    ],
)
def test_the_only_heading_of_level_1_is_the_title_else_that_of_the_head(load_bytes, page: str, title: str) -> None:
    assert load_bytes(page.encode(), "a.html").title == title


ROAST = "<main><h1>Roast</h1><p>The drum is heated to 215 degrees before the beans go in, as every morning.</p></main>"


@pytest.mark.parametrize(
    "notice",
    [
        '<div class="cookie-banner">We use cookies to improve your experience. Accept all</div>',
        '<div id="CybotCookiebotDialog"><h2>Privacy</h2><p>Cookies for statistics.</p><button>Deny</button></div>',
        '<aside role="dialog"><p>This site sets cookies.</p><p><a href="/p">More</a> <button>OK</button></p></aside>',
        '<section aria-label="Consent"><p>Your privacy</p><button>Reject</button></section>',
    ],
)
def test_a_notice_of_cookies_is_no_part_of_a_page(load_bytes, notice: str) -> None:
    for page in (f"<body>{notice}{ROAST}</body>", f"<body><div>{ROAST}{notice}</div></body>"):
        assert load_bytes(page.encode(), "a.html").text.split("\n\n")[0] == "Roast"
        assert "215" in load_bytes(page.encode(), "a.html").text
        for word in ("ookie", "rivacy"):
            assert word not in load_bytes(page.encode(), "a.html").text


def test_a_notice_that_is_long_by_its_lists_of_vendors_is_no_part_of_a_page(load_bytes) -> None:
    lists = f'<div class="cookie-vendors">{"cookie vendor " * 215}</div>' * 2
    notice = f'<div id="cookie-banner"><p>We value your privacy.</p><button>Reject</button>{lists}</div>'
    page = f"<body>{'<p>The drum is heated before the beans go in.</p>' * 60}{notice}</body>"
    text = load_bytes(page.encode(), "a.html").text
    assert "beans" in text
    assert not any(word in text for word in ("vendor", "privacy", "Reject"))


@pytest.mark.parametrize(
    "page",
    [
        "<article><h1>Cookies</h1><p>Mix flour; we accept no cookie that is flat.</p></article>",
        '<div class="post-cookies"><h1>Oat cookies</h1><p>Bake the cookies for nine minutes.</p></div>',
        "<p>Our cookie recipe: bake it. Did you like it? Accept our thanks.</p><p>More bread.</p>",
    ],
)
def test_what_a_page_says_of_cookies_stays(load_bytes, page: str) -> None:
    assert "ookie" in load_bytes(page.encode(), "a.html").text


def test_thousands_of_elements_that_are_named_after_cookies_are_read_in_seconds(load_bytes) -> None:
    entries = "".join(f'<div class="cookie-card"><p>recipe number {number}</p></div>' for number in range(20_000))
    began = time.monotonic()
    assert "recipe number 19999" in load_bytes(f"<body><div>{entries}</div></body>".encode(), "a.html").text
    assert time.monotonic() - began < 30  # it took six minutes while each looked at what is around it


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<ul><li><a href=a>One</a></li><li><a href=b>Two</a></li></ul><h1>Title</h1><p>Text.</p>", "Title\n\nText."),
        ("<nav><p>Chapter one</p></nav>", "Chapter one"),
        ("<p>one\n<b>two</b><br><i>three</i><br>four</p>", "one two\nthree\nfour"),
        ("<h1>T</h1><dl><dt>Rye</dt><dd>Dark bread</dd></dl>", "T\n\n- Rye\n  - Dark bread"),
        ("<details><summary>More</summary><p>Folded.</p></details>", "More\n\nFolded."),
        ("<p>So.</p><blockquote>Said so.</blockquote>", "So.\n\nSaid so."),
    ],
    ids=["menu", "only navigation", "line break", "definitions", "details", "quotation"],
)
def test_menus_are_dropped_and_other_elements_are_read(load_bytes, page: str, text: str) -> None:
    assert load_bytes(page.encode(), "a.html").text == text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>a</p><div hidden>x<p>x</p></div><p>b</p>", "a\n\nb"),
        ("<p>a <b style='display:none'>x</b>b</p>", "a b"),
        ("<p>a</p><p style='color:red; DISPLAY : None !important'>x</p><p>b</p>", "a\n\nb"),
        ("<p>a</p><h2 style='Visibility: hidden;'>x</h2><p>b</p>", "a\n\nb"),
        ("<p>a</p><pre hidden>x</pre><img hidden alt=x><p>b</p>", "a\n\nb"),
        ("<ol><li>a<li hidden>x<li>b<ul hidden><li>x</ul><li>c</ol>", "1. a\n2. b\n3. c"),
        (
            "<table><caption hidden>x</caption><tr><th>a<th hidden>x<tr hidden><td>x<tr><td>b<td hidden>x"
            "<tbody style=display:none><tr><td>x</table>",
            "| a |\n| --- |\n| b |",
        ),
        ("<table hidden><tr><td>x</table><p>a</p>", "a"),
        ("<pre>a<span hidden>x</span>b</pre>", "```\nab\n```"),
        ("<body style='visibility:hidden'><p>a</p><p hidden=until-found>b</p>", "a\n\nb"),
        ("<p>a</p><div role=tabpanel hidden><p>b</p></div>", "a\n\nb"),
        ("<p style='display:block; x-display:none'>a</p>", "a"),
    ],
)
def test_what_is_hidden_is_no_text_of_a_page(load_bytes, page: str, text: str) -> None:
    assert load_bytes(page.encode(), "a.html").text == text


@pytest.mark.parametrize(
    "code",
    [
        "a<br>b",
        "a\nb",
        "<span>a<br></span><span>b<br></span>",
        "<code><div>a</div><div>b</div></code>",
        "<div>a<br></div><div>b\n</div>",
        "a<div>b</div>",
        "<div>a</div>b",
    ],
)
def test_lines_of_code_stay_apart(load_bytes, code: str) -> None:
    assert load_bytes(f"<pre>{code}</pre>".encode(), "a.html").text == "```\na\nb\n```"


def test_lines_of_a_caption_stay_apart(load_bytes) -> None:
    page = b"<table><caption>Line<br>Two</caption><tr><td>a</td></tr></table>"
    assert load_bytes(page, "a.html").text.startswith("Line Two\n\n")


def test_the_declared_encoding_is_used(load_bytes) -> None:
    page = '<meta charset="iso-8859-2"><p>Łódź żyje</p>'.encode("iso-8859-2")
    assert load_bytes(page, "a.html").text == "Łódź żyje"


@pytest.mark.parametrize("declared", ["iso-8859-1", "Latin1", "ascii"])
def test_latin_1_is_read_as_browsers_do(load_bytes, declared: str) -> None:
    page = f'<meta charset="{declared}"><p>Œuvre, Žižka: 5 €</p>'.encode("cp1252")
    assert load_bytes(page, "a.html").text == "Œuvre, Žižka: 5 €"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_needs_no_mark(load_bytes, codec: str) -> None:
    assert load_bytes("<html><body><p>Łódź, 5 €</p></body></html>".encode(codec), "a.html").text == "Łódź, 5 €"


def test_a_figure_keeps_its_caption_and_alternative_text(load_bytes) -> None:
    page = b"<figure><img src=a alt='A red door'><figcaption>Figure 1: <b>the</b> door</figcaption></figure>"
    bare = b"<p>See <img src=b alt='a small oven'> here.</p>"
    assert load_bytes(page + bare, "a.html").text.split("\n\n") == [
        "A red door",
        "Figure 1: the door",
        "See here.",
        "a small oven",
    ]


def test_spans_lists_and_tables_in_cells_stay_on_the_row(load_bytes) -> None:
    page = (
        b"<table><tr><th colspan=2>Wide</th><th>Tall</th></tr><tr><td rowspan=2>a</td><td>b</td><td>c</td></tr>"
        b"<tr><td>x<ul><li>l1</li><li>l2</li></ul></td><td><table><tr><td>n1</td><td>n2</td></tr></table></td></tr>"
        b"</table>"
    )
    assert load_bytes(page, "a.html").text.split("\n") == [
        "| Wide |  | Tall |",
        "| --- | --- | --- |",
        "| a | b | c |",
        "| a | x; l1; l2 | n1 n2 |",
    ]


def test_a_page_laid_out_with_a_table_is_read_as_paragraphs(load_bytes) -> None:
    page = b"<table><tr><td><h2>Left</h2><p>One.</p><p>Two.</p></td><td><h2>Right</h2><p>Three.</p></td></tr></table>"
    document = load_bytes(page, "a.html")
    assert document.text.split("\n\n") == ["Left", "One.", "Two.", "Right", "Three."]
    assert [block.kind for block in document.blocks].count("heading") == 2


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (b"<html><body></body></html>", "is empty"),
        (b"<div>" * 3_000 + b"x", "has over 2,000 nested elements"),
        (b"<meta charset=utf-8><p>" + bytes(range(128, 256)) * 20, "declares the charset utf-8 but is not in it"),
    ],
)
def test_refused_pages_give_a_reason(load_bytes, page: bytes, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        load_bytes(page, "a.html")


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>a < b, and <c", "a < b, and <c"),
        ("<p>a <!-- b <b>c</b> d", "a <!-- b c d"),
        ("<p>a &#x b &#65; &#1a;", "a &#x b A &#1a;"),
        ("<p>AT&#T, R&#D; <i>x</i><p>y", "AT&#T, R&#D; x\n\ny"),
        ("<p>a <![ b", "a <![ b"),
        ("<p>a <![x]> b", "a b"),
        ("<p>a <![if !IE]>b<![endif]> c", "a b c"),
        ("<p>a <![CDATA[ b ]]> c", "a c"),
    ],
)
def test_unclosed_markup_is_text(load_bytes, page: str, text: str) -> None:
    assert load_bytes(page.encode(), "a.html").text == text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>a<p>b<p>c", "a\n\nb\n\nc"),
        ("<ul><li>a<ul><li>b<li>c</ul><li>d</ul><p>e", "- a\n  - b\n  - c\n- d\n\ne"),
        ("<table><tr><td>a<td>c<tr><td>d<td>e</table>", "| a | c |\n| --- | --- |\n| d | e |"),
    ],
)
def test_paragraphs_items_and_cells_need_no_end_tags(load_bytes, page: str, text: str) -> None:
    assert load_bytes(page.encode(), "a.html").text == text


def test_lists_and_tables_may_be_nested_deeply(load_bytes) -> None:
    assert load_bytes(b"<ul><li>a" * 200, "a.html").text.split() == ["-", "a"] * 200
    assert load_bytes(b"<table><tr><td>a" * 200, "a.html").text.split() == ["a"] * 200


def test_a_page_of_thousands_of_paragraphs_without_end_tags_is_read(load_bytes) -> None:
    document = load_bytes(b"<h1>Top</h1>" + b"<p>One paragraph.\n" * 4_000, "a.html")
    assert [block.kind for block in document.blocks] == ["heading"] + ["paragraph"] * 4_000


@pytest.mark.parametrize("unit", ["<a ", "<!-- ", "<!-- >", "<![CDATA[ >", "<![if ", "</", "&#", "&#1a", '<a b="'])
def test_unclosed_markup_takes_linear_time(load_bytes, unit: str) -> None:
    def spent(characters: int) -> float:
        page = f"<p>word {unit * (characters // len(unit))};".encode()
        began = time.process_time()
        load_bytes(page, "a.html")
        return time.process_time() - began

    spent(100)
    assert spent(80_000) < 20 * spent(10_000) + 0.3


@pytest.mark.parametrize("span", ["rowspan='2000000000' colspan='1000000'", "colspan='2000000000'"])
def test_impossible_spans_lose_no_cell(load_bytes, span: str) -> None:
    page = f"<h1>T</h1><table><tr><td {span}>A</td></tr><tr><td>1</td><td>2</td></tr></table>"
    text = load_bytes(f"<html><body>{page}</body></html>".encode(), "colspan.html").text
    assert [word for word in text.replace("|", " ").split() if word in ("A", "1", "2")] == ["A", "1", "2"]
