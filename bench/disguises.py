"""How a copied answer is disguised in `bench.likeness`: by transformations that leave what it does
as it is, each with a generator of random numbers of its own.

What is meant for one exercise keeps its name and its parameters: the judge calls it by them.
"""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import random
import tokenize
from collections.abc import Callable

Disguise = Callable[[str, random.Random], str]
_WORDS = ("alpha", "beta", "chunk", "edge", "flow", "gate", "item", "joint", "knot", "mark", "node")
_SAID = (
    "now the other ranks", "this has to be in the right order", "see the lecture", "TODO tidy up",
    "careful here", "works on 2 and on 4 ranks", "as in the book",
)  # fmt: skip


def renamed(source: str, rng: random.Random) -> str:
    """All names of the author's own changed: variables, functions, classes, attributes."""
    tree = ast.parse(source)
    own = sorted(_own_names(tree))
    fresh = [f"{rng.choice(_WORDS)}_{number}" for number in range(len(own))]
    names = dict(zip(own, fresh, strict=True))
    return ast.unparse(_Rename(names).visit(tree))


def _own_names(tree: ast.Module) -> set[str]:
    kept = {*dir(builtins), *keyword.kwlist}
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            kept |= {(a.asname or a.name).split(".")[0] for a in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            if node in tree.body:
                kept.add(node.name)  # another cell may call it
            kept |= {a.arg for a in _parameters(node)}
        elif isinstance(node, ast.keyword) and node.arg:
            kept.add(node.arg)
    return {name for name in bound - kept if not name.startswith("__")}


def _parameters(node: ast.AST) -> list[ast.arg]:
    return [each for each in ast.walk(getattr(node, "args", node)) if isinstance(each, ast.arg)]


class _Rename(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_Global(self, node: ast.Global) -> ast.Global:
        node.names = [self._names.get(name, name) for name in node.names]
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.Nonlocal:
        node.names = [self._names.get(name, name) for name in node.names]
        return node


def reordered(source: str, rng: random.Random) -> str:
    """Statements that do not depend on each other swapped, functions and keywords too, and the
    branches of an if and its else.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            for at in range(len(body) - 1):
                if _independent(body[at], body[at + 1]):
                    body[at], body[at + 1] = body[at + 1], body[at]
        if isinstance(node, ast.Call):
            node.keywords.reverse()
        if isinstance(node, ast.If) and node.orelse and not _is_elif(node):
            node.test = ast.UnaryOp(ast.Not(), node.test)
            node.body, node.orelse = node.orelse, node.body
    return ast.unparse(ast.fix_missing_locations(tree))


def _is_elif(node: ast.If) -> bool:
    return len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)


def _independent(one: ast.stmt, other: ast.stmt) -> bool:
    if isinstance(one, ast.FunctionDef) and isinstance(other, ast.FunctionDef):
        return not (one.decorator_list or other.decorator_list)
    if not (isinstance(one, ast.Assign) and isinstance(other, ast.Assign)):
        return False
    if any(isinstance(n, (ast.Attribute, ast.Subscript, ast.Starred)) for a in (one, other)
           for t in a.targets for n in ast.walk(t)):  # fmt: skip
        return False
    calls = [any(isinstance(n, (ast.Call, ast.Await)) for n in ast.walk(a)) for a in (one, other)]
    return not all(calls) and not (_stores(one) & _names(other) or _stores(other) & _names(one))


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _stores(node: ast.AST) -> set[str]:
    return {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def dead_code(source: str, rng: random.Random) -> str:
    """Before every third statement of functions one that does nothing."""
    tree = ast.parse(source)
    for node in list(ast.walk(tree)):
        if isinstance(node, (ast.FunctionDef, ast.For, ast.If, ast.While, ast.With)):
            body: list[ast.stmt] = []
            for statement in node.body:
                if rng.random() < 1 / 3:
                    body += ast.parse(_nothing(rng)).body
                body.append(statement)
            node.body = body
    return ast.unparse(ast.fix_missing_locations(tree))


def _nothing(rng: random.Random) -> str:
    name = f"{rng.choice(_WORDS)}_{rng.randrange(100)}"
    return rng.choice(
        [f"{name} = {rng.randrange(9)}", f"{name} = [{rng.randrange(9)}] * {rng.randrange(9)}",
         f"if False:\n    {name} = None", f"for {name} in ():\n    pass", "assert True",
         f"{name} = len('{rng.choice(_WORDS)}') + {rng.randrange(9)}"]
    )  # fmt: skip


def comments(source: str, rng: random.Random) -> str:
    """Other comments, a blank line here and there, the code as it was."""
    lines = source.split("\n")
    ends, starts = set(), set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
        if token.type == tokenize.NEWLINE:
            ends.add(token.start[0])
            starts.add(token.end[0] + (token.end[1] > 0))
    changed = []
    for number, line in enumerate(lines, 1):
        if number - 1 in ends and rng.random() < 0.3:
            changed += ["", f"{line[: len(line) - len(line.lstrip())]}# {rng.choice(_SAID)}"]
        said = f"  # {rng.choice(_SAID)}" if number in ends and rng.random() < 0.3 else ""
        changed.append(line + said)
    return "\n".join(changed)


def restyled(source: str, rng: random.Random) -> str:
    """The names and habits of an answer to another exercise: what it assigns in place is written
    out, comparisons are turned round, results get a name before they are returned, a range begins
    at 0, and branches stand the other way round.
    """
    tree = _Restyle().visit(ast.parse(renamed(source, rng)))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and node.orelse and not _is_elif(node):
            node.test = ast.UnaryOp(ast.Not(), node.test)
            node.body, node.orelse = node.orelse, node.body
    return ast.unparse(ast.fix_missing_locations(tree))


_TURNED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE,
           ast.Eq: ast.Eq, ast.NotEq: ast.NotEq}  # fmt: skip


class _Restyle(ast.NodeTransformer):
    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        return ast.Assign([node.target], value)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 and type(node.ops[0]) in _TURNED:
            turned = _TURNED[type(node.ops[0])]()
            return ast.Compare(node.comparators[0], [turned], [node.left])
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if node.value is None or isinstance(node.value, (ast.Name, ast.Constant)):
            return node
        named = ast.Assign([ast.Name("outcome", ast.Store())], node.value)
        return [named, ast.Return(ast.Name("outcome", ast.Load()))]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "range" and len(node.args) == 1:
            node.args.insert(0, ast.Constant(0))
        return node


DISGUISES: dict[str, Disguise] = {
    "renamed": renamed, "reordered": reordered, "dead code": dead_code, "comments": comments,
    "another style": restyled,
}  # fmt: skip
