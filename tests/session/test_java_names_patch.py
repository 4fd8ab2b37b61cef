"""Py4J looks up a Java name once; what can change is looked up each time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from py4j.java_gateway import JavaClass, JavaPackage, java_import
from py4j.protocol import Py4JError

from lakeward.patching import install, uninstall
from lakeward.session.patches.java_names_patch import PATCHES
from lakeward.spark_internals import java_gateway

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def jvm(spark: SparkSession) -> Any:
    """A view of its own, in which no name was looked up."""
    return java_gateway(spark).new_jvm_view()


@contextmanager
def lookups(monkeypatch: pytest.MonkeyPatch, jvm: Any) -> Iterator[list[str]]:
    """Yield the names that are looked up in the block."""
    client = jvm._gateway_client
    found: list[str] = []
    send = client.send_command

    def recorded(command: str, *args: Any, **options: Any) -> Any:
        parts = command.split("\n")
        if parts[0] == "r":
            found.append(parts[2])
        return send(command, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(client, "send_command", recorded)
        yield found


@pytest.mark.parametrize(
    "use",
    [
        lambda jvm: jvm.java.lang.Math.abs(-1),
        lambda jvm: getattr(jvm, "java.lang.Math").abs(-1),
        lambda jvm: jvm.java.util.Map.Entry.comparingByKey(),
        lambda jvm: jvm.java.util.ArrayList(),
        lambda jvm: jvm.Math.abs(-1),
        lambda jvm: jvm.org.apache.spark.sql.functions.lit(1),
    ],
    ids=["static method", "full name", "nested class", "constructor", "imported class", "lower case"],
)
def test_a_name_is_looked_up_once(monkeypatch: pytest.MonkeyPatch, jvm: Any, use: Any) -> None:
    with lookups(monkeypatch, jvm) as first:
        use(jvm)
    with lookups(monkeypatch, jvm) as again:
        use(jvm)
    assert (len(first) > 0, again) == (True, [])


def test_without_the_layer_it_is_looked_up_each_time(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    uninstall(PATCHES)
    try:
        jvm = java_gateway(spark).new_jvm_view()
        with lookups(monkeypatch, jvm) as found:
            for _ in range(2):
                assert jvm.java.lang.Math.abs(-1) == 1
        assert found == ["java", "java.lang", "java.lang.Math", "java.lang.Math"] * 2
    finally:
        install(PATCHES)


def test_a_class_that_comes_later_is_found(jvm: Any) -> None:
    assert isinstance(jvm.Optional, JavaPackage)
    assert isinstance(jvm.com.example.Missing, JavaPackage)
    java_import(jvm, "java.util.Optional")
    assert isinstance(jvm.Optional, JavaClass)
    assert jvm.Optional.empty().isPresent() is False


def test_the_value_of_a_static_field_is_not_kept(jvm: Any) -> None:
    assert jvm.java.lang.Integer.MAX_VALUE == 2**31 - 1
    assert "MAX_VALUE" not in vars(jvm.java.lang.Integer)


def test_a_missing_member_is_an_error_each_time(jvm: Any) -> None:
    for _ in range(2):
        with pytest.raises(Py4JError, match=r"java\.lang\.Math\.missing does not exist in the JVM"):
            _ = jvm.java.lang.Math.missing
