"""Claims that take a value from the neighbour's row."""

import pytest

from pipelines.query.verification.rows import is_of_other_row
from pipelines.structure import structure_of

TABLE = "| country | terminals | vessels |\n|---|---|---|\n| Norway | 41 | 12 |\n| Chile | 17 | 9 |\n| Peru | 8 | 3 |\n"
LIST = "- **Licence**: MIT\n- **Language**: Go\n- **Storage**: PostgreSQL\n"


@pytest.mark.parametrize(
    ("claim", "text", "is_other"),
    [
        ("Norway has 41 terminals.", TABLE, False),
        ("Norway has 17 terminals.", TABLE, True),
        ("Chile has 9 vessels and 17 terminals.", TABLE, False),
        ("Norway has more terminals than Peru: 41 against 8.", TABLE, False),
        ("Terminals stand in three countries, 41 of them in Norway.", TABLE, False),
        ("Its licence is MIT.", LIST, False),
        ("The licence is PostgreSQL.", LIST, True),
        ("It is written in Go and stores its data in PostgreSQL.", LIST, False),
        ("Norway has 17 terminals.", "Norway: 41 terminals.\n\nElsewhere there are 17.", False),
        ("18F had 203 repositories.", "- 203: repositories\n- 85: people\n", False),
    ],
)
def test_a_value_belongs_to_the_row_that_the_claim_names(claim: str, text: str, is_other: bool) -> None:
    assert is_of_other_row(claim, [structure_of(text)]) is is_other
