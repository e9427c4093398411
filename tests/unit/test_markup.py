"""Markup: which parts of a text are no words, in the Markdown of many tools."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.markup import plain, scan_markup
from tests.linear import assert_linear

WORDS = st.text(alphabet="abcdefgh", min_size=3, max_size=7)
SIGNS = st.text(alphabet=st.sampled_from("ab *_`[]()!<>-|#~\\&;{}%:\n\"'=^$"), max_size=200)


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("Set `${{ secrets.TOKEN }}` or `{% raw %}`.", "Set ${{ secrets.TOKEN }} or {% raw %}."),
        ("Run `drain <node>` and ``a ` b``.", "Run drain <node> and a ` b."),
        ("It costs $5, not $19 or `$x$`.", "It costs $5, not $19 or $x$."),
        ("Costs ~~14~~ 17, <del>3</del> <s>4</s> 5.", "Costs 17, 5."),
        ("About ~5 ms, ~6 at most.", "About ~5 ms, ~6 at most."),
        ("See [[Page|alias]], [[Page]] and [[Page#Part]].", "See alias, Page and Page > Part."),
        ("![[photo.png]]Hot today. ^kiln-peak", "Hot today."),
        ("x ^2", "x ^2"),
        ("It costs ~14~ 17; ~5 ms, ~/bin and ~/lib.", "It costs 17; ~5 ms, ~/bin and ~/lib."),
        ("Costs {--14--}{>>was<<} 17.", "Costs 17."),
        ("<del>\n\nOld.\n\n</del>\nNew.", "New."),
        ("Old^[It was 1998.] and new.", "Old (It was 1998.) and new."),
        ("Apple\n: A *fruit*.\n\nPear", "Apple: A fruit.\nPear"),
        ("Weight:: 41 kg", "Weight: 41 kg"),
        ("import Tabs from '@theme/Tabs';\n\ntext", "text"),
        ("*[HTML]: Hyper Text\n\ntext", "text"),
        ('{{< tab "Fedora" >}}\ntext\n{{< /tab >}}', "Fedora\ntext"),
        ('{% tab title="Fedora" %}\ntext\n{% endtab %}', "Fedora\ntext"),
        ('Seen.{% image src="a.png" alt="A lake" %}', "Seen."),
        ('{% include note.html content="Backups run at night." %}', "Backups run at night."),
        ("<details><summary>More</summary>\n\ntext\n</details>", "More\ntext"),
        ("> [!NOTE]\n> It lasts.", "It lasts."),
        ('!!! warning "Port"\n    Open it.', "Port\nOpen it."),
        ("??? info\n    Open it.", "Open it."),
        ('=== "Debian"\n\n    text', "Debian\n\ntext"),
        (":::tip Backup\nAt night.\n:::", "Backup\nAt night."),
        ("::: warning\nAt night.\n:::", "At night."),
        ('<TabItem value="f" label="Fedora">\n\ntext\n\n</TabItem>', "Fedora\n\ntext"),
        ("It is ==41.6 kg== heavy; a == b.", "It is 41.6 kg heavy; a == b."),
        ("Every Friday :warning:.", "Every Friday."),
        ("At 10:30:45 on host:8080:tcp.", "At 10:30:45 on host:8080:tcp."),
        ("Get [holm] or [brew][].\n\n[holm]: http://a\n[brew]: http://b", "Get holm or brew."),
        ("An [aside] stays, and a[0] too.", "An [aside] stays, and a[0] too."),
        ("| `a \\| b` | c |", "a | b c"),
        ("## Ports {#ports}", "Ports"),
        ("Text {: .note} and {.wide} go", "Text and go"),
        ('C. {{< sidenote "It was 1998." >}} Then', "C. It was 1998. Then"),
        ('{{< figure src="a.png" alt="A lake" >}}', "A lake"),
        ('A new\n[sorting\nplatform]({{ "/2016/it/" | url }})\nruns.', "A new\nsorting\nplatform\nruns."),
        ("{{% notice %}}Mind it.{{% /notice %}}", "Mind it."),
        ("Home {{ site.url }} page", "Home page"),
        ("{% raw %}{{ user }}{% endraw %}", "{{ user }}"),
        ("Six hours. {% comment %} Ingvild. {% endcomment %}", "Six hours."),
        ("In May. %%Ask Bruno.%% Grey.", "In May. Grey."),
        ("%%\nall\n\nof it\n%%\nGrey.", "Grey."),
        ("50%% and 60%% of it", "50%% and 60%% of it"),
        ("{# hidden #}{/* hidden */}seen", "seen"),
        ("````md\n```yaml\n# a\n```\n````\n**b**", "```yaml\n# a\n```\nb"),
        ("<tr><td>LaTeX</td><td>38</td></tr>", "LaTeX 38"),
        ("a*b and 2 * 3", "a*b and 2 * 3"),
        ("__init__ and ***very***", "init and very"),
    ],
)
def test_a_text_shows_its_words_and_no_markup(marked: str, expected: str) -> None:
    assert " ".join(plain(marked).split()) == " ".join(expected.split())


@given(SIGNS)
@settings(max_examples=300)
def test_markup_is_ascending_and_apart(text: str) -> None:
    done = 0
    for span in scan_markup(text).markup:
        assert done <= span.start < span.end <= len(text)
        done = span.end


@given(SIGNS.filter(lambda code: "`" not in code and "\n" not in code and code.strip()))
def test_nothing_in_a_code_span_is_markup(code: str) -> None:
    assert " ".join(code.split()) in " ".join(plain(f"word `` {code} `` word").split())


FRAMES = ["**{}**", "*{}*", "=={}==", "[{}](http://a.b/c)", "[[page|{}]]", "<b>{}</b>", "{} :smile:", "`{}`"]
HIDDEN = ["~~{}~~", "<del>{}</del>", "<!-- {} -->", "%%{}%%", "{{% comment %}} {} {{% endcomment %}}", "![[{}]]"]


@given(st.lists(st.tuples(st.sampled_from(FRAMES), WORDS), min_size=1, max_size=6))
def test_framed_words_are_read_in_order(parts: list[tuple[str, str]]) -> None:
    text = ", ".join(frame.format(word) for frame, word in parts)
    assert plain(text) == ", ".join(word for _, word in parts)


@given(WORDS, st.sampled_from(HIDDEN), WORDS, WORDS)
def test_hidden_words_are_never_read(before: str, frame: str, hidden: str, after: str) -> None:
    assert " ".join(plain(f"{before} {frame.format(hidden.upper())} {after}").split()) == f"{before} {after}"


@pytest.mark.parametrize(
    "unit",
    ["~~", "~~a ", "==a ", "[[a", "[[a|", "{{", "{{< ", "{% comment %}", "%%", "<s>", "|", "| `a ", ":a", "&a", "[a]",
     "`a ``b ```c ", "!!! ", "```\n", "\n> ", "**a *b _c ", "<td>", " ^a", "{#"],
)  # fmt: skip
def test_long_odd_markup_takes_linear_time(unit: str) -> None:
    assert_linear(lambda count: plain(unit * (count // len(unit))), 200_000)
