"""Do right answers pass in whatever way they are written? The collected ones, written otherwise.

    python bench/habits.py 01-message-passing [EXERCISE …] [--each 2]

Each collected right answer is judged again, as somebody would write it who decorates functions,
prints, profiles, calls it in a thread or from a coroutine, makes it in a closure, and so on. That
does the same, so it has to pass. Which ways are tried of an answer is drawn, the same ones in each
run. It prints the share that passes, and each answer that does not with its message.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from distlab import course
from distlab.exercises.verdict import Verdict
from distlab.processes import frameworks
from distlab.processes.zygote import PRELOAD, Zygote
from grader import collected

#: cells that follow an answer: NAME is its function, PLAIN the same one under another name
_AROUND = {
    "decorated": """
        import functools
        def logged(function):
            @functools.wraps(function)
            def inner(*args, **kwargs):
                return function(*args, **kwargs)
            return inner
        NAME = logged(PLAIN)
    """,
    "an object that is called": """
        class Answer:
            def __call__(self, *args):
                return PLAIN(*args)
        NAME = Answer()
    """,
    "a static method": """
        class Holder:
            run = staticmethod(PLAIN)
        NAME = Holder.run
    """,
    "a partial": """
        import functools
        NAME = functools.partial(PLAIN)
    """,
    "in a thread": """
        from concurrent.futures import ThreadPoolExecutor
        def NAME(*args):
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(PLAIN, *args).result()
    """,
    "beside a thread": """
        import threading
        def NAME(*args):
            over = threading.Event()
            def beat():
                while not over.wait(0.01):
                    pass
            thread = threading.Thread(target=beat)
            thread.start()
            try:
                return PLAIN(*args)
            finally:
                over.set()
                thread.join()
    """,
    "from a coroutine": """
        import asyncio
        async def awaited(*args):
            await asyncio.sleep(0)
            return PLAIN(*args)
        def NAME(*args):
            return asyncio.run(awaited(*args))
    """,
    "from a generator": """
        def steps(*args):
            yield PLAIN(*args)
        def NAME(*args):
            return next(steps(*args))
    """,
    "in a context": """
        import contextvars
        def NAME(*args):
            return contextvars.copy_context().run(PLAIN, *args)
    """,
    "called by itself": """
        def NAME(*args, again=True):
            return NAME(*args, again=False) if again else PLAIN(*args)
    """,
    "between collections of garbage": """
        import gc
        def NAME(*args):
            gc.collect()
            try:
                return PLAIN(*args)
            finally:
                gc.collect()
    """,
    "printing": """
        def NAME(*args):
            print("called with", *args, flush=True)
            result = PLAIN(*args)
            print("gives", result, flush=True)
            return result
    """,
    "printing to nowhere": """
        import contextlib, io
        def NAME(*args):
            with contextlib.redirect_stdout(io.StringIO()):
                return PLAIN(*args)
    """,
    "logging": """
        import logging
        logging.basicConfig(level=logging.DEBUG)
        def NAME(*args):
            logging.getLogger("lab").debug("begins")
            result = PLAIN(*args)
            logging.getLogger("lab").debug("ends")
            return result
    """,
    "raising again": """
        def NAME(*args):
            try:
                return PLAIN(*args)
            except Exception as error:
                print("failed:", error)
                raise
    """,
    "timed": """
        import time
        def NAME(*args):
            begin = time.perf_counter()
            result = PLAIN(*args)
            print(f"{time.perf_counter() - begin:.3f} s")
            return result
    """,
    "profiled": """
        import cProfile
        def NAME(*args):
            return cProfile.Profile().runcall(PLAIN, *args)
    """,
    "named for PyTorch's profiler": """
        import torch
        def NAME(*args):
            with torch.autograd.profiler.record_function("mine"):
                return PLAIN(*args)
    """,
    "traced": """
        import sys
        def NAME(*args):
            before, calls = sys.gettrace(), []
            sys.settrace(lambda frame, event, arg: calls.append(event))
            try:
                return PLAIN(*args)
            finally:
                sys.settrace(before)
    """,
    "with autograd's anomalies looked for": """
        import torch
        def NAME(*args):
            with torch.autograd.set_detect_anomaly(True):
                return PLAIN(*args)
    """,
}
#: other ways to write the cell itself, which an answer with globals or long texts may not allow
_INSTEAD: dict[str, Callable[[str, str], str]] = {
    "by exec": lambda name, source: f"exec({source!r})",
    "under a condition": lambda name, source: f"if True:\n{_indented(source)}",
    "in a closure": lambda name, source: (
        f"def made():\n{_indented(source)}\n    return {name}\n{name} = made()"
    ),
    "with tabs": lambda name, source: source.replace("    ", "\t"),
}
_DEFINES = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef


def _indented(source: str) -> str:
    return textwrap.indent(source, "    ")


def ways(name: str, source: str) -> Iterator[tuple[str, str]]:
    """(how, source) of an answer that does the same."""
    is_function = name in _defined(source)  # else it is a value
    for how, around in _AROUND.items() if is_function else ():
        cell = textwrap.dedent(around).replace("NAME", name).replace("PLAIN", f"plain_{name}")
        if not _defined(cell) - {name} & set(re.findall(r"\w+", source)):
            yield how, f"{source}\n\nplain_{name} = {name}\n{cell}"
    if not any(word in source for word in ("global ", "__future__", '"""', "'''", "\\\n")):
        for how, instead in _INSTEAD.items():
            yield how, instead(name, source)


def _defined(source: str) -> set[str]:
    """The names of the functions and classes of a cell."""
    return {one.name for one in ast.parse(source).body if isinstance(one, _DEFINES)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lab")
    parser.add_argument("exercise", nargs="*")
    parser.add_argument("--each", type=int, default=1, help="ways for an answer (default: 1)")
    chosen = parser.parse_args()
    passed = total = 0
    with Zygote((*PRELOAD, *frameworks.preload(course.needs(chosen.lab)))) as zygote:

        def judged(name: str, source: str) -> Verdict:
            judge = collected.grader(chosen.lab, [name])
            content = collected.handed_in(chosen.lab, **{name: source})
            return judge.grade(judge.plan(content), zygote)[0]

        for answer in collected.answers(chosen.lab):
            if not answer.right or chosen.exercise and answer.exercise not in chosen.exercise:
                continue
            possible = list(ways(answer.exercise, answer.source))
            most = min(chosen.each, len(possible))
            drawn = random.Random(answer.path.name).sample(possible, most)
            for how, source in drawn:
                verdict = judged(answer.exercise, source)
                total += 1
                passed += verdict.status == "passed"
                if verdict.status != "passed":
                    where = f"{answer.exercise}/{answer.path.name}"
                    print(f"    {where}, {how}: {verdict.status}: {verdict.message}", flush=True)
    print(f"{chosen.lab}: {passed} of {total} right answers that were written otherwise pass")
    return int(passed < total)


if __name__ == "__main__":
    raise SystemExit(main())
