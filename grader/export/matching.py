"""Which row of another system's file is a student's, and which column is a lab's.

A name matches as it is written. Where no row has it as it is written, case does not count, nor
whether é is one character or an e and an accent, and then a @domain that one side alone has; but
only if that leaves one row for one student. Two domains that differ are two addresses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from grader.export.sheet import Unusable, folded, listed, plain, shown


@dataclass
class Matched:
    """Students and their rows.

    Args:
        rows: student → number of the row.
        missing: students that no row is.
        unclear: a sentence for each student that could be several rows, or whose row could be
            several students.
    """

    rows: dict[str, int] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unclear: dict[str, str] = field(default_factory=dict)


def students(names: Iterable[str], keys: Sequence[Collection[str]]) -> Matched:
    """Match students to rows.

    Args:
        keys: for each row, the names by which the other system knows its student.
    """
    names = sorted(set(names))
    exact, loose, local = (_Index(keys, how) for how in (_same, _folded, _local))
    matched = Matched()
    claims = {}
    for name in names:
        found = exact.of(name) or loose.of(name) or _other_domains(name, local, keys)
        if found:
            claims[name] = (bool(exact.of(name)), found)
        else:
            matched.missing.append(name)
    wanted: dict[int, list[str]] = defaultdict(list)
    for name, (_, found) in claims.items():
        for row in found:
            wanted[row].append(name)
    for name, (literal, found) in claims.items():
        others = {
            other for row in found for other in wanted[row]
            if other != name and (claims[other][0] or not literal)
        }  # fmt: skip
        if len(found) > 1:
            matched.unclear[name] = f"{shown(name)} could be {len(found)} rows of the file."
        elif others:
            said = f"{shown(name)} and {listed(sorted(others))} could be the same row of the file."
            matched.unclear[name] = said
        else:
            (matched.rows[name],) = found
    return matched


class _Index:
    """Rows by their keys, which a function makes comparable."""

    def __init__(self, keys: Sequence[Collection[str]], how: Callable[[str], str]) -> None:
        self._how = how
        self._rows: dict[str, set[int]] = defaultdict(set)
        for number, some in enumerate(keys):
            for one in some:
                if one.strip():
                    self._rows[how(one)].add(number)

    def of(self, name: str) -> set[int]:
        return self._rows.get(self._how(name), set())


def _same(name: str) -> str:
    return name.strip()


def _folded(name: str) -> str:
    return folded(name.strip())


def _local(name: str) -> str:
    return _folded(name).partition("@")[0]


def _other_domains(name: str, local: _Index, keys: Sequence[Collection[str]]) -> set[int]:
    """Rows with this name in which either the key or the name has a domain, and not both."""
    return {
        row for row in local.of(name)
        if any(
            _local(one) == _local(name) and ("@" in one) != ("@" in name)
            for one in keys[row] if one.strip()
        )
    }  # fmt: skip


def columns(
    header: Sequence[str], labs: Sequence[str], named: Mapping[str, str],
    titles: Callable[[int], Collection[str]],
) -> tuple[dict[str, int], list[str]]:  # fmt: skip
    """{lab: place of its column}, and a sentence for each lab whose column is not clear.

    Args:
        named: lab → the column that was named for it.
        titles: the names of the column at a place; none where it cannot be a lab's.

    Raises:
        Unusable: a column that was named is missing or there several times, or two labs have one.
    """
    found, said = {}, []
    for lab in labs:
        wanted = named.get(lab)
        places = _called(wanted or lab, header, titles, bool(wanted))
        if wanted and len(places) != 1:
            several = f"{len(places)} columns" if places else "no column"
            raise Unusable(
                f"the file has {several} {shown(wanted)!r} for {lab}: write one of "
                f"{_candidates(header, titles)}"
            )
        if len(places) > 1:
            several = listed(header[place] for place in places)
            said.append(f'{lab} could be {several}: name one with --column {lab}="…".')
        elif places:
            found[lab] = places[0]
    taken = [lab for lab in found if list(found.values()).count(found[lab]) > 1]
    if taken:
        raise Unusable(f"{listed(taken)} are one column of the file: name one for each")
    return found, said


def _called(
    name: str, header: Sequence[str], titles: Callable[[int], Collection[str]], named: bool
) -> list[int]:
    """Columns of this name: those whose whole header it is, if it was named, or else by title."""
    wanted = plain(name)
    called = {place: titles(place) for place in range(len(header)) if titles(place)}
    if named:
        whole = [place for place in called if plain(header[place]) == wanted]
        if whole:
            return whole
    return [place for place, some in called.items() if wanted in {plain(title) for title in some}]


def _candidates(header: Sequence[str], titles: Callable[[int], Collection[str]]) -> str:
    some = [head for place, head in enumerate(header) if titles(place)]
    more = f" and {len(some) - 10} more" if len(some) > 10 else ""
    return f"{listed(some[:10])}{more}" or "those that it has"
