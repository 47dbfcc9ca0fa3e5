"""What cannot be sent is named as the code names it, in one sentence."""

import types
import warnings

import pytest
import torch

from distlab.engines import by_value

#: cells, and what is said of their `function`
CELLS = {
    'log = open(PATH, "w")\ndef function(): return log': (
        "log, which function uses, is an open file"
    ),
    'log = open(PATH, "w")\nlog.close()\ndef function(): return log': (
        "log, which function uses, is a file that is closed"
    ),
    'write = open(PATH, "w").write\ndef function(): return write': (
        "write, which function uses, is an open file"
    ),
    """
class Log:
    def __init__(self): self.file = open(PATH, "w")
logs = {"all": [Log()]}
def say(): return logs
def function(): say()
""": "logs['all'][0].file, which say uses, is an open file",
    """
class Log:
    file = open(PATH, "w")
def function(): return Log
""": "Log.file, which function uses, is an open file",
    """
import functools
log = open(PATH, "w")
@functools.cache
def opened(): return log
def function(): return opened()
""": "log, which opened uses, is an open file",
    'def function(to=open(PATH, "w")): return to': "to, which function uses, is an open file",
    """
def outer():
    log = open(PATH, "w")
    def function(): return log
    return function
function = outer()
""": "log, which function uses, is an open file",
    "import socket\ns = socket.socket()\ndef function(): return s": (
        "s, which function uses, is a socket"
    ),
    "numbers = (i for i in [1])\ndef function(): return numbers": (
        "numbers, which function uses, is a generator"
    ),
    "import threading\nt = threading.Thread()\nt.start()\ndef function(): return t": (
        "t, which function uses, is a thread that has been started"
    ),
    "from concurrent.futures import Future\nf = Future()\ndef function(): return f": (
        "f, which function uses, is a result that is still to come"
    ),
    "import multiprocessing\nlock = multiprocessing.Lock()\ndef function(): return lock": (
        "lock, which function uses, is a lock between processes"
    ),
    "import subprocess\np = subprocess.Popen(['true'])\np.wait()\ndef function(): return p": (
        "p, which function uses, is another process"
    ),
    "import ctypes\nlib = ctypes.CDLL(None)\ndef function(): return lib": (
        "lib, which function uses, is an object of the type CDLL"
    ),
    """
class Own:
    def __reduce__(self): raise ValueError
    def __getattr__(self, name): raise KeyError(name)
own = Own()
def function(): return own
""": "own, which function uses, is an object of the type Own",
}


@pytest.mark.parametrize("cells", CELLS)
def test_it_is_named(cells, tmp_path):
    namespace = vars(types.ModuleType("__main__"))
    namespace["PATH"] = str(tmp_path / "file")
    exec(cells, namespace)
    with pytest.raises(by_value.NotSent) as told:
        by_value.dumps(namespace["function"])
    said = str(told.value)
    assert said.startswith(f"{CELLS[cells]} and cannot be sent to another process: ")
    assert said.endswith(".") and "\n" not in said
    assert told.value.__cause__ is None and told.value.__context__ is None


def test_what_is_compiled_itself_goes_by_its_own_name():
    def route(logits):
        return logits + 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit is outdated
        compiled = torch.jit.script(route)
    with pytest.raises(by_value.NotSent, match="^route is a function that torch.jit has compiled"):
        by_value.dumps(compiled)
    with pytest.raises(by_value.NotSent, match="hand it over as it was before that[.]$"):
        by_value.dumps(compiled)


def test_an_argument_has_no_name():
    numbers = (i for i in [1])
    with pytest.raises(by_value.NotSent, match=r"^an argument is a generator and cannot be sent"):
        by_value.dumps(((0, 2, numbers), {}))


def test_what_cannot_be_sent_is_not_looked_for_for_ever(monkeypatch):
    from distlab.engines import unsent

    monkeypatch.setattr(unsent, "PATIENCE", 0.0)
    many = {"many": [object(), (i for i in [1])]}
    with pytest.raises(by_value.NotSent, match="an argument is an object of the type dict"):
        by_value.dumps(many)
