"""What `dbutils` raises, in the shapes in which code on Databricks catches it.

There the functions of `dbutils` run in the JVM. Those of `fs` reach Python as an `ExecutionError`, a plain
exception whose text names the Java one; the others as a `Py4JJavaError`. Code tells them apart by that text
(`"java.io.FileNotFoundException" in str(e)`), so the text has the class name and the layout of py4j's.
"""

from __future__ import annotations

from py4j.protocol import Py4JJavaError

from lakeward.errors import DbutilsError


class _JavaClass:
    def __init__(self, name: str) -> None:
        self._name = name

    def getName(self) -> str:
        return self._name

    def getSimpleName(self) -> str:
        return self._name.rpartition(".")[2]


class JavaException:
    """What `error.java_exception` gives: class and message of the exception in the platform's JVM."""

    def __init__(self, java_class: str, message: str) -> None:
        self._class, self._message = java_class, message

    def getClass(self) -> _JavaClass:
        return _JavaClass(self._class)

    def getMessage(self) -> str:
        return self._message

    def getCause(self) -> None:
        return None

    def toString(self) -> str:
        return f"{self._class}: {self._message}"

    __str__ = toString


class ExecutionError(DbutilsError):
    """A function of `dbutils.fs` that failed; `condition` is the Java class that the platform names."""

    def __init__(self, call: str, java_class: str, message: str, *, next_step: str | None = None) -> None:
        super().__init__(java_class, message, next_step=next_step)
        text = f"An error occurred while calling {call}.\n: {java_class}: {message}"
        self.args = (f"{text}\n{next_step}" if next_step else text,)


class JavaError(DbutilsError, Py4JJavaError):  # type: ignore[misc]  # py4j has no types
    """A function of another part of `dbutils` that failed; caught as DbutilsError and as Py4JJavaError."""

    def __init__(self, call: str, java_class: str, message: str, *, next_step: str | None = None) -> None:
        # Neither base's own: py4j's asks the JVM for the exception's text.
        self.condition, self.message, self.next_step = java_class, message, next_step
        text = f"An error occurred while calling {call}.\n: {java_class}: {message}"
        self.errmsg = f"{text}\n{next_step}" if next_step else text
        self.java_exception = JavaException(java_class, message)
        self.args = (self.errmsg,)

    def __str__(self) -> str:
        return str(self.errmsg)


class NotebookExit(BaseException):
    """`dbutils.notebook.exit(value)`: ends the notebook, and is no failure.

    Not an Exception, so that a `try … except Exception` around the call does not keep the notebook going.
    """

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self.value = value


def refused(what: str, why: str, next_step: str | None = None) -> DbutilsError:
    """The error of a function that cannot be served here."""
    return DbutilsError("NOT_SUPPORTED", f"`{what}` is not served here: {why}", next_step=next_step)
