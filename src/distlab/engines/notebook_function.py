"""A function of a notebook that `distlab run` and `distlab submit` call as `NAME(rank, size)`.

Why a function cannot be called is said in one sentence before any rank is started. Cells that it
can do without may fail, as in `distlab check`.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from distlab import notebook
from distlab.processes import origin

Function = ast.FunctionDef | ast.AsyncFunctionDef


def need(path: Path, name: str, own: Sequence[str] = ()) -> None:
    """Raises:
    ValueError: the notebook has no such function, `NAME(rank, size)` does not fit it, or there
        are arguments (`own`) that only a script could take.
    """
    if own:
        raise ValueError(
            f"{name} is called as {name}(rank, size) and takes no words of the command line: leave "
            f"out {' '.join(own)}"
        )
    functions: dict[str, Function] = {}
    names, unread = set[str](), {}
    for cell in notebook.loaded(path):
        try:
            tree = notebook.parse(notebook.plain(cell.source))
        except SyntaxError as error:
            unread[cell] = error
            continue
        bound = cell.defines()
        names |= bound
        functions = {known: node for known, node in functions.items() if known not in bound}
        functions |= {node.name: node for node in tree.body if isinstance(node, Function)}
    for cell, why in unread.items():
        if name not in names and re.search(
            rf"^\s*(async\s+)?def\s+{re.escape(name)}\b", cell.source, re.M
        ):
            raise ValueError(
                f"Python cannot read the cell of {path.name} that defines {name} ({_told(why)}): "
                "look at that line and the one above it"
            )
    if name not in names and "*" not in names:
        raise ValueError(f"{path.name} defines no {name}{_meant(name, functions)}")
    if name in functions and not _fits(functions[name]):
        raise ValueError(
            f"{name} takes ({ast.unparse(functions[name].args)}) and --function calls "
            f"{name}(rank, size): name a function that takes these two, which may call {name}"
        )


def _fits(function: Function) -> bool:
    """Can it be called with two arguments? A decorator may change what it takes."""
    taken = function.args
    given = [*taken.posonlyargs, *taken.args]
    least = len(given) - len(taken.defaults)
    lacking = any(default is None for default in taken.kw_defaults)
    two = least <= 2 and (len(given) >= 2 or taken.vararg is not None) and not lacking
    return two or bool(function.decorator_list)


def _meant(name: str, functions: dict[str, Function]) -> str:
    if like := difflib.get_close_matches(name, functions, 1):
        return f": did you mean {like[0]}?"
    if fitting := [known for known, node in functions.items() if _fits(node)]:
        return f": its functions of (rank, size) are {', '.join(fitting)}"
    return ": it has no function of (rank, size)"


def call(path: Path, name: str, rank: int, size: int) -> None:
    """Call the function in a process group, and print what it returns.

    Raises:
        SystemExit: running the notebook's cells did not define it; rank 0 has printed why.
    """
    import torch.distributed as dist

    from distlab.rank import world

    failed: dict[str, Exception] = {}
    found = getattr(notebook.load(path, failed=failed), name, None)
    if rank == 0:
        for cell, error in failed.items():
            said = f"distlab: the cell {cell!r} of {path.name} could not be run ({_told(error)})"
            print(f"{said}: what it defines may be missing", file=sys.stderr)
        if found is None and not failed:
            print(f"distlab: {path.name} defines no {name} when its cells run", file=sys.stderr)
    if found is None:
        raise SystemExit(1)
    dist.init_process_group(world.backend_for(size))
    try:
        print(f"{name}({rank}, {size}) = {found(rank, size)}")
        dist.barrier()
    finally:
        dist.destroy_process_group()


def _told(error: Exception) -> str:
    """An error in a few words on one line."""
    said = " ".join(str(error).split())[:200]
    if isinstance(error, SyntaxError):
        said = f"{error.msg}, line {error.lineno}"
    return f"{type(error).__name__}: {said}"


def print_error(error: BaseException) -> None:
    """Print a traceback without the frames that are the course's own, or those of `runpy`."""
    told: traceback.TracebackException | None = traceback.TracebackException.from_exception(error)
    whole = told
    while told is not None:
        own = (origin.ROOT, "<frozen runpy>")
        told.stack[:] = [frame for frame in told.stack if not frame.filename.startswith(own)]
        told = told.__cause__ or told.__context__
    assert whole is not None
    print("".join(whole.format()), end="", file=sys.stderr)
