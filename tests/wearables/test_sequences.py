"""Deliveries, repeats, delays, crashes, refreshes and erasures in any order give the tables of the model.

The model is plain Python (`model.py`, `oracle.py`). After each sequence the jobs run to their end once; then
all tables, the requests of erasure and the suppression list equal the model's (INV-1 to INV-4, INV-14,
INV-16 to INV-20, INV-22).
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from databricks.sdk.runtime import dbutils
from fixtures.generate import generate

from lakeward import jobs
from lakeward.jobs import PipelineSelection
from lakeward.pipelines.execution.flow_execution import FlowExecution
from lakeward.pipelines.execution.graph_execution import GraphExecution
from lakeward.session import session
from tests.wearables.byte_scan import Canary, scan
from tests.wearables.company import Company
from tests.wearables.model import FOLDERS, STEPS, Model, Request, read_lines, write_lines
from tests.wearables.oracle import Lakehouse
from wearables import erasure
from wearables.jobs.erase import erase
from wearables.jobs.maintain import STATEMENTS, maintain, tables_of
from wearables.jobs.repair import repair
from wearables.streams import Streams
from wearables.streams import reset as forget_streams
from wearables.suppression import KEY

pytestmark = pytest.mark.usefixtures("spark")

USERS = (10_001, 10_004, 10_007)
"""People of whom the sequences request erasures; the CRM deletes the last one and reports it as new again."""

REFRESHES = (
    ("users", "users_history"),
    ("heart_rate", "workouts"),
    ("quarantine", "completed_workouts"),
    ("training_load", "user_keys", "workout_bpm"),
)

CHECKPOINTS = (("users", "users_history"), ("bronze",), ("registrations",))

Step = tuple[Any, ...]


class Machine:
    """A lakehouse and its model; every step is executed on both."""

    def __init__(self, source: Path, folder: Path, tables: Sequence[str] = ()) -> None:
        """Create an empty lakehouse in `folder`; of the pipeline's tables only `tables` are kept if given."""
        self.folder, self.source, self.tables = folder, source, tables
        self.company = Company(folder / "lakehouse", retention="0 seconds")
        self.model = Model()
        self.spark, self.schema = session(self.company.settings), self.company.schema
        volumes = self.company.settings.volumes / "dev" / "dev_ann_wearables"
        self.landing, self.checkpoints = volumes / "landing", volumes / "checkpoints" / "streams"
        self.left: dict[str, list[str]] = {}
        self.crashes = 0
        self.patch = pytest.MonkeyPatch()
        options = jobs.RunOptions(parameters={"source": "unused"}, only=["keys"])
        run = jobs.run(self.company.bundle, "daily", settings=self.company.settings, options=options)
        assert run.tasks[1].state == "SUCCESS", run.tasks
        scope = self.company.bundle.secret_scopes["wearables_scope"]["name"]
        self.key = dbutils.secrets.get(scope=scope, key=KEY)

    def update(self, expected: str = "COMPLETED", **selection: Any) -> None:
        done = jobs.run_pipeline(
            self.company.bundle,
            "wearables",
            settings=self.company.settings,
            selection=PipelineSelection(**selection),
        )
        assert done.state == expected, (done.error, [each for each in done.datasets if each.error])

    def has(self, table: str) -> bool:
        return self.spark.catalog.tableExists(f"{self.schema}.{table}")

    def table(self, name: str) -> Any:
        return self.spark.table(f"{self.schema}.{name}")

    # Steps.

    def deliver(self, number: int) -> None:
        """A day, whichever days are here already, and its gym logs."""
        day = sorted((self.source / "daily").iterdir())[number]
        self._land("daily", day.name, read_lines(day))
        for visits in sorted((self.source / "gym").glob(f"{day.name[:10].replace('-', '')}_*")):
            self._land("gym_logs", visits.name, read_lines(visits))

    def register(self, number: int) -> None:
        file = sorted(self.source.glob("registrations*.json"))[number]
        self._land("registrations", file.name, read_lines(file))

    def repeat(self, number: int, name: str) -> None:
        """A day that may have been delivered, as history: under another name, in another form and folder."""
        day = sorted((self.source / "daily").iterdir())[number]
        self._land("daily", name, read_lines(day), below="history")

    def _land(self, folder: str, name: str, lines: list[str], *, below: str = "") -> None:
        if (folder, name) not in self.model.landed:
            write_lines(self.landing / folder / below / name, lines)
            self.model.landed[folder, name] = lines

    def refresh(self, *names: str) -> None:
        """An update of all tables, or of `names`."""
        self.update(refresh=names or self.tables)
        self._note_ingested()

    def rebuild(self, *names: str) -> None:
        """A full refresh of `names`, or of all tables."""
        names = names or tuple(self.tables)
        self.update(full_refresh=names, full_refresh_all=not names)
        self._note_ingested()

    def reset(self, *names: str) -> None:
        """Lose checkpoints: changes of users are folded again, files are read again."""
        self.update(reset_checkpoints=names, refresh=names)
        for name in {"bronze", "registrations"}.intersection(names):
            self.model.read_again({"bronze": "daily"}.get(name, name))
        self._note_ingested()

    def maintain(self) -> None:
        """The job `maintenance`; rewritten files change no row, and streams emit nothing again (INV-18)."""
        if not self.tables:
            maintain(self.spark, self.schema)
        for statement in STATEMENTS if self.tables else ():
            self.spark.sql(statement.format(table=f"{self.schema}.bronze"))

    def stream(self) -> None:
        """The job `streams`, on what bronze has."""
        if self.has("registered_users"):
            Streams(self.spark, self.schema, str(self.checkpoints)).run()

    def interrupt(self, place: str, calls: int) -> None:
        """An update that ends between two commits, if it has so many."""
        owner, name = {"before a flow": (FlowExecution, "run"), "after a table": (GraphExecution, "_end")}[
            place
        ]
        original, count = getattr(owner, name), iter(range(1, 1000))

        def called(*given: Any, **named: Any) -> Any:
            if next(count) == calls:
                raise KeyboardInterrupt
            return original(*given, **named)

        with self.patch.context() as patch:
            patch.setattr(owner, name, called)
            self.update("CANCELED", refresh=self.tables)
        self._note_ingested()

    def _note_ingested(self) -> None:
        """Ask the tables which files were read: an update may have ended early, or have read nothing."""
        for folder, table in (
            ("daily", "bronze"),
            ("gym_logs", "gym_logs"),
            ("registrations", "registrations"),
        ):
            if self.has(table):
                names = self.table(table).select("source_file").distinct().collect()
                self.model.ingest([(folder, row[0]) for row in names])

    def request(self, user: int) -> None:
        name = f"r{len(self.model.requests)}"
        self.spark.sql(
            f"INSERT INTO {self.schema}.erasure_requests (request_id, user_id, requested) "
            f"VALUES ('{name}', {user}, now())"
        )
        self.model.requests[name] = Request(user, "api", time.time())

    def erase(self, crash_at: str = "") -> None:
        """The first task of the job, to its end or to a crash before the step `crash_at`."""
        if not (self.has("bronze") and self.has("registrations")):
            return
        with self.patch.context() as patch:
            if crash_at:
                patch.setattr(erasure, crash_at, crash)
            try:
                erase(self.spark, self.schema, self.landing, self.key, self._forget)
            except Crash:
                assert crash_at
                self.crashes += 1
        self.model.erase(crash_at=crash_at)

    def _forget(self) -> None:
        forget_streams(self.spark, self.schema, str(self.checkpoints))

    def erasure(self) -> None:
        """The whole job, which ends every request; then no file has a value of an erased person."""
        self.erase()
        folded = ("users", "users_history")
        if self.tables:
            self.update(full_refresh=folded, refresh=self.tables)
            self._note_ingested()
        else:
            self.rebuild(*folded)
            self.refresh()
        # A VACUUM takes as long as ten queries: in the default lane `test_suppression.py` looks at files.
        purged = [] if self.tables else tables_of(self.spark, self.schema)
        erasure.finish(self.spark, self.schema, purged, self.key, "0 seconds")
        self.model.finish()
        if not self.tables:
            self._scan()

    def _scan(self) -> None:
        """Note the files that have a value of a person who is erased and has not returned."""
        erased = [
            name.split(":", 1) for (name, _), until in self.model.suppressed.items() if until == math.inf
        ]
        left = scan(self.company.settings.home, canary(erased)) if erased else []
        if left:
            self.left[f"after {len(self.model.requests)} requests"] = left[:9]

    def repair(self) -> None:
        """Corrections of what was no number."""
        self._correct()
        self._land_corrections()

    def _correct(self) -> None:
        repair(self.spark, self.schema, self.landing)
        if not self.has("quarantine"):
            return
        self.spark.sql(
            f"INSERT INTO {self.schema}.repairs SELECT topic, partition, offset, timestamp, NULL, "
            f"replace(record, '\"n/a\"', '61.0'), NULL FROM {self.schema}.quarantine "
            "WHERE array_contains(failed_rules, 'payload_readable') AND record LIKE '%n/a%'"
        )

    def _land_corrections(self) -> None:
        repair(self.spark, self.schema, self.landing)
        for file in sorted((self.landing / "daily").glob("repair-*.json")):
            self.model.landed.setdefault(("daily", file.name), read_lines(file))

    def end(self) -> dict[str, Any]:
        """Run the job `erasure` to its end; return what differs from the model."""
        self.erasure()
        wanted = self.model.lakehouse(self.folder / "expected")
        differing = dict(self.company.differences(wanted, self.tables))
        rows = self.table("erasure_requests").collect()
        ended = Counter((each.source, each.status) for each in self.model.requests.values())
        found = Counter((row["source"], row["status"]) for row in rows)
        suppressed = self.table("suppressed")
        for name, got, expected in (
            ("erasure_requests", found, ended),
            ("suppressed", suppressed.count(), len(self.model.suppressed)),
            ("ids of requests", {row["user_id"] for row in rows} - {None}, set()),
            ("files with values of erased people", self.left, {}),
            ("files that were not read", self._unread(), []),
        ):
            if got != expected:
                differing[name] = {"found": got, "expected": expected}
        return differing | self._differing_streams(wanted)

    def _unread(self) -> list[tuple[str, str]]:
        """Landed files that a table should have and has not: none after an update (INV-2, INV-17)."""
        read = {"daily", "registrations"} if self.tables else set(FOLDERS)
        lines = {file: lines for file, lines in self.model.landed.items() if file[0] in read}
        kept = {file for file, each in lines.items() if not all(map(self.model.is_erased, each))}
        return sorted(kept - self.model.tables.keys())

    def _differing_streams(self, wanted: Lakehouse) -> dict[str, Any]:
        """Each event once. Which of several heart rates of one second is kept depends on the arrival."""
        if not self.has("heart_rate_stream"):
            return {}
        self.stream()
        rates = self.table("heart_rate_stream").selectExpr("device_id", "unix_micros(time)").collect()
        found, expected = Counter(map(tuple, rates)), Counter(row[:2] for row in wanted.heart_rate)
        return {} if found == expected else {"heart_rate_stream": (found - expected, expected - found)}


