"""The words by which titles and headings name their subject."""

from pipelines.store.tokens import tokenise

_GENERIC = frozenset(
    tokenise(
        """about abstract abstracts acknowledgements activity announcement annual answer answers appendix author
        background badges benchmark benchmarks bio build career certifications changelog citation citing code
        command commands comparison conclusion configuration contact contents context contribute contributing
        contributors credits data demo design detail details development document documentation draft education
        employment ending example examples experience facts faq feature features figures file files final first
        footnotes further future general get getting goal goals guide help highlights history home idea index
        information install installation interest interests interim introduction issue issues key kickoff known
        languages last letter licence license limit limitation limitations limits links list lists main meeting
        memo method methods minutes miscellaneous month months motivation my name names navigation new news next
        note notes number numbers old option options other our outline output overview page part personal plan
        plans point points post prerequisites problem process product products profile project projects
        publications purpose question questions quick quickstart read reading readme references related release
        releases reminder report requirements resources result results resume review roadmap run running second
        section setting settings setup skills sources speed start started status step steps structure summary
        support table talks team terms test testing tests thing things title toc todo tool tools top
        troubleshooting update usage use using version versions volunteering well what work works year years"""
    )
)


def subject_terms(title: str) -> set[str]:
    """The index terms of a title or heading that name its subject; none for `Overview` or `Meeting notes`."""
    return set(tokenise(title)) - _GENERIC
