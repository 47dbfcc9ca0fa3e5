"""What pickle cannot send, in another process: caches, locks, executors, types that have a name."""

import pickle
import subprocess
import sys
import types

import pytest

from distlab.engines import by_value

#: cells, as a notebook has them; what `function()` returns is the same here and there
CELLS = {
    "a function with a cache": """
import functools
@functools.lru_cache(maxsize=3, typed=True)
def twice(x): return 2 * x
twice.note = "mine"
def function(again=twice):
    twice.cache_clear()
    return twice(2), again is twice, twice.note, twice.__name__, twice.cache_parameters()
""",
    "functions with caches that call each other": """
import functools
@functools.cache
def even(n): return n == 0 or odd(n - 1)
@functools.cache
def odd(n): return n > 0 and even(n - 1)
def function(): return even(10), odd(7), even.__wrapped__.__globals__["odd"] is odd
""",
    "the function itself has a cache": """
import functools
@functools.cache
def function(n=9): return n if n < 2 else function(n - 1) + function(n - 2)
""",
    "a cache that another function's name was given": """
import functools
def hundredfold(function):
    @functools.wraps(function)
    @functools.lru_cache
    def inner(x): return 100 * function(x)
    return inner
@hundredfold
def same(x): return x
def function(): return same(2)
""",
    "methods with caches": """
import functools
class Chain:
    def __init__(self, size): self.size = size
    @functools.lru_cache
    def after(self, rank): return (rank + 1) % self.size
    @functools.cached_property
    def last(self): return self.size - 1
    @classmethod
    @functools.cache
    def of(cls, size): return cls(size)
    second = functools.partialmethod(after, 1)
last, after = Chain(7), Chain(3).after
def function(): return Chain.of(4).after(3), last.last, after(1), last.second()
""",
    "a partial of a cache, a cache of a partial": """
import functools
@functools.cache
def add(a, b): return a + b
three, four = functools.partial(add, 3), functools.cache(functools.partial(add, 4))
def function(): return three(1), four(1), [three.func is add]
""",
    "a function that is chosen by type": """
from collections.abc import Sequence
from functools import singledispatch, singledispatchmethod
@singledispatch
def kind(x): return "any"
@kind.register
def _(x: int): return "int", kind("s")
@kind.register(Sequence)
def _(x): return "sequence"
class Other:
    @singledispatchmethod
    def kind(self, x): return "any"
    @kind.register
    def _(self, x: int): return "int"
def function():
    kind.register(dict, lambda x: "dict")
    return kind(1), kind([]), kind(2.0), kind({}), dict in kind.registry, Other().kind(1)
""",
    "an order": """
import functools
down = functools.cmp_to_key(lambda a, b: b - a)
def function(): return sorted([1, 3, 2], key=down)
""",
    "one lock under several names": """
import threading
lock = same = threading.Lock()
held = {"lock": [lock]}
condition = threading.Condition(lock)
class Counter:
    lock = threading.RLock()
def function(mine=lock):
    with condition:
        held_by_condition = same.locked()
        condition.notify_all()
    with Counter.lock, lock:
        return held_by_condition, same.locked(), held["lock"][0] is lock is mine
""",
    "a lock that is held here": """
import threading
lock = threading.Lock()
lock.acquire()
def function():
    if lock.locked(): lock.release()  # here
    return lock.acquire(timeout=5)
""",
    "events, semaphores and queues with what they hold": """
import queue, threading
clear, happened = threading.Event(), threading.Event()
happened.set()
two, line, new = threading.Semaphore(2), queue.Queue(), queue.SimpleQueue()
line.put("first")
def function():
    line.put(line.get())
    new.put(3)
    return clear.is_set(), happened.is_set(), two._value, line.qsize(), new.get()
""",
    "what each thread has its own of": """
import threading
here = threading.local()
here.x = 3
def function():
    here.y = 4
    return here.x, here.y
""",
    "executors": """
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
workers, over, pool = ThreadPoolExecutor(2), ThreadPoolExecutor(1), ThreadPool(2)
workers.submit(abs, 1).result()
over.shutdown()
def function():
    try: over.submit(abs, 1)
    except RuntimeError as error: refused = str(error)
    return workers.submit(abs, -3).result(), workers._max_workers, pool.map(abs, [-1]), refused
""",
    "context variables": """
from contextvars import ContextVar
one, none, given = ContextVar("one", default=1), ContextVar("none"), ContextVar("given")
given.set(5)
same = one
def function(): return one.get(), none.get("nothing"), given.get(), one.name, same is one
""",
    "contexts of a generator": """
import asyncio
from contextlib import asynccontextmanager, contextmanager
seen = []
@contextmanager
def noted(what):
    seen.append(what)
    yield what
@asynccontextmanager
async def waited(): yield 4
once = noted(3)
@noted(1)
def step(): return 2
@waited()
async def later(): return 5
def function():
    with once as three: return step(), step(), three, asyncio.run(later()), seen
""",
    "variables that functions have in common": """
def counted(function):
    calls = 0
    def call(*args):
        nonlocal calls
        calls += 1
        return call if args == ("itself",) else function(*args)
    call.count = lambda: calls
    return call
@counted
def step(x): return x
other = counted(abs)
step(1)
def function(): return step(2), step.count(), step("itself") is step, other.count(), other(-1)
""",
    "standard streams": """
import sys
out, say, kept = sys.stdout, sys.stdout.write, [sys.stderr]
def function():
    say("")
    return out is sys.stdout, kept[0] is sys.stderr
""",
    "what swallows everything": """
import os
nowhere = open(os.devnull, "w")
def function(): return print(1, file=nowhere)
""",
    "a handler of logging": """
import logging, sys
handler = logging.StreamHandler(sys.stderr)
def function(): return handler.stream is sys.stderr, handler.lock.acquire(timeout=5)
""",
    "types that have a name": """
from typing import Callable, Generic, NewType, ParamSpec, TypeVar
P, R, Rank = ParamSpec("P"), TypeVar("R"), NewType("Rank", int)
def same(function: Callable[P, R]) -> Callable[P, R]: return function
@same
def after(rank: Rank) -> Rank: return Rank(rank + 1)
class Call(Generic[P, R]):
    def __init__(self, function): self.function = function
def function(): return after(1), Call(after).function(2), Rank.__name__, P.__name__
""",
    "exceptions that begin in their own way": """
class Lost(Exception):
    def __init__(self, rank, *, size):
        super().__init__(f"rank {rank} of {size}")
        self.rank = rank
lost = Lost(1, size=4)
def function(): return str(lost), lost.rank
""",
    "a thread that is to begin": """
import threading
seen = []
thread = threading.Thread(target=seen.append, args=(1,))
def function():
    if thread.ident is None: thread.start()
    thread.join()
    return seen
""",
    "weak dictionaries": """
import weakref
class Key: pass
key = Key()
values, keys = weakref.WeakValueDictionary(a=key), weakref.WeakKeyDictionary({key: 1})
def function(): return values["a"] is key, keys[key]
""",
    "what NumPy's floats can hold": """
import numpy as np
LIMITS = np.finfo(np.float32), np.iinfo(np.int8)
def function(): return [(one.dtype, one.min, one.max) for one in LIMITS]
""",
    "a form of bytes, and chance that nobody can repeat": """
import random, struct
form, chance = struct.Struct("<i"), random.SystemRandom()
def function(): return form.pack(3), chance.random() < 1
""",
}
READER = """
import pickle, sys
for name, sent in pickle.load(sys.stdin.buffer).items():
    try: told = repr(pickle.loads(sent)())
    except Exception as error: told = f"{type(error).__name__}: {error}"
    print(f"{name}: {told}")
"""


