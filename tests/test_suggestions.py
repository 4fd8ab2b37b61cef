"""Suggestions for mistyped names of Python."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import PySparkAttributeError

from lakeward.error_formatting import describe_error


class Frame:
    """An object that reports a missing attribute as DataFrames do, and may fail to list its own."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __getattr__(self, name: str) -> Any:
        raise PySparkAttributeError(
            errorClass="ATTRIBUTE_NOT_SUPPORTED", messageParameters={"attr_name": name}
        )

    def __dir__(self) -> list[str]:
        if not self._names:
            raise RuntimeError("The query cannot be analyzed.")
        return [*self._names, "_private_total"]

    def with_column(self) -> None:
        """Do nothing."""


class Plain:
    """An object with an attribute that cannot be read."""

    @property
    def state(self) -> None:
        raise AttributeError("Frames have no state")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("'a'.uper()", "AttributeError: 'str' object has no attribute 'uper'. Did you mean `upper`?"),
        (
            "Frame('total').totl",
            "[ATTRIBUTE_NOT_SUPPORTED] Attribute `totl` is not supported. Did you mean `total`?",
        ),
        (
            "Frame().with_colum()",
            "[ATTRIBUTE_NOT_SUPPORTED] Attribute `with_colum` is not supported. Did you mean `with_column`?",
        ),
        # Attributes that exist, and are refused.
        ("Frame('session').session", "[ATTRIBUTE_NOT_SUPPORTED] Attribute `session` is not supported."),
        ("Frame('session').sesion", "Did you mean `session`?"),
        ("Frame('state').state", "[ATTRIBUTE_NOT_SUPPORTED] Attribute `state` is not supported."),
        ("Plain().state", "AttributeError: Frames have no state"),
        ("total = 1; totl", "NameError: name 'totl' is not defined. Did you mean `total`?"),
        ("x = 1; X", "NameError: name 'X' is not defined"),
        ("f()", "NameError: name 'totl' is not defined. Did you mean `total`?"),
        ("prnt(1)", "NameError: name 'prnt' is not defined. Did you mean `print`?"),
        ("raise NameError('name a is not defined')", "NameError: name a is not defined"),
        ("raise AttributeError('no total')", "AttributeError: no total"),
        ("from collections import OrderdDict", "Did you mean `OrderedDict`?"),
        ("from collections import qqq", "ImportError: cannot import name 'qqq' from 'collections'"),
        ("raise ImportError(\"cannot import name 'a'\")", "ImportError: cannot import name 'a'"),
    ],
)
def test_a_message_suggests_the_name_that_python_code_misspells(code: str, message: str) -> None:
    def f() -> None:
        total = 1
        eval("totl", {}, {"total": total})

    with pytest.raises((AttributeError, NameError, ImportError)) as caught:
        exec(code, {"Frame": Frame, "Plain": Plain, "f": f})
    text = str(describe_error(caught.value))
    assert message in text
    assert text.count("Did you mean") == message.count("Did you mean")
