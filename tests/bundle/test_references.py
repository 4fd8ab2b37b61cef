"""`${…}` is replaced by what it names, through any chain, or refused at its place."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.bundle import Bundle
from lakeward.bundle.configuration.node import Node, Position, lift, plain
from lakeward.bundle.configuration.references import resolve_references
from lakeward.errors import BundleError

HERE = Position("f.yml", 1, 1)


def variables(values: dict[str, object]) -> Node:
    return lift({"variables": {name: {"value": value} for name, value in values.items()}}, HERE)


def test_a_chain_of_references_is_followed_to_its_end() -> None:
    tree = variables({"a": "${var.b}/a", "b": "${var.c}/b", "c": "c"})
    assert plain(resolve_references(tree, ["var"]))["variables"]["a"]["value"] == "c/b/a"


@given(
    st.lists(st.text("xyz", max_size=3), min_size=1, max_size=12).flatmap(
        lambda texts: st.tuples(
            st.just(texts),
            # Variable i refers to some of the variables before it, so there is no circle.
            st.tuples(
                *(st.lists(st.integers(0, max(i - 1, 0)), max_size=3 if i else 0) for i in range(len(texts)))
            ),
            st.randoms(use_true_random=False),
        )
    )
)
def test_the_result_does_not_depend_on_the_order_of_the_keys(
    case: tuple[list[str], tuple[list[int], ...], random.Random],
) -> None:
    texts, links, shuffler = case
    values: dict[str, object] = {}
    expected: list[str] = []
    for index, (text, refers) in enumerate(zip(texts, links, strict=True)):
        values[f"v{index}"] = text + "".join(f"${{var.v{other}}}" for other in refers)
        expected.append(text + "".join(expected[other] for other in refers))
    names = list(values)
    shuffler.shuffle(names)
    resolved = plain(resolve_references(variables({name: values[name] for name in names}), ["var"]))[
        "variables"
    ]
    assert [resolved[f"v{index}"]["value"] for index in range(len(texts))] == expected


@given(st.integers(1, 6), st.integers(0, 3))
def test_a_circle_of_any_length_is_named_and_never_followed_for_ever(length: int, tail: int) -> None:
    ring = {f"r{i}": f"x${{var.r{(i + 1) % length}}}" for i in range(length)}
    lead = {f"t{i}": f"${{var.t{i + 1}}}" if i + 1 < tail else "${var.r0}" for i in range(tail)}
    with pytest.raises(BundleError) as caught:
        resolve_references(variables({**lead, **ring}), ["var"])
    assert caught.value.condition == "REFERENCE_CYCLE"
    assert caught.value.message.count("var.r") == length + 1


def test_a_whole_reference_keeps_its_type_and_part_of_a_text_becomes_text() -> None:
    tree = variables({"n": 5, "t": True, "list": [1, 2], "whole": "${var.list}", "text": "${var.n}-${var.t}"})
    found = plain(resolve_references(tree, ["var"]))["variables"]
    assert found["whole"]["value"] == [1, 2]
    assert found["text"]["value"] == "5-true"


def test_a_step_may_lead_through_another_reference() -> None:
    tree = variables({"base": {"size": "big"}, "alias": "${var.base}", "x": "${var.alias.size}"})
    assert plain(resolve_references(tree, ["var"]))["variables"]["x"]["value"] == "big"


@pytest.mark.parametrize("text", ["${var." + "a" * 20_000, "${a}" * 2_000, "${var.a-" * 2_000])
def test_long_texts_that_are_no_reference_take_no_time(text: str) -> None:
    begin = time.monotonic()
    assert plain(resolve_references(variables({"a": text}), ["var"]))["variables"]["a"]["value"] == text
    assert time.monotonic() - begin < 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${var.${var.tail}_name}", "it is x"),
        ("${var.${var.${var.way}}_name}", "it is x"),
        ("a ${var.${var.tail}_name} b ${var.x_name}", "a it is x b it is x"),
        ("${var.${var.tail}_list}", [1, 2]),
        ("${var.${var.tail}_map.k}", "v"),
        ("${var.${bundle.target}_name}", "it is dev"),
    ],
)
def test_a_reference_may_name_a_reference_in_its_name(text: str, value: object) -> None:
    given = {"tail": "x", "way": "tail", "x_name": "it is ${var.tail}", "dev_name": "it is ${bundle.target}"}
    tree = variables({"a": text, "x_list": [1, 2], "x_map": {"k": "v"}, **given})
    tree = Node({**tree.children, "bundle": lift({"target": "dev"}, HERE)}, HERE)
    assert plain(resolve_references(tree, ["var", "bundle"]))["variables"]["a"]["value"] == value


def test_a_circle_through_the_name_of_a_reference_is_one() -> None:
    with pytest.raises(BundleError) as caught:
        resolve_references(variables({"a": "${var.${var.b}}", "b": "a"}), ["var"])
    assert caught.value.condition == "REFERENCE_CYCLE"


def test_what_is_not_requested_stays() -> None:
    tree = variables({"a": "${workspace.root_path} ${HOME} $x"})
    assert (
        plain(resolve_references(tree, ["var"]))["variables"]["a"]["value"]
        == "${workspace.root_path} ${HOME} $x"
    )


JOB = "bundle: {name: b}\nvariables: {catalog: {default: c}}\nresources:\n  jobs:\n    j:\n      name: %s\n"


@pytest.mark.parametrize(
    ("name", "condition", "hint"),
    [
        ("${var.catlog}", "VARIABLE_UNKNOWN", "`catalog`"),
        ("${bundle.nmae}", "REFERENCE_UNKNOWN", "`name`"),
        ("${workspace.fil_path}", "REFERENCE_UNKNOWN", "`file_path`"),
        ("${resources.jobs.k.name}", "REFERENCE_UNKNOWN", "Known names: j"),
        ("${resources.jobs.j.name}", "REFERENCE_CYCLE", "resources.jobs.j.name -> resources.jobs.j.name"),
        ("a ${resources.jobs.j} b", "REFERENCE_CYCLE", "resources.jobs.j"),
        ("${var.catalog", "REFERENCE_INVALID", "var"),
        ("${ var.catalog }", "REFERENCE_INVALID", "var"),
        ("${vars.catalog}", "REFERENCE_INVALID", "`var`"),
    ],
)
def test_a_reference_to_nothing_is_refused_at_its_place(
    refusal_of: Callable[..., BundleError], name: str, condition: str, hint: str
) -> None:
    error = refusal_of(JOB % f'"{name}"')
    assert error.condition == condition
    assert "databricks.yml:6:13" in error.message
    assert hint in str(error)


@pytest.mark.parametrize("section", ["variables: {v: {default: %s}}", "targets: {dev: {variables: {v: %s}}}"])
@pytest.mark.parametrize("value", ["${resources.schemas.gone.name}", "a ${resources.schemas.gone.name}"])
def test_a_variable_that_names_no_resource_is_refused_where_it_is_used(
    bundle_of: Callable[..., Bundle], refusal_of: Callable[..., BundleError], section: str, value: str
) -> None:
    declared = f"bundle: {{name: b}}\nvariables: {{v: {{}}}}\n{section % repr(value)}\n"
    declared = declared.replace("variables: {v: {}}\n", "") if section.startswith("v") else declared
    resources = "resources:\n  schemas: {s: {catalog_name: c, name: s}}\n  jobs:\n    j:\n      name: %s\n"
    assert bundle_of(declared + resources % "n").jobs["j"]["name"] == "n"
    error = refusal_of(declared + resources % '"${var.v}"')
    assert error.condition == "REFERENCE_UNKNOWN"
    assert "`gone`" in error.message and "databricks.yml:" in error.message


def test_a_list_cannot_stand_inside_a_text(refusal_of: Callable[..., BundleError]) -> None:
    text = """
    bundle: {name: b}
    variables: {l: {type: complex, default: [1]}}
    resources: {jobs: {j: {name: "x ${var.l}"}}}
    """
    assert refusal_of(text).condition == "REFERENCE_INVALID"


def test_a_shell_variable_in_a_command_is_left_alone(bundle_of: Callable[..., Bundle]) -> None:
    text = (
        'bundle: {name: b}\nartifacts: {w: {build: "echo ${HOME} ${var.v}"}}\nvariables: {v: {default: x}}\n'
    )
    assert bundle_of(text).config["artifacts"]["w"]["build"] == "echo ${HOME} x"


def test_ids_differ_by_target_and_are_stable(bundle_of: Callable[..., Bundle]) -> None:
    text = """
    bundle: {name: b}
    resources:
      pipelines: {p: {name: p}}
      schemas: {s: {catalog_name: c, name: n}}
      volumes: {v: {catalog_name: c, schema_name: "${resources.schemas.s.name}", name: files}}
      jobs: {j: {name: "${resources.pipelines.p.id} ${resources.schemas.s.id} ${resources.volumes.v.id}"}}
    targets: {dev: {default: true}, prod: {}}
    """
    dev, again, prod = bundle_of(text), bundle_of(text), bundle_of(text, target="prod")
    pipeline, schema, volume = dev.jobs["j"]["name"].split()
    assert dev.jobs == again.jobs
    assert pipeline != prod.jobs["j"]["name"].split()[0]
    assert (schema, volume) == ("c.n", "c.n.files")
    assert dev.key_of("pipelines", pipeline) == "p"
    assert prod.key_of("pipelines", pipeline) is None
