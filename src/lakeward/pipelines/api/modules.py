"""The modules that user files import: `pyspark.pipelines` with the whole API, and `dlt`.

Both serve the same objects: inside `serve_modules()`, and in plain unit tests after `serve_tests()`. The
functions of flows are in `flows`; `parameters` declares names, parameters and their support."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from lakeward import patching
from lakeward.patching import PatchSpec, insert_entry, is_replacing, remove_entry, replacing_spec
from lakeward.pipelines.api import flows
from lakeward.pipelines.api.parameters import FUNCTIONS
from lakeward.pipelines.api.registry import DatasetDeclaration, GraphRegistry, PendingDataset
from lakeward.pipelines.api.signatures import (
    Arguments,
    add_expectations,
    api_function,
    calling_location,
    declared_expectation,
    decorate_function,
    definition_location,
    disable_unit_tests,
    enable_unit_tests,
    function_name,
    inline_expectations,
    replace_spec,
    require_registry,
    table_options,
)
from lakeward.pipelines.graph.elements import (
    FOREACH_BATCH_FORMAT,
    DatasetType,
    EventHook,
    Flow,
    Sink,
    SourceCodeLocation,
    TableOptions,
    ViewDefinition,
    ViolationAction,
)

UserFunction = Callable[..., Any]


@api_function
def table(registry: GraphRegistry, values: Arguments) -> Any:
    """Declare a streaming table if the function returns a stream, else a materialized view (SDP-1.3-R1)."""
    return _dataset_decorator(registry, "table", "table", values)


@api_function
def materialized_view(registry: GraphRegistry, values: Arguments) -> Any:
    """Declare a table that holds the result of a batch query."""
    return _dataset_decorator(registry, "materialized_view", "materialized_view", values)


@api_function
def temporary_view(registry: GraphRegistry, values: Arguments) -> Any:
    """Declare a query that is not stored: every consumer evaluates it, including its expectations."""
    return _dataset_decorator(registry, "temporary_view", "view", values)


def catalog_view(
    registry: GraphRegistry,
    query: UserFunction,
    *,
    name: str,
    comment: str | None,
    definition: ViewDefinition,
    spark_conf: Mapping[str, str],
) -> None:
    """Declare a view that the catalog has after the update: CREATE VIEW in SQL."""
    callable_, pending = decorate_function(query, "temporary_view", fresh=True)
    pending.dataset_name = name
    options = TableOptions(comment=comment)
    registry.declarations.append(
        DatasetDeclaration(name, "view", options, pending, pending.location, definition=definition)
    )
    key = registry.key(name, short=False)
    registry.flows.append(Flow(name, key, callable_, pending.location, spark_conf=spark_conf))


@api_function
def create_streaming_table(registry: GraphRegistry, values: Arguments) -> None:
    """Declare a streaming table for flows; its expectations apply to each of them."""
    what, name, location = "create_streaming_table", values["name"], calling_location()
    options, expectations = table_options(what, values), inline_expectations(values)
    registry.key(name, short=False)
    registry.declarations.append(
        DatasetDeclaration(
            name,
            "streaming_table",
            options,
            PendingDataset(location, expectations, dataset_name=name),
            location,
        )
    )


def create_table(query_function: UserFunction | str | None = None, **options: Any) -> Any:
    """Decorate a dataset function (older code), or declare a streaming table (current API) (SDP-1.1).

    Which one is meant depends on whether the result is used as a decorator.
    """
    registry = require_registry("create_table")
    if callable(query_function):
        return table(query_function, **options)
    if query_function is not None:
        options["name"] = query_function
    location, used = calling_location(), []

    def decorate(function: UserFunction) -> Any:
        used.append(function)
        return table(**options)(function)

    def declare() -> None:
        if used:
            return
        if "name" not in options:
            raise TypeError(f"{location}: create_table() needs name=…, or a function to decorate")
        create_streaming_table(**options)

    registry.deferred.append(declare)
    return decorate


def _dataset_decorator(registry: GraphRegistry, decorator: str, kind: DatasetType, values: Arguments) -> Any:
    function, name = values["query_function"], values["name"]
    options, spark_conf = table_options(decorator, values), values["spark_conf"]
    replaces = replace_spec(decorator, values) if "replace_using" in values else None
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{decorator}(name=…) takes a str, not {type(name).__name__}")

    def decorate(query: UserFunction) -> UserFunction:
        callable_, pending = decorate_function(query, decorator, fresh=True)
        label = name or function_name(query, decorator)
        key = registry.key(label, short=kind == "view")
        pending.dataset_name = label
        registry.declarations.append(DatasetDeclaration(label, kind, options, pending, pending.location))
        registry.flows.append(
            Flow(label, key, callable_, pending.location, spark_conf=spark_conf, replaces=replaces)
        )
        return callable_

    return decorate if function is None else decorate(function)


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _expectation(
    name: str, action: ViolationAction, described: str, *, several: bool = False
) -> Callable[..., Any]:
    """Return the decorator `name`: of one expectation, or of a dict of `several`."""

    def declare(_registry: GraphRegistry, values: Arguments) -> Decorator:
        pairs = _named_constraints(name, values) if several else [_one_constraint(name, values)]
        declared = [declared_expectation(f"{name}()", *pair, action) for pair in pairs]
        return lambda function: add_expectations(function, declared, name)

    declare.__name__ = declare.__qualname__ = name
    declare.__doc__ = described
    return api_function(declare)


def _named_constraints(decorator: str, values: Arguments) -> Iterable[tuple[Any, Any]]:
    expectations = values["expectations"]
    if not isinstance(expectations, Mapping):
        raise TypeError(f"{decorator}() takes a dict of names and constraints, not {expectations!r}")
    return expectations.items()


def _one_constraint(decorator: str, values: Arguments) -> tuple[Any, Any]:
    name = _either_spelling(decorator, values, ("description", "name"))
    return name, _either_spelling(decorator, values, ("constraint", "inv"))


def _either_spelling(decorator: str, values: Arguments, names: tuple[str, str]) -> Any:
    given = [values[name] for name in names if values[name] is not None]
    if not given:
        raise TypeError(f"{decorator}(): missing a required argument: '{names[0]}'")
    if len(given) > 1:
        raise TypeError(f"{decorator}(): '{names[0]}' and '{names[1]}' are spellings of one argument")
    return given[0]


expect = _expectation("expect", "warn", "Keep and count records that do not satisfy the constraint.")
expect_or_drop = _expectation(
    "expect_or_drop", "drop", "Drop and count records that do not satisfy the constraint."
)
expect_or_fail = _expectation(
    "expect_or_fail",
    "fail",
    "Fail the flow without writing at the first record that does not satisfy the constraint.",
)
expect_all = _expectation("expect_all", "warn", "Apply `expect` for each name and constraint.", several=True)
expect_all_or_drop = _expectation(
    "expect_all_or_drop", "drop", "Apply `expect_or_drop` for each name and constraint.", several=True
)
expect_all_or_fail = _expectation(
    "expect_all_or_fail", "fail", "Apply `expect_or_fail` for each name and constraint.", several=True
)


@api_function
def create_sink(registry: GraphRegistry, values: Arguments) -> None:
    """Declare a target outside of the pipeline, in a format that Spark can write."""
    name, given = values["name"], values["format"]
    if not isinstance(given, str):
        raise TypeError(f"create_sink(format=…) takes a str, not {type(given).__name__}")
    sink = Sink(given, values["options"])
    _declare_sink(registry, name, sink, calling_location())


@api_function
def foreach_batch_sink(registry: GraphRegistry, values: Arguments) -> Any:
    """Declare a function `f(df, batch_id)` that is called with every micro-batch of the flows into it."""

    def decorate(function: UserFunction) -> UserFunction:
        if not callable(function):
            raise TypeError(f"foreach_batch_sink() decorates a function, but it was given {function!r}")
        name = values["name"] or function_name(function, "foreach_batch_sink")
        _declare_sink(
            registry, name, Sink(FOREACH_BATCH_FORMAT, handler=function), definition_location(function)
        )
        return function

    return decorate if values["batch_handler"] is None else decorate(values["batch_handler"])


@api_function
def on_event_hook(registry: GraphRegistry, values: Arguments) -> Any:
    """Declare a function that is called with every event of an update, as a dict, after it is logged."""
    allowed = values["max_allowable_consecutive_failures"]
    if allowed is not None and (not isinstance(allowed, int) or isinstance(allowed, bool) or allowed < 0):
        raise TypeError(
            f"on_event_hook(max_allowable_consecutive_failures=…) takes a count or None, not {allowed!r}"
        )

    def decorate(function: UserFunction) -> UserFunction:
        if not callable(function):
            raise TypeError(f"on_event_hook() decorates a function, but it was given {function!r}")
        registry.hooks.append(EventHook(getattr(function, "__name__", "hook"), function, allowed))
        return function

    given = values["user_event_hook_fn"]
    return decorate if given is None else decorate(given)


def enable_local_execution() -> None:
    """Do nothing: outside of pipelines, decorated functions can always be called here."""


def _declare_sink(registry: GraphRegistry, name: Any, sink: Sink, location: SourceCodeLocation) -> None:
    if not isinstance(name, str):
        raise TypeError(f"a sink's name is a str, not {type(name).__name__}")
    registry.key(name, short=True)
    pending = PendingDataset(location, dataset_name=name)
    registry.declarations.append(DatasetDeclaration(name, "sink", TableOptions(), pending, location, sink))


_IMPLEMENTATIONS = {**globals(), **vars(flows)}
API: dict[str, Callable[..., Any]] = {
    name: _IMPLEMENTATIONS[row.name] for row in FUNCTIONS for name in row.names
}
_REASON = "pipeline files declare into lakeward's graph"


def _constant(value: Any) -> Callable[[Any], Any]:
    return lambda _before: value


_API_PATCHES = tuple(
    PatchSpec("pyspark.pipelines", name, "pipelines", _REASON, _constant(value))
    for name, value in {**API, "__all__": sorted(API)}.items()
)
_DLT = PatchSpec("sys", "meta_path", "dlt", "pipeline files import dlt")
PATCHES = (*_API_PATCHES, _DLT)


class _DltFinder(MetaPathFinder, Loader):
    """Finds `dlt` before all other finders, as the import hook of the platform does in a pipeline.

    Repositories have folders of that name, and environments have packages of that name.
    """

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "dlt":
            return None
        return replacing_spec("dlt", self, PathFinder.find_spec("dlt"))

    def exec_module(self, module: ModuleType) -> None:
        _fill_module(module)


def _fill_module(module: ModuleType) -> None:
    module.__doc__ = "Declarative pipelines, served by lakeward."
    vars(module).update(API, __all__=sorted(API))


def fill_dlt(module: ModuleType) -> None:
    """Provide the API in `module`, the `dlt` of plain unit tests."""
    enable_unit_tests()
    _fill_module(module)


def serve_tests() -> None:
    """Let `from pyspark import pipelines` provide the whole API in plain unit tests."""
    enable_unit_tests()
    patching.install(_API_PATCHES)


def stop_serving_tests() -> None:
    """Restore `pyspark.pipelines`."""
    disable_unit_tests()
    if "pyspark.pipelines" in sys.modules:
        patching.uninstall(_API_PATCHES)


def _is_ours(module: object) -> bool:
    """Return whether a finder of lakeward has found `module`; a mock of a test has no spec."""
    return is_replacing(getattr(module, "__spec__", None))


@contextmanager
def serve_modules() -> Iterator[None]:
    """Let `from pyspark import pipelines` and `import dlt` provide this API until the block ends.

    Both are restored afterwards; functions that a user file keeps remain usable in the update. Another `dlt`
    in `sys.modules` (a mock, type stubs, a package of that name) is removed meanwhile, because an update
    would not see its declarations.
    """
    finder = _DltFinder()
    other = None if _is_ours(sys.modules.get("dlt")) else sys.modules.pop("dlt", None)
    added = patching.install(_API_PATCHES)
    insert_entry(sys, finder, _DLT.patch)
    try:
        yield
    finally:
        remove_entry(finder)
        module = sys.modules.get("dlt")
        if module is not None and isinstance(getattr(module, "__loader__", None), _DltFinder):
            del sys.modules["dlt"]
        if other is not None:
            sys.modules["dlt"] = other
        patching.uninstall(added)
