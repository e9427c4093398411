"""Faults injected into runs; what must hold after each of them."""

import pytest

pytest.register_assert_rewrite("tests.faults.checks")  # so that a failed check prints what it compared
