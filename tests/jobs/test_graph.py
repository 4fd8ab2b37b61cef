"""Tasks run after all that they depend on; `--only` takes some of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import Task, select_tasks, sort_tasks, tasks_of


def tasks(**edges: str) -> list[Task]:
    return [Task(key, "spark_python_task", {}, tuple(upstream.split())) for key, upstream in edges.items()]


@given(st.lists(st.sets(st.integers(0, 8)), min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_every_task_comes_after_its_upstream_whatever_the_order_of_listing(
    edges: list[set[int]], shuffler: object
) -> None:
    graph = [
        Task(str(index), "spark_python_task", {}, tuple(str(up) for up in sorted(upstream) if up < index))
        for index, upstream in enumerate(edges)
    ]
    shuffler.shuffle(graph)  # type: ignore[attr-defined]
    result = [task.key for task in sort_tasks("j", graph)]
    assert sorted(result) == sorted(task.key for task in graph)
    for task in graph:
        assert all(result.index(upstream) < result.index(task.key) for upstream in task.depends_on)


def test_independent_tasks_keep_the_order_of_listing() -> None:
    assert [task.key for task in sort_tasks("j", tasks(c="", a="", b=""))] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("graph", "ring"),
    [
        ({"a": "a"}, "a -> a"),
        ({"a": "b", "b": "a"}, "a -> b -> a"),
        ({"x": "", "t": "a", "a": "b", "b": "c", "c": "a"}, "a -> b -> c -> a"),
    ],
)
def test_a_cycle_is_refused_and_shown(graph: dict[str, str], ring: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        sort_tasks("j", tasks(**graph))
    assert caught.value.condition == "TASK_CYCLE"
    assert f"circle: {ring}." in caught.value.message
    assert caught.value.next_step


def test_an_unknown_dependency_names_near_misses() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean `land`") as caught:
        sort_tasks("j", tasks(land="", refresh="lnad"))
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ([], "abcd"),
        (["b"], "b"),
        (["+c"], "abc"),
        (["b+"], "bcd"),
        (["a,d"], "ad"),
        (["a", "d"], "ad"),
        (["+b+"], "abcd"),
    ],
)
def test_only_takes_tasks_and_what_is_up_or_downstream_of_them(only: list[str], expected: str) -> None:
    graph = tasks(a="", b="a", c="b", d="c")
    assert "".join(sorted(select_tasks("j", graph, only))) == expected


@pytest.mark.parametrize(
    ("only", "exclude", "expected"),
    [
        ([], ["b"], "acd"),
        ([], ["b+"], "a"),
        ([], ["+b", "d"], "c"),
        (["a+"], ["c"], "abd"),
        (["a"], ["b"], "a"),
        (["a"], ["a"], ""),
        ([], ["a,b,c,d"], ""),
    ],
)
def test_exclude_leaves_tasks_out_of_all_or_of_those_that_only_names(
    only: list[str], exclude: list[str], expected: str
) -> None:
    graph = tasks(a="", b="a", c="b", d="c")
    assert "".join(sorted(select_tasks("j", graph, only, exclude))) == expected


@pytest.mark.parametrize("option", ["only", "exclude"])
def test_an_unknown_task_names_near_misses(option: str) -> None:
    with pytest.raises(ConfigurationError, match="Did you mean `land`"):
        select_tasks("j", tasks(land=""), **{"only": (), option: ["lnd"]})


@pytest.mark.parametrize(
    ("definition", "condition"),
    [
        ({"tasks": []}, "JOB_EMPTY"),
        ({"tasks": [{"spark_python_task": {}}]}, "TASK_INVALID"),
        ({"tasks": [{"task_key": "a"}]}, "TASK_INVALID"),
        ({"tasks": [{"task_key": "a", "sql_task": {}, "notebook_task": {}}]}, "TASK_INVALID"),
        ({"tasks": [{"task_key": "a", "sql_task": {}}, {"task_key": "a", "sql_task": {}}]}, "TASK_INVALID"),
        ({"tasks": [{"task_key": "a", "sql_task": {}, "run_if": "ALL_WELL"}]}, "TASK_INVALID"),
    ],
)
def test_an_incomplete_definition_is_refused(definition: dict[str, object], condition: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        tasks_of("j", definition)
    assert caught.value.condition == condition
    assert caught.value.next_step
