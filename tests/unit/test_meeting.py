"""Where two tables meet: the share that met, and why next to none did."""

import numpy as np
import pytest

from recgauge.data.meeting import FEWEST, Meeting, meet, require_meeting
from recgauge.errors import SchemaError

SIDES = ("lists", "truth")


def meeting_of(first: list[object], second: list[object]) -> Meeting:
    """Return the meeting of two sides, as numpy makes arrays of them."""
    return meet(np.array(first), np.array(second), name="item", sides=SIDES)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["31.0", "42.0"], ["31", "42"]),
        (["0031", "0042"], ["31", "42"]),
        (["sku-ab", "sku-cd"], ["SKU-AB", "SKU-CD"]),
        (["cafe\N{COMBINING ACUTE ACCENT}"], ["caf\N{LATIN SMALL LETTER E WITH ACUTE}"]),
        (["\N{FULLWIDTH DIGIT THREE}"], ["3"]),
        (["31 ", "42 "], ["31", "42"]),
        (["31\N{ZERO WIDTH SPACE}"], ["31"]),
        (["'x'", "'y'"], ["x", "y"]),
        (["b'x'"], ["x"]),
        (["np.int64(31)"], ["31"]),
        (["['x'", "'y']"], ["x", "y"]),
        (["book_31"], ["31"]),
        (["31.html"], ["31"]),
        (["shop:x31a"], ["x31a"]),
        (["7.0231e+05"], ["702310"]),
        (["1.2345678901234568e+18"], ["1234567890123456789"]),
        (["12,345"], ["12345"]),
        (["550e-84"], ["550E84"]),
        (["31", "42"], [31, 42]),
        ([0, 1, 2], ["x", "y", "z"]),
        (["Alien", "Brazil"], ["31", "42"]),
        ([f"book_{n}" for n in range(FEWEST)], [f"b{n}" for n in range(FEWEST)]),
    ],
)
def test_ids_in_two_spellings_are_refused_with_an_example_of_each(first: list, second: list) -> None:
    for ours, theirs in ((first, second), (second, first)):
        met = meeting_of(ours, theirs)
        assert met.n_both == 0
        assert met.cause
        with pytest.raises(SchemaError) as caught:
            require_meeting(met, way_on="--keep unmet")
        assert met.examples is not None
        assert "--keep unmet" in str(caught.value)
        assert met.examples[0] != met.examples[1]


def test_examples_are_one_id_in_two_spellings() -> None:
    met = meeting_of(["q", "00731", "z"], ["y", "731", "w"])
    assert met.examples == ("'00731'", "'731'")


def test_letters_that_look_alike_are_shown_by_their_codes() -> None:
    met = meeting_of(["e\N{COMBINING ACUTE ACCENT}"], ["\N{LATIN SMALL LETTER E WITH ACUTE}"])
    assert met.examples == (r"'e\u0301'", r"'\xe9'")


def test_a_number_and_its_text_are_shown_as_what_they_are() -> None:
    met = meet(np.array([31], object), np.array(["31"], object), name="user", sides=SIDES)
    assert met.examples == ("31", "'31'")


def test_a_few_ids_may_miss_by_chance_and_many_may_not() -> None:
    few = meeting_of([1, 2, 3], [5, 6])
    assert require_meeting(few) is few
    assert few.warning
    with pytest.raises(SchemaError):
        require_meeting(meeting_of(list(range(0, 2 * FEWEST, 2)), list(range(1, 2 * FEWEST, 2))))


def test_a_small_side_that_is_in_the_large_one_meets_wholly() -> None:
    for sides in ((range(1000), [3]), ([3], range(1000))):
        met = meeting_of(*map(list, sides))
        assert met.share == 1.0
        assert not met.warning
        assert "1 of 1" in met.sentence


def test_between_a_twentieth_and_half_there_is_a_warning_with_the_share() -> None:
    met = meeting_of([*map(str, range(30)), *(f"{n}.0" for n in range(30, 100))], list(map(str, range(100))))
    assert require_meeting(met) is met
    assert "30 %" in met.warning
    assert "fraction" in met.warning
    assert meeting_of(list(range(100)), list(range(50, 150))).warning == ""


def test_a_side_without_ids_misses_nothing() -> None:
    assert not require_meeting(meeting_of([], [1, 2])).warning
