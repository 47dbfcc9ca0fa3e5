"""IPython's magics where there is no IPython: a notebook is judged, or loaded by a script.

Those that define something, or on which something can depend that is defined later, do what they do
in IPython:

| magic | what it does |
| --- | --- |
| `%env`, `%set_env`, `%cd`, `%pwd` | the environment and the folder of the process |
| `%run` | the names of a script, a module or a notebook |
| `%pylab` | the names of NumPy and Matplotlib |
| `%time`, `%prun`, `%%time`, `%%prun`, `%%capture` | what stands behind or below them is run |
| `%%writefile`, `%%file` | the file, and its folder where that is to be in the process's |
| `!mkdir`, `!touch`, `!cp`, `!echo`, `!printf`, `!cat`, `!ls`, `!pwd` | the command is run |

All others do nothing: they show something, take long, or are about the page. So do other commands,
which would install, download or start what has nothing to do with an answer. And whatever else of
the shell a cell asks for is there, and does nothing.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from distlab import notebook

#: commands that are run: they end at once, and lose nobody a file
_COMMANDS = ("mkdir", "touch", "cp", "echo", "printf", "cat", "ls", "pwd")
_COMMAND_LIMIT = 60.0  # seconds, of which a busy machine may take some for what takes none
_PARTS = re.compile(r"&&|\|\||[;|&\n]")  # between the commands of a line
#: the options of `%time` and `%prun`, which precede the statement: with a value, and without one
_OPTIONS = re.compile(r"\s*(-[lsTD]\s*\S+|-[rqzc]+|--no-raise-error)(?=\s|$)")
_RUN_OPTIONS = re.compile(r"-[nietpdGsTDlN]")


class _Nothing:
    """What a cell sets up the page with: can be called, looked into and set, to no effect."""

    def __call__(self, *values: object, **named: object) -> None:
        return None

    def __getattr__(self, name: str) -> _Nothing:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing()

    def __getitem__(self, name: object) -> _Nothing:
        return _Nothing()

    def __setitem__(self, name: object, value: object) -> None:
        return None

    def __contains__(self, name: object) -> bool:
        return False

    def __iter__(self) -> Iterator[object]:
        return iter(())

    def __bool__(self) -> bool:
        return False


class Shell:
    """Takes the place of IPython's shell for the cells that run in a namespace."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.user_ns = namespace
        self._last_folder = ""

    def __getattr__(self, name: str) -> _Nothing:
        if name.startswith("_"):
            raise AttributeError(name)
        return _Nothing()

    def magic(self, line: str) -> Any:
        """The way that was before `run_line_magic`."""
        name, _, rest = line.lstrip("%").partition(" ")
        return self.run_line_magic(name, rest)

    def run_line_magic(self, name: str, line: str, *rest: object) -> Any:
        if name in ("time", "prun"):
            return self._timed(line)
        if name in _LINE:
            return _LINE[name](self, filled(line, self.user_ns))
        return None

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        if name in ("time", "prun"):
            notebook.execute(notebook.plain(cell), "<cell>", self.user_ns)
        elif name == "capture":
            self._capture(filled(line, self.user_ns), cell)
        elif name in ("writefile", "file"):  # for a later cell to import
            *options, file = shlex.split(filled(line, self.user_ns))
            how = "a" if {"-a", "--append"} & set(options) else "w"
            path = Path(file).expanduser()
            if not path.is_absolute() and ".." not in path.parts:
                path.parent.mkdir(parents=True, exist_ok=True)  # of a package that was handed in
            with path.open(how, encoding="utf-8") as written:
                written.write(cell)

    def show_usage(self) -> None:
        return None

    def system(self, command: str) -> None:
        self.getoutput(command)

    def getoutput(self, command: str, split: bool = True, depth: int = 0) -> list[str] | str:
        """The lines that a command prints, or all in one; none where it is not run."""
        from IPython.utils.text import SList

        command = filled(command, self.user_ns)
        printed = ""
        words = [part.split() for part in _PARTS.split(command)]
        plain = "`" not in command and "$(" not in command
        if plain and all(word and word[0] in _COMMANDS for word in words):
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                printed = subprocess.run(
                    ["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL, timeout=_COMMAND_LIMIT, text=True, errors="replace",
                ).stdout  # fmt: skip
        lines: list[str] = SList(printed.splitlines())
        return lines if split else printed

    def _timed(self, line: str) -> Any:
        tree = _statement(line)
        if tree is None:
            return None
        if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
            code = compile(ast.Expression(tree.body[0].value), "<cell>", "eval")
            return eval(code, self.user_ns)  # `x = %time f()`
        notebook.execute(tree, "<cell>", self.user_ns)

    def _capture(self, line: str, cell: str) -> None:
        from IPython.utils.capture import capture_output

        words = line.split()
        kept = [f"--no-{what}" not in words for what in ("stdout", "stderr", "display")]
        with capture_output(*kept) as captured:
            for name in (word for word in words if word.isidentifier()):
                self.user_ns[name] = captured
            notebook.execute(notebook.plain(cell), "<cell>", self.user_ns)

    def _env(self, line: str) -> Any:
        name, _, value = line.strip().partition("=" if "=" in line else " ")
        if not name:
            return dict(os.environ)
        if not value and "=" not in line:
            return os.environ.get(name)
        os.environ[name.strip()] = value.strip()

    def _cd(self, line: str) -> None:
        folder = line.strip().removeprefix("-q").strip().strip("'\"") or "~"
        folder = self._last_folder if folder == "-" else os.path.expanduser(folder)
        with contextlib.suppress(OSError):
            before = os.getcwd()
            os.chdir(folder)
            self._last_folder = before

    def _run(self, line: str) -> None:
        words = shlex.split(line)
        options = []
        while words and _RUN_OPTIONS.match(words[0]):
            options.append(words.pop(0))
        if not words:
            return
        before, sys.argv = sys.argv, words[words[0] == "-m" :]
        try:
            if words[0] == "-m":
                self._take(runpy.run_module(words[1], run_name="__main__"))
            else:
                self._run_file(words[0], options)
        except SystemExit:
            pass
        except Exception as error:  # IPython shows it, and goes on
            raised.append(error)
        finally:
            sys.argv = before

    def _run_file(self, name: str, options: list[str]) -> None:
        path = _found(os.path.expanduser(name))
        if _is_same(path, [*_under_way, *_mains(), self.user_ns.get("__file__")]):
            return
        _under_way.append(path)
        try:
            self._run_found(path, options)
        finally:
            _under_way.remove(path)

    def _run_found(self, path: Path, options: list[str]) -> None:
        if path.suffix == ".ipynb":
            for cell in notebook.cells(json.loads(path.read_bytes())):
                notebook.run_cell(cell, self.user_ns)
            return
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        if "-i" in options:
            exec(code, self.user_ns)
            return
        names = vars(types.ModuleType(path.stem if "-n" in options else "__main__"))
        names["__file__"] = str(path)
        try:
            exec(code, names)
        finally:
            self._take(names)

    def _take(self, names: Mapping[str, Any]) -> None:
        self.user_ns.update((n, v) for n, v in names.items() if not n.startswith("__"))

    def _pylab(self, line: str) -> None:
        with contextlib.suppress(ImportError):
            from IPython.core.pylabtools import import_pylab

            import_pylab(self.user_ns, "--no-import-all" not in line)


_LINE: dict[str, Callable[[Shell, str], Any]] = {
    "env": Shell._env,
    "set_env": Shell._env,
    "cd": Shell._cd,
    "pwd": lambda shell, line: os.getcwd(),
    "run": Shell._run,
    "pylab": Shell._pylab,
}


#: what scripts that `%run` ran have raised: it may be why a name is not there
raised: list[Exception] = []
#: what `%run` is running. Scripts of the labs load the notebook, whose cell may run the script: it
#: is not run again within itself
_under_way: list[Path] = []


def _mains() -> list[Any]:
    """The files of the program that this process runs, which Python itself runs or has run."""
    mains = map(sys.modules.get, ("__main__", "__mp_main__"))
    return [getattr(main, "__file__", None) for main in mains]


def _is_same(path: Path, others: Iterable[Any]) -> bool:
    """Is it one of these files?"""
    for other in others:
        with contextlib.suppress(OSError, TypeError):
            if os.path.samefile(path, other):
                return True
    return False


def _found(name: str) -> Path:
    """A script: in the folder of the process, or where modules beside the notebook are found."""
    for folder in ("", *sys.path):
        for file in (name, f"{name}.py"):
            if (path := Path(folder, file)).is_file():
                return path
    raise FileNotFoundError(name)


def _statement(line: str) -> ast.Module | None:
    """The statement that a magic times; `None` where there is none that is Python."""
    while option := _OPTIONS.match(line):
        line = line[option.end() :]
    with contextlib.suppress(SyntaxError):
        tree: ast.Module = notebook.parse(notebook.plain(line.strip()))
        return tree
    return None


def filled(line: str, names: Mapping[str, Any]) -> str:
    """A magic's line with `{names}` and `$names` replaced by their values, if all have one."""
    from IPython.utils.text import DollarFormatter

    try:
        return DollarFormatter().vformat(line, (), names)
    except Exception:  # braces that are none of these
        return line