def function_of(cells):
    namespace = vars(types.ModuleType("__main__"))
    exec(cells, namespace)
    return namespace["function"]


@pytest.fixture(scope="module")
def told():
    """What the functions return in another interpreter, and here."""
    functions = {name: function_of(cells) for name, cells in CELLS.items()}
    sent = {name: by_value.dumps(function) for name, function in functions.items()}
    there = subprocess.run(
        [sys.executable, "-c", READER], input=pickle.dumps(sent), capture_output=True, check=True,
        timeout=120,
    )  # fmt: skip
    here = {name: repr(function()) for name, function in functions.items()}
    return dict(line.split(": ", 1) for line in there.stdout.decode().splitlines()), here


@pytest.mark.parametrize("what", CELLS)
def test_it_does_there_what_it_does_here(what, told):
    there, here = told
    assert there[what] == here[what]


def test_a_thread_that_is_to_begin_leaves_behind_what_is_this_process_s(monkeypatch):
    class Unsent:
        def __call__(self, *told): ...
        def __reduce__(self):
            raise TypeError

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(sys, "excepthook", Unsent())  # which each thread keeps
        function = function_of(CELLS["a thread that is to begin"])
    assert pickle.loads(by_value.dumps(function))() == [1]


def test_a_cache_arrives_empty():
    function = function_of("""
import functools
calls = []
@functools.cache
def noted(x): return calls.append(x)
noted(1)
def function():
    noted(1)
    return noted.cache_info().misses
""")
    assert pickle.loads(by_value.dumps(function))() == 1


def test_a_cache_of_an_installed_module_is_that_of_the_module():
    import fnmatch

    assert pickle.loads(by_value.dumps(fnmatch._compile_pattern)) is fnmatch._compile_pattern


def test_what_torch_has_under_no_module_s_name_arrives_as_that():
    import torch

    held = [
        torch._C._functions, torch.ops, torch.ops.aten, torch.ops.aten.add,
        torch.ops.aten.add.Tensor, torch.classes,
    ]  # fmt: skip
    found = pickle.loads(by_value.dumps(held))
    assert all(one is other for one, other in zip(found, held, strict=True))


def test_a_gradient_that_is_taken_once_is_taken_in_a_new_interpreter():
    function = function_of("""
import torch
from torch.autograd.function import once_differentiable
class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.view_as(x)
    @staticmethod
    @once_differentiable
    def backward(ctx, grad): return 3 * grad
def function():
    x = torch.ones(2, requires_grad=True)
    Copy.apply(x).sum().backward()
    return x.grad.tolist()
""")
    there = subprocess.run(
        [sys.executable, "-c", READER], input=pickle.dumps({"grad": by_value.dumps(function)}),
        capture_output=True, check=True, timeout=120,
    )  # fmt: skip
    assert there.stdout.decode().strip() == "grad: [3.0, 3.0]"
