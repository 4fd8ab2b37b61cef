"""The load history: no key is lost, few segments are read, none is changed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeward.copy_into.load_history import LoadHistory, append_segment, new_segment_number, read_history


class Folder:
    """Segments in memory; each is written only once."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}

    def read(self, number: int) -> str | None:
        return self.texts.get(number)

    def write(self, number: int, text: str) -> None:
        assert number not in self.texts
        self.texts[number] = text


@given(st.lists(st.sets(st.integers(0, 500), min_size=1, max_size=60), max_size=30))
def test_every_file_of_every_load_is_known_at_every_version(loads: list[set[int]]) -> None:
    folder, histories = Folder(), [LoadHistory()]
    for number, load in enumerate(loads):
        append_segment(folder, histories[-1], number, [f"f{n}\n" for n in load])
        histories.append(read_history(folder, number))
    known: set[str] = set()
    for number, load in enumerate(loads):
        known |= {f"f{n}\n" for n in load}
        assert read_history(folder, number).keys == known == histories[number + 1].keys


def test_a_thousand_small_loads_leave_few_segments_to_read() -> None:
    folder, history = Folder(), LoadHistory()
    for number in range(1000):
        append_segment(folder, history, number, [f"{number}-{n}" for n in range(10)])
        history = read_history(folder, number)
        assert len(history.segments) <= 12
    assert len(history.keys) == 10_000


def test_a_segment_that_no_commit_names_changes_nothing() -> None:
    folder = Folder()
    append_segment(folder, LoadHistory(), 1, ["a"])
    append_segment(folder, read_history(folder, 1), 2, ["torn"])
    append_segment(folder, read_history(folder, 1), 3, ["b"])
    assert read_history(folder, 3).keys == {"a", "b"}


def test_a_new_table_and_a_shallow_clone_have_no_history() -> None:
    assert read_history(Folder(), -1) == read_history(Folder(), 7) == LoadHistory()


@given(st.integers(-1, 2**63 - 2))
def test_a_new_number_is_above_the_one_before(above: int) -> None:
    assert above < new_segment_number(above) < 2**63
