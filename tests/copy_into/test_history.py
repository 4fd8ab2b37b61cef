"""The load history as segments: nothing is lost, few are read, none is changed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeward.copy_into.history import History, append, new_number, read


class Folder:
    """Segments in memory; a written one is never written again."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}

    def read(self, number: int) -> str | None:
        return self.texts.get(number)

    def write(self, number: int, text: str) -> None:
        assert number not in self.texts
        self.texts[number] = text


@given(st.lists(st.sets(st.integers(0, 500), min_size=1, max_size=60), max_size=30))
def test_every_file_of_every_load_is_known_at_every_version(loads: list[set[int]]) -> None:
    folder, histories = Folder(), [History()]
    for number, load in enumerate(loads):
        append(folder, histories[-1], number, [f"f{n}\n" for n in load])
        histories.append(read(folder, number))
    known: set[str] = set()
    for number, load in enumerate(loads):
        known |= {f"f{n}\n" for n in load}
        assert read(folder, number).keys == known == histories[number + 1].keys


def test_a_thousand_small_loads_leave_few_segments_to_read() -> None:
    folder, history = Folder(), History()
    for number in range(1000):
        append(folder, history, number, [f"{number}-{n}" for n in range(10)])
        history = read(folder, number)
        assert len(history.segments) <= 12
    assert len(history.keys) == 10_000


def test_a_segment_that_no_commit_names_changes_nothing() -> None:
    folder = Folder()
    append(folder, History(), 1, ["a"])
    append(folder, read(folder, 1), 2, ["torn"])
    append(folder, read(folder, 1), 3, ["b"])
    assert read(folder, 3).keys == {"a", "b"}


def test_a_table_that_never_loaded_and_a_clone_begin_anew() -> None:
    assert read(Folder(), -1) == read(Folder(), 7) == History()


@given(st.integers(-1, 2**63 - 2))
def test_a_new_number_is_above_the_one_before(above: int) -> None:
    assert above < new_number(above) < 2**63
