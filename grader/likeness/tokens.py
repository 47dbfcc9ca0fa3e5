"""A cell's source as the words that stay when it is disguised: no names of the author's own, no
literals, no comments, no layout.

Names of libraries stay (`dist.send`, `torch.empty_like`): they say what a line does, and nobody
can rename them.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import itertools
import keyword
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from distlab import notebook

MOST_CHARACTERS = 30_000  # of a cell; the longest collected answer has 5,000
MOST_TOKENS = 8_000  # of a cell
_MAGIC = re.compile(r"^([ \t]*)[%!?].*$", re.M)
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
    """The words of each of a submission's cells, at most so many; of what is no Python they are
    found roughly.

    Args:
        sources: by the cells' names; what one binds at its top is the author's own in all.
    """
    trees = {name: _tree(source[:MOST_CHARACTERS]) for name, source in sources.items()}
    shared = {name for tree in trees.values() if tree is not None for name in _at_the_top(tree)}
    return {
        name: list(_of_cell(source[:MOST_CHARACTERS], trees[name], shared))
        for name, source in sources.items()
    }


def _plain(source: str) -> str:
    """Python without IPython's magic, its lines ended as `tokenize` and `ast` both count them."""
    return _MAGIC.sub(r"\1pass", source.replace("\r\n", "\n").replace("\r", "\n"))


def _tree(source: str) -> ast.Module | None:
    try:
        tree: ast.Module = notebook.parse(_plain(source))
        return tree
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last: nested too deep
        return None


def _of_cell(source: str, tree: ast.Module | None, shared: set[str]) -> Iterator[Token]:
    if tree is not None:
        with contextlib.suppress(SyntaxError, tokenize.TokenError):
            raw = list(_read(_plain(source)))
            own = _own(tree)
            own.names |= shared - set(own.imported)
            found = list(_joined(raw, _without_effect(tree)))
            return itertools.islice(_words(found, own), MOST_TOKENS)
    return itertools.islice(_roughly(source), MOST_TOKENS)


def _read(source: str) -> Iterator[tokenize.TokenInfo]:
    for number, token in enumerate(tokenize.generate_tokens(io.StringIO(source).readline)):
        if number > 2 * MOST_TOKENS:
            return
        yield token


def _without_effect(tree: ast.AST) -> set[int]:
    """The lines of docstrings and other lone constants."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _joined(raw: Iterable[tokenize.TokenInfo], skipped: set[int]) -> Iterator[tuple[str, str, int]]:
    """(kind, text, line) without layout and docstrings, a string of several parts as one."""
    inside, last = 0, ""
    for token in raw:
        inside += (token.type == _F_BEGINS) - (token.type == _F_ENDS)
        if token.type in _LAYOUT or inside or (token.start[0] in skipped and _is_text(token)):
            continue
        kind = _kind(token)
        if not (kind == "s" and last == "s"):
            yield kind, token.string, token.start[0]
        last = kind


def _is_text(token: tokenize.TokenInfo) -> bool:
    return token.type in (tokenize.STRING, tokenize.NUMBER)


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
    """What other cells can use of this one, imports left out."""
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
            # of a library it stays, whatever the author's own are called
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
    """The words of what cannot be parsed: names are known only by their place."""
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
