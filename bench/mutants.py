"""Do the checks notice when a solution is changed? AST mutants of the solutions, judged.

    python bench/mutants.py 01-message-passing [EXERCISE …] [--most 12]

Each mutant changes one thing in the body of a solution: an operator, a comparison, a number, a
truth value, a condition, a returned value, or it leaves a statement out. Mutants that do what is
asked all the same (`bench/equivalents.py`) are counted apart. It prints the share of the others
that is caught, that of all mutants, and every survivor, for somebody to say whether it behaves
differently at all.
"""

from __future__ import annotations

import argparse
import ast
import concurrent.futures
import copy
import difflib
import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.equivalents import EQUIVALENTS
from distlab import course
from distlab.processes.zygote import Zygote
from grader import collected, coursedir
from grader.judging import demo

_SWAPPED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.BitXor: ast.Add, ast.Mod: ast.FloorDiv, ast.FloorDiv: ast.Mod,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot,
    ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def _variants(node: ast.AST) -> Iterator[ast.AST]:
    """What a node may be changed into."""
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in _SWAPPED:
        yield _with(node, op=_SWAPPED[type(node.op)]())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPPED:
        yield _with(node, ops=[_SWAPPED[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield _with(node, value=not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield _with(node, value=node.value + 1)
    elif isinstance(node, (ast.If, ast.IfExp)):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Return) and not _returns_none(node):
        yield _with(node, value=ast.Constant(None))
    if isinstance(node, (ast.Expr, ast.AugAssign)) and not _is_docstring(node):
        yield ast.Pass()


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _returns_none(node: ast.Return) -> bool:
    return node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)


def _with(node: ast.AST, **changes) -> ast.AST:
    changed = copy.copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


class _Replace(ast.NodeTransformer):
    def __init__(self, number: int, variant: ast.AST) -> None:
        self.number, self.variant, self.seen = number, variant, -1

    def visit(self, node: ast.AST) -> ast.AST:
        self.seen += 1
        return self.variant if self.seen == self.number else self.generic_visit(node)


def mutants(source: str) -> Iterator[tuple[int, str]]:
    """(line, changed source) for every single change of a solution."""
    numbers: list[ast.AST] = []

    class Count(ast.NodeVisitor):
        def visit(self, node):
            numbers.append(node)
            self.generic_visit(node)

    tree = ast.parse(source)
    Count().visit(tree)
    for number, node in enumerate(numbers):
        for variant in _variants(node):
            changed = _Replace(number, variant).visit(ast.parse(source))
            yield getattr(node, "lineno", 0), ast.unparse(ast.fix_missing_locations(changed))


def change(solution: str, mutant: str) -> str:
    """What a mutant changes: its own line, or the one that it leaves out."""
    before, after = (ast.unparse(ast.parse(text)).splitlines() for text in (solution, mutant))
    lines = list(difflib.ndiff(before, after))
    old, new = ("; ".join(x[2:].strip() for x in lines if x[0] == sign) for sign in "-+")
    return f"left out: {old}" if new in ("", "pass") else new


def _names(line: int, what: str) -> set[str]:
    """What a mutant may be called in the list of equivalents: by its line too, where several change
    lines into the same.
    """
    return {what, f"line {line}: {what}"}


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lab")
    parser.add_argument("exercise", nargs="*")
    parser.add_argument("--most", type=int, default=12, help="mutants of an exercise (default: 12)")
    chosen = parser.parse_args()
    full = demo.handed_in("ada", chosen.lab)
    caught = total = same = 0
    with Zygote() as source, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name in chosen.exercise or course.exercises(chosen.lab):
            judge = collected.grader(chosen.lab, [name])
            solution = collected.source_of(full, name)
            made = list(mutants(solution))
            random.Random(0).shuffle(made)

            def status(mutant, judge=judge, name=name):
                content = collected.filled(coursedir.released(chosen.lab), **{name: mutant[1]})
                return judge.grade(judge.plan(content), source)[0].status

            known = EQUIVALENTS.get(f"{chosen.lab}/{name}", {})
            changes = [(line, change(solution, text)) for line, text in made]
            texts = {text for change in changes for text in _names(*change)}
            for gone in sorted(set(known) - texts):
                print(f"    no mutant any more, but on the list of equivalents: {gone}")
            found = list(pool.map(status, made[: chosen.most]))
            passed = [c for c, s in zip(changes, found, strict=False) if s == "passed"]
            survivors = [
                (line, what) for line, what in passed if not known.keys() & _names(line, what)
            ]
            asked = len(found) - len(passed) + len(survivors)
            caught, total = caught + len(found) - len(passed), total + asked
            same += len(passed) - len(survivors)
            print(f"{name:20} {len(found) - len(passed)} of {asked} caught", flush=True)
            for line, what in survivors:
                print(f"    line {line}: {what}")
    every = total + same
    print(
        f"{chosen.lab}: {caught} of {total} mutants caught "
        f"({_percent(caught, total)}); {same} more "
        f"do what is asked as well: {caught} of all {every} ({_percent(caught, every)})"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
