"""`dbutils.widgets`: parameters of a notebook, overridden by the parameters of a run."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.dbutils.failures import JavaError
from lakeward.dbutils.utility import Utility


class Widgets(Utility):
    """`dbutils.widgets`."""

    _group = "widgets"

    def text(self, name: str, defaultValue: str, label: str | None = None) -> None:
        """Declare a parameter with free text."""
        self._declare(name, defaultValue)

    def dropdown(
        self,
        name: str,
        defaultValue: str,
        choices: Sequence[str],
        label: str | None = None,
    ) -> None:
        """Declare a parameter with fixed choices. Raises JavaError if the default is not one of them."""
        self._check("dropdown", name, [defaultValue], choices)
        self._declare(name, defaultValue)

    def combobox(
        self,
        name: str,
        defaultValue: str,
        choices: Sequence[str],
        label: str | None = None,
    ) -> None:
        """Declare a parameter with suggested choices; any text is accepted."""
        self._declare(name, defaultValue)

    def multiselect(
        self,
        name: str,
        defaultValue: str,
        choices: Sequence[str],
        label: str | None = None,
    ) -> None:
        """Declare a parameter whose value is a comma-separated list of choices."""
        self._check("multiselect", name, str(defaultValue).split(","), choices)
        self._declare(name, defaultValue)

    def get(self, name: str) -> str:
        """Return the run's value, else the default. Raises JavaError(InputWidgetNotDefined)."""
        return self._value("get", name)

    def getArgument(self, name: str, defaultValue: str | None = None) -> str:
        """Return the value, or `defaultValue` if there is neither a widget nor a value."""
        if defaultValue is not None and name not in self.getAll():
            return str(defaultValue)
        return self._value("getArgument", name)

    def getAll(self) -> dict[str, str]:
        """Return all parameters: declared ones, and those of the run."""
        environment = self._environment()
        return {**environment.widgets, **environment.arguments}

    def remove(self, name: str) -> None:
        """Remove a widget; a value of the run is kept. Raises JavaError for one that is not declared."""
        if self._environment().widgets.pop(name, None) is None:
            raise self._undefined("remove", name)

    def removeAll(self) -> None:
        """Remove all widgets."""
        self._environment().widgets.clear()

    def _declare(self, name: str, default: str) -> None:
        if not name:
            raise TypeError("a widget needs a name")
        self._environment().widgets[name] = str(default)

    def _value(self, function: str, name: str) -> str:
        values = self.getAll()
        if name not in values:
            raise self._undefined(function, name)
        return values[name]

    def _undefined(self, function: str, name: str) -> JavaError:
        known = ", ".join(sorted(self.getAll())) or "none"
        return JavaError(
            f"o.{function}",
            "com.databricks.dbutils_v1.InputWidgetNotDefined",
            f"No input widget named {name} is defined",
            next_step=f"Declared are: {known}. "
            f'Declare it with dbutils.widgets.text("{name}", "") or give the run a value.',
        )

    @staticmethod
    def _check(kind: str, name: str, defaults: Sequence[str], choices: Sequence[str]) -> None:
        strange = [value for value in map(str, defaults) if value and value not in map(str, choices)]
        if strange:
            raise JavaError(
                f"o.{kind}",
                "com.databricks.dbutils_v1.InvalidInputWidgetDefinition",
                f"The default of the {kind} widget {name} ({', '.join(strange)}) is not one of its choices: "
                f"{', '.join(map(str, choices))}",
            )
