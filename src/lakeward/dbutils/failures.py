"""Errors of `dbutils`, in the shapes in which code on Databricks catches them.

On Databricks the functions of `dbutils` run in the JVM. Errors of `fs` reach Python as an `ExecutionError`, a
plain exception whose text names the Java class; the others as a `Py4JJavaError`. Code distinguishes them by
that text (`"java.io.FileNotFoundException" in str(e)`), so the text has the class name and py4j's layout.
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
    """Class and message of the platform's Java exception, as `error.java_exception` returns them."""

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
    """A failure of `dbutils.fs`; `condition` is the Java class that the platform reports."""

    def __init__(self, call: str, java_class: str, message: str, *, next_step: str | None = None) -> None:
        super().__init__(java_class, message, next_step=next_step)
        text = f"An error occurred while calling {call}.\n: {java_class}: {message}"
        self.args = (f"{text}\n{next_step}" if next_step else text,)


class JavaError(DbutilsError, Py4JJavaError):  # type: ignore[misc]  # py4j has no types
    """A failure of another utility; caught as DbutilsError and as Py4JJavaError."""

    def __init__(self, call: str, java_class: str, message: str, *, next_step: str | None = None) -> None:
        # Not inherited: py4j's __str__ calls the JVM for the exception's text.
        self.condition, self.message, self.next_step = java_class, message, next_step
        text = f"An error occurred while calling {call}.\n: {java_class}: {message}"
        self.errmsg = f"{text}\n{next_step}" if next_step else text
        self.java_exception = JavaException(java_class, message)
        self.args = (self.errmsg,)

    def __str__(self) -> str:
        return str(self.errmsg)


class NotebookExit(BaseException):
    """`dbutils.notebook.exit(value)`: ends the notebook successfully.

    Not an Exception: `try … except Exception` around the call must not catch it.
    """

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self.value = value


def unsupported_function(what: str, why: str, next_step: str | None = None) -> DbutilsError:
    """Return the error of a function that is not supported locally."""
    return DbutilsError("NOT_SUPPORTED", f"`{what}` is not served here: {why}", next_step=next_step)
