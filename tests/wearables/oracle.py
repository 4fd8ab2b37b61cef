"""The lakehouse again, in plain Python straight from the files, sharing nothing with `src/wearables`.

Times are microseconds since 1970 (UTC). Each function gives rows as tuples; `lakehouse` gives all datasets.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

__all__ = ["Lakehouse", "bronze_row", "lakehouse", "lines", "user_changes"]

Row = tuple[Any, ...]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_YEAR_2010 = 1_262_304_000_000_000


@dataclass(frozen=True)
class Lakehouse:
    """Every dataset as a multiset of rows; `frames.COLUMNS` has their columns.

    `user_id` is in the place of the pseudonym.
    """

    bronze: Counter[Row]
    heart_rate: Counter[Row]
    workouts: Counter[Row]
    registered_users: Counter[Row]
    gym_visits: Counter[Row]
    completed_workouts: Counter[Row]
    workout_bpm: Counter[Row]
    workout_bpm_summary: Counter[Row]
    quarantine: Counter[Row]
    users: Counter[Row]
    users_history: Counter[Row]
    user_bins: Counter[Row]
    training_load: Counter[Row]
    fitness_by_group: Counter[Row]


def lines(files: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """(file name, line) of every line that is not blank."""
    for file in sorted(files, key=lambda path: path.name):
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        for line in content.decode().split("\n"):
            if line.strip():
                yield file.name, line


def lakehouse(source: Path) -> Lakehouse:
    """All datasets for a folder with daily/*.json[.gz] and registrations*.json."""
    bronze = [bronze_row(name, line) for name, line in lines((source / "daily").glob("*.json*"))]
    refused: list[Row] = []
    rates = _once(_heart_rates(bronze, refused), key=lambda fields: fields[:2])
    events = _once(_workouts(bronze, refused), key=lambda fields: fields)
    _foreign(bronze, refused)
    changes = list(user_changes(bronze, refused))
    registered = _registered(source, refused)
    visits = _visits(source, refused)
    sessions = _sessions(events)
    joined = list(_joined(rates, sessions, registered))
    history = versions(changes)
    users = [row[:-2] for row in history if row[-1] is None]
    today = max((row[6] for row in bronze if row[6] is not None), default=None)
    bins = [(user[0], _band(today, user[1]), user[3], user[8]) for user in users]
    load = _training_load(joined)
    return Lakehouse(
        bronze=Counter(bronze),
        heart_rate=Counter(rates),
        workouts=Counter(events),
        registered_users=Counter(registered),
        gym_visits=Counter(visits),
        completed_workouts=Counter(sessions),
        workout_bpm=Counter(joined),
        workout_bpm_summary=Counter(_summary(joined)),
        quarantine=Counter(refused),
        users=Counter(users),
        users_history=Counter(history),
        user_bins=Counter(bins),
        training_load=Counter(load),
        fitness_by_group=Counter(_groups(load, bins)),
    )


def bronze_row(name: str, line: str) -> Row:
    """A line of a daily file as a row of bronze."""
    try:
        record = json.loads(line)
    except json.JSONDecodeError:
        return (None,) * 8 + (name, line)
    date = week = None
    if record["timestamp"] is not None:
        date = (_EPOCH + timedelta(milliseconds=record["timestamp"])).date()
        year, number, _ = date.isocalendar()
        week = f"{year:04d}-{number:02d}"
    texts = {field: record[field] for field in ("key", "value") if record[field] is not None}
    key, value = _decoded(record["key"]), _decoded(record["value"])
    unreadable = None
    if (key is None and "key" in texts) or (value is None and "value" in texts):
        unreadable = json.dumps(texts, separators=(",", ":"))
    where = tuple(record[field] for field in ("topic", "partition", "offset", "timestamp"))
    return (key, value, *where, date, week, name, unreadable)


def _decoded(text: str | None) -> bytes | None:
    try:
        return None if text is None else base64.b64decode(text, validate=True)
    except binascii.Error:
        return None


def _payload(value: bytes | None, types: dict[str, Callable[[Any], bool]]) -> dict[str, Any] | None:
    """The payload, its fields missing or of the given types; None for anything else."""

    def refuse(_: str) -> None:
        raise ValueError("no JSON number")

    try:
        payload = json.loads(value or b"", parse_float=Decimal, parse_constant=refuse)
    except ValueError:
        return None
    if not isinstance(payload, dict):
        return None
    for field, fits in types.items():
        if payload.get(field) is not None and not fits(payload[field]):
            return None
    return payload


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return _whole(value) or isinstance(value, Decimal)


def _micros(seconds: int | Decimal | None) -> int | None:
    return None if seconds is None else int(seconds * 1_000_000)


def _heart_rates(bronze: list[Row], refused: list[Row]) -> Iterator[tuple[Row, Row]]:
    """((file, partition, offset), (device_id, time, heartrate)) of the valid ones."""
    for _, value, topic, partition, offset, sent, _, _, name, unreadable in bronze:
        if topic != "bpm" or unreadable is not None:
            continue
        payload = _payload(value, {"device_id": _whole, "time": _number, "heartrate": _number})
        failed = ["payload_readable"]
        if payload is not None:
            device, time, rate = (
                payload.get("device_id"),
                _micros(payload.get("time")),
                payload.get("heartrate"),
            )
            failed = [
                name
                for name, holds in {
                    "device_id_present": device is not None,
                    "device_id_in_range": device is not None and device > 110_000,
                    "heartrate_present": rate is not None,
                    "heartrate_positive": rate is not None and rate > 0,
                    "time_plausible": time is not None and time >= _YEAR_2010,
                }.items()
                if not holds
            ]
            if not failed:
                yield (name, partition, offset), (device, time, float(rate))
        if failed:
            text = None if value is None else value.decode()
            refused.append(("daily", name, topic, partition, offset, sent, text, tuple(failed)))


def _workouts(bronze: list[Row], refused: list[Row]) -> Iterator[tuple[Row, Row]]:
    """((file, partition, offset), (user_id, workout_id, time, action, session_id)) of the valid ones."""
    types = {"user_id": _whole, "workout_id": _whole, "timestamp": _number, "session_id": _whole}
    for _, value, topic, partition, offset, sent, _, _, name, unreadable in bronze:
        if topic != "workout" or unreadable is not None:
            continue
        payload = _payload(value, types)
        failed = ["payload_readable"]
        if payload is not None:
            user, workout, action, session = (
                payload.get(field) for field in ("user_id", "workout_id", "action", "session_id")
            )
            time = _micros(payload.get("timestamp"))
            needed = {"user_id": user, "session_id": session, "action": action, "time": time}
            failed = [f"{field}_present" for field, given in needed.items() if given is None]
            if not failed:
                yield (name, partition, offset), (user, workout, time, action, session)
        if failed:
            text = None if value is None else value.decode()
            refused.append(("daily", name, topic, partition, offset, sent, text, tuple(failed)))


def _foreign(bronze: list[Row], refused: list[Row]) -> None:
    for _, value, topic, partition, offset, sent, _, _, name, unreadable in bronze:
        if unreadable is not None:
            rule, text = "record_readable", unreadable
        elif topic not in ("bpm", "workout", "user_info"):
            rule, text = "topic_known", None if value is None else value.decode()
        else:
            continue
        refused.append(("daily", name, topic, partition, offset, sent, text, (rule,)))


def _once(found: Iterable[tuple[Row, Row]], key: Callable[[Row], Row]) -> list[Row]:
    groups: dict[Row, list[tuple[Row, Row]]] = defaultdict(list)
    for place, fields in found:
        groups[key(fields)].append((place, fields))
    return [(*min(group)[1], len(group) - 1) for group in groups.values()]


def user_changes(bronze: list[Row], refused: list[Row]) -> Iterator[Row]:
    """(user_id, updated, received, text, update_type, row) of the valid changes; row is as in `users`."""
    for _, value, topic, partition, offset, sent, _, _, name, unreadable in bronze:
        types = {"user_id": _whole, "timestamp": _number}
        if topic != "user_info" or unreadable is not None:
            continue
        payload = _payload(value, types)
        failed = ["payload_readable"]
        text = None if value is None else value.decode()
        if payload is not None:
            user, kind, updated = payload["user_id"], payload["update_type"], _micros(payload["timestamp"])
            failed = [
                rule
                for rule, holds in {
                    "user_id_present": user is not None,
                    "update_type_known": kind in ("new", "update", "delete"),
                    "updated_plausible": updated is not None
                    and _YEAR_2010 <= updated <= sent * 1000 + 86_400_000_000,
                }.items()
                if not holds
            ]
            address = payload["address"]
            born = datetime.strptime(payload["dob"], "%m/%d/%Y").date()  # noqa: DTZ007  # a day has no zone
            names = tuple(payload[field] for field in ("sex", "gender", "first_name", "last_name"))
            place = tuple(address[field] for field in ("street_address", "city", "state", "zip"))
            if not failed:
                yield user, updated, sent, text, kind, (user, born, *names, *place, updated)
        if failed:
            refused.append(("daily", name, topic, partition, offset, sent, text, tuple(failed)))


def versions(changes: Iterable[Row]) -> list[Row]:
    """Fold changes: each user's rows with the times at which they begin and end."""
    of_user: dict[int, set[Row]] = defaultdict(set)
    for user, *change in changes:
        of_user[user].add(tuple(change))
    rows = []
    for found in of_user.values():
        ordered = sorted(found, key=lambda change: change[:3])
        for (updated, _, _, kind, row), after in zip(ordered, [*ordered[1:], None], strict=True):
            if kind != "delete":
                rows.append((*row, updated, None if after is None else after[0]))
    return rows


def _band(today: Any, born: Any) -> str:
    age = today.year - born.year - ((today.month, today.day) < (born.month, born.day))
    if age < 0 or age >= 120:
        return "unknown"
    starts = ((18, "under 18"), (25, "18-24"), (35, "25-34"), (45, "35-44"), (55, "45-54"), (65, "55-64"))
    return next((name for limit, name in starts if age < limit), "65+")


def _training_load(joined: list[Row]) -> list[Row]:
    groups: dict[Row, list[float]] = defaultdict(list)
    for user, _, time, rate in {(row[0], *row[3:]) for row in joined}:
        year, week, _ = (_EPOCH + timedelta(microseconds=time)).isocalendar()
        groups[user, f"{year:04d}-{week:02d}"].append(rate)
    return [
        (
            *key,
            len(rates),
            sum(1 + sum(rate >= zone for zone in (100, 120, 140, 160)) for rate in rates),
            max(rates),
        )
        for key, rates in groups.items()
    ]


def _groups(load: list[Row], bins: list[Row]) -> list[Row]:
    band = {user: name for user, name, _, _ in bins}
    groups: dict[Row, list[Row]] = defaultdict(list)
    for user, week, seconds, points, _ in load:
        if user in band:
            groups[week, band[user]].append((seconds, points))
    return [
        (*key, len(rows), sum(row[0] for row in rows), sum(row[1] for row in rows))
        for key, rows in groups.items()
        if len(rows) >= 5
    ]


def _registered(source: Path, refused: list[Row]) -> list[Row]:
    def broken(given: Row) -> list[str]:
        return [
            f"{field}_present"
            for field, value in (("device_id", given[0]), ("user_id", given[3]))
            if value is None
        ]

    fields = ("device_id", "mac_address", "registration_timestamp", "user_id")
    return _feed("registrations", source.glob("registrations*.json*"), fields, broken, refused)


def _visits(source: Path, refused: list[Row]) -> list[Row]:
    def broken(given: Row) -> list[str]:
        mac, gym, first, last = given
        rules = {
            "mac_present": mac is not None,
            "gym_present": gym is not None,
            "times_in_order": first is not None and last is not None and first <= last,
        }
        return [rule for rule, holds in rules.items() if not holds]

    fields = ("mac", "gym", "first_timestamp", "last_timestamp")
    return _feed("gym_logs", (source / "gym").glob("*.json*"), fields, broken, refused)


def _feed(
    feed: str,
    files: Iterable[Path],
    fields: tuple[str, ...],
    broken: Callable[[Row], list[str]],
    refused: list[Row],
) -> list[Row]:
    found: list[tuple[Row, Row]] = []
    for name, line in lines(files):
        nowhere = (feed, name, None, None, None, None)
        try:
            given = json.loads(line)
        except json.JSONDecodeError:
            refused.append((*nowhere, line, ("record_readable",)))
            continue
        row = tuple(given.get(field) for field in fields)
        failed = tuple(broken(row))
        if failed:
            known = [
                f'"{field}":{_scientific(value) if isinstance(value, float) else json.dumps(value)}'
                for field, value in zip(fields, row, strict=True)
                if value is not None
            ]
            refused.append((*nowhere, "{" + ",".join(known) + "}", failed))
        else:
            found.append(((name,), row))
    return _once(found, key=lambda fields: fields)


def _scientific(value: float) -> str:
    """A number from ten million on as Java writes it."""
    digits, exponent = f"{Decimal(repr(value)).normalize():E}".split("E+")
    return f"{digits}{'' if '.' in digits else '.0'}E{exponent}"


def _sessions(events: list[Row]) -> list[Row]:
    starts: dict[Row, list[Row]] = defaultdict(list)
    stops: dict[Row, list[int]] = defaultdict(list)
    for user, workout, time, action, session, _ in events:
        if action == "start":
            starts[user, session].append((time, workout))
        elif action == "stop":
            stops[user, session].append(time)
    rows = []
    for (user, session), begun in starts.items():
        start, workout = min(begun)
        end = max(stops[user, session], default=None)
        rows.append((user, workout, session, start, end, end is None))
    return rows


def _joined(rates: list[Row], sessions: list[Row], registered: list[Row]) -> Iterator[Row]:
    by_device: dict[int, list[Row]] = defaultdict(list)
    for device, time, rate, _ in rates:
        by_device[device].append((time, rate))
    wearers = {(user, device) for device, _, _, user, _ in registered}
    for user, workout, session, start, end, in_progress in sessions:
        for wearer, device in wearers:
            if wearer == user and not in_progress:
                for time, rate in by_device[device]:
                    if start <= time <= end:
                        yield (user, workout, session, device, time, rate)


def _summary(joined: list[Row]) -> list[Row]:
    groups: dict[Row, list[float]] = defaultdict(list)
    for user, workout, session, _, _, rate in joined:
        groups[user, workout, session].append(rate)
    return [
        (*key, min(rates), sum(rates) / len(rates), max(rates), len(rates)) for key, rates in groups.items()
    ]