def canary(names: Sequence[Sequence[str]]) -> Canary:
    """Return what files must not have; a name is a kind (user, device, mac) and a value."""
    users, devices = (
        tuple(int(value) for kind, value in names if kind == wanted) for wanted in ("user", "device")
    )
    texts = [value for kind, value in names if kind == "mac"]
    return Canary((*texts, *(f'"user_id": {user},' for user in users)), devices, cells=users)


class Crash(Exception):
    """Ends a task."""


def crash(*_: object, **__: object) -> None:
    raise Crash(Crash.__name__)


def steps(random: Random, length: int) -> Iterator[Step]:
    """A sequence: it begins with an update of all tables; deliveries are the most frequent steps."""
    kinds: dict[str, Callable[[], Step]] = {
        "deliver": lambda: ("deliver", random.randrange(7)),
        "repeat": lambda: (
            "repeat",
            random.randrange(7),
            f"again-{random.randrange(9)}.json{random.choice(['', '.gz'])}",
        ),
        "register": lambda: ("register", random.randrange(2)),
        "refresh": lambda: ("refresh", *random.choice(((), (), *REFRESHES))),
        "rebuild": lambda: ("rebuild", *random.choice(((), *REFRESHES))),
        "interrupt": lambda: (
            "interrupt",
            random.choice(["before a flow", "after a table"]),
            random.randint(1, 14),
        ),
        "request": lambda: ("request", random.choice(USERS)),
        "erase": lambda: ("erase", random.choice(["", *STEPS])),
        "erasure": lambda: ("erasure",),
        "repair": lambda: ("repair",),
        "reset": lambda: (
            "reset",
            *random.choice((("users", "users_history"), ("bronze",), ("registrations",))),
        ),
        "stream": lambda: ("stream",),
        "maintain": lambda: ("maintain",),
    }
    weights = {"deliver": 5, "register": 2, "refresh": 2, "request": 2, "erase": 2, "interrupt": 2}
    names = random.choices(list(kinds), [weights.get(name, 1) for name in kinds], k=length)
    yield from (kinds["register"](), kinds["deliver"](), ("refresh",))
    yield from (kinds[name]() for name in names)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven days of eight users, with an eighth of the heart rates: steps are tested, not rows."""
    folder = tmp_path_factory.mktemp("sequences")
    generate(folder, users=8, days=7, seed=3, longest=60)
    for day in (folder / "daily").iterdir():
        lines = read_lines(day)
        write_lines(
            day, [line for at, line in enumerate(lines) if at % 8 == 0 or '"topic": "bpm"' not in line]
        )
    return folder


def execute(machine: Machine, sequence: Iterable[Step]) -> dict[str, Any]:
    for kind, *given in sequence:
        began = time.monotonic()
        getattr(machine, kind)(*given)
        print(f"{kind} {given}: {time.monotonic() - began:.1f} s")
    began = time.monotonic()
    differing = machine.end()
    print(f"end: {time.monotonic() - began:.1f} s")
    return differing


# Day 0 has the first records of all users.
SHORT: tuple[Step, ...] = (
    ("register", 0),
    ("deliver", 4),
    ("deliver", 0),
    ("repeat", 4, "again.json"),
    ("interrupt", "before a flow", 4),
    ("refresh",),
    ("request", 10_001),
    ("erase", "remove"),
    ("maintain",),
    ("deliver", 2),
    ("register", 1),
    ("reset", "bronze"),
)
REDUCED = ("bronze", "registrations", "workouts", "users", "users_history")


def test_a_crash_a_repeat_and_a_lost_checkpoint_around_an_erasure_give_the_tables_of_the_model(
    source: Path, tmp_path: Path
) -> None:
    machine = Machine(source, tmp_path, REDUCED)
    assert execute(machine, SHORT) == {}
    assert machine.crashes == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_generated_sequences_give_the_tables_of_the_model(source: Path, tmp_path: Path, seed: int) -> None:
    sequence = list(steps(Random(seed), 6))
    assert execute(Machine(source, tmp_path), sequence) == {}, sequence
