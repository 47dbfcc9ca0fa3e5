"""A cell's source as the words that survive a disguise: without the author's own names, literals,
comments and layout.

Names of libraries stay (`dist.send`, `torch.empty_like`): they say what a line does, and nobody
can rename them.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import keyword
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from distlab import notebook

MOST_CHARACTERS = 30_000  # of a cell; the longest collected answer has 5,000
_ROUGH = re.compile(r"[^\W\d]\w*|\d[\w.]*|\"[^\"\n]*\"|'[^'\n]*'|[^\s\w]")
_NAME = re.compile(r"[^\W\d]\w*")
_KEPT = {*keyword.kwlist, *dir(builtins)}
_LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
#: Python 3.12 takes f-strings apart
_F_BEGINS = getattr(tokenize, "FSTRING_START", -1)
_F_ENDS = getattr(tokenize, "FSTRING_END", -1)
_LITERAL = {tokenize.STRING, tokenize.NUMBER, tokenize.OP}
_IDLE = {"pass", "None", "True", "False"}
_OPENING, _CLOSING = set("([{"), set(")]}")


@dataclass(frozen=True)
class Token:
    """A word and the line that it stands in, counted from 1."""

    word: str
    line: int


@dataclass
class _Own:
    """The names that a source binds itself: as names, as attributes, and those of its imports."""

    names: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    imported: dict[str, str] = field(default_factory=dict)  # as it is called here → what it is


def tokens(sources: Mapping[str, str]) -> dict[str, list[Token]]:
    """The words of each of a submission's cells, as far as it is compared; those of a cell that is
    not Python are approximate.

    Args:
        sources: by the cells' names; what one binds at its top level is the author's own in all.
    """
    read = {name: python(source[:MOST_CHARACTERS]) for name, source in sources.items()}
    shared = {name for _, tree in read.values() if tree is not None for name in _at_the_top(tree)}
    return {name: list(_of_cell(*both, shared)) for name, both in read.items()}


def python(source: str) -> tuple[str, ast.Module | None]:
    """A cell as Python, and its tree, as IPython would read it: without magics, common indentation
    and prompts; the tree is `None` if it is still not Python. Lines keep their numbers, and end in
    the line break that `tokenize` and `ast` both count.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    for change in (
        str,
        _without_magics,
        _without_margin,
        lambda s: _without_magics(_without_margin(s)),
    ):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            changed = change(source)
            tree: ast.Module = notebook.parse(changed)
            return changed, tree
    return source, None


def _without_magics(source: str) -> str:
    return notebook.MAGIC.sub(r"\1pass", source)


def _without_margin(source: str) -> str:
    from IPython.core import inputtransformer2

    lines = source.splitlines(keepends=True)
    for strip in (
        inputtransformer2.leading_indent, inputtransformer2.classic_prompt,
        inputtransformer2.ipython_prompt,
    ):  # fmt: skip
        lines = strip(lines)
    return "".join(lines)


def _of_cell(source: str, tree: ast.Module | None, shared: set[str]) -> Iterator[Token]:
    if tree is not None:
        with contextlib.suppress(SyntaxError, tokenize.TokenError):
            raw = list(tokenize.generate_tokens(io.StringIO(source).readline))
            own = _own(tree)
            own.names |= shared - set(own.imported)
            return _words(list(_joined(raw)), own)
    return _roughly(source)


def _statements(raw: Iterable[tokenize.TokenInfo]) -> Iterator[list[tokenize.TokenInfo]]:
    """The tokens of each statement, without layout and semicolons; what follows a colon on its line
    is part of the same statement.
    """
    statement: list[tokenize.TokenInfo] = []
    for token in raw:
        if token.type == tokenize.NEWLINE or (token.type, token.string) == (tokenize.OP, ";"):
            yield statement
            statement = []
        elif token.type not in _LAYOUT:
            statement.append(token)
    yield statement


def _has_effect(statement: Iterable[tokenize.TokenInfo]) -> bool:
    """Is it more than literals, such as docstrings, or `pass`?"""
    return any(
        token.type not in _LITERAL and not (token.type == tokenize.NAME and token.string in _IDLE)
        for token in statement
    )


def _joined(raw: Iterable[tokenize.TokenInfo]) -> Iterator[tuple[str, str, int]]:
    """(kind, text, line) of what has an effect; a string in several parts counts as one."""
    for statement in filter(_has_effect, _statements(raw)):
        inside, last = 0, ""
        for token in statement:
            inside += (token.type == _F_BEGINS) - (token.type == _F_ENDS)
            if inside:
                continue
            kind = _kind(token)
            if not (kind == "s" and last == "s"):
                yield kind, token.string, token.start[0]
            last = kind


def _kind(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME:
        return "name"
    if token.type in (tokenize.STRING, _F_ENDS):
        return "s"
    return "0" if token.type == tokenize.NUMBER else "op"


def _own(tree: ast.AST) -> _Own:
    own = _Own()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            own.imported |= {a.asname or a.name.split(".")[0]: a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            own.imported |= {a.asname or a.name: a.name for a in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            own.names.add(node.id)
        elif isinstance(node, ast.arg):
            own.names.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            own.names.add(node.name)
            own.attributes |= _methods(node)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            own.attributes.add(node.attr)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            own.names.add(node.name)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            own.names |= set(node.names)
    return own


def _methods(node: ast.AST) -> set[str]:
    if not isinstance(node, ast.ClassDef):
        return set()
    return {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)}


def _at_the_top(tree: ast.Module) -> Iterator[str]:
    """The names that other cells can use from this one, without imports."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (
                t.id for target in targets for t in ast.walk(target) if isinstance(t, ast.Name)
            )


def _words(found: Sequence[tuple[str, str, int]], own: _Own) -> Iterator[Token]:
    """The words, with `v` for each name of the author's own, `0` and `s` for literals."""
    before, foreign = "", False
    open_: list[str] = []
    for number, (kind, text, line) in enumerate(found):
        word, after = text, found[number + 1][1] if number + 1 < len(found) else ""
        if kind in ("s", "0"):
            word = kind
        elif kind == "name" and before == ".":
            # a library's attribute stays, whatever the author's own are called
            word = text if foreign or text not in own.attributes else "v"
        elif kind == "name" and not keyword.iskeyword(text):
            foreign = text not in own.names
            argument = after == "=" and open_[-1:] == ["("]
            word = own.imported.get(text, text).rpartition(".")[2] if foreign else "v"
            word = "v" if argument else word
        elif text in _OPENING:
            open_.append(text)
        elif text in _CLOSING:
            foreign = False
            open_[-1:] = []
        yield Token(word, line)
        before = text


def _roughly(source: str) -> Iterator[Token]:
    """The words of what cannot be parsed: only their place tells which names are the author's."""
    for number, text in enumerate(source.split("\n"), 1):
        before = ""
        for match in _ROUGH.finditer(text.partition("#")[0]):
            word = match[0]
            if word[0] in "\"'":
                word = "s"
            elif word[0].isdigit():
                word = "0"
            elif _NAME.fullmatch(word) and word not in _KEPT and before != ".":
                word = "v"
            yield Token(word, number)
            before = match[0]
