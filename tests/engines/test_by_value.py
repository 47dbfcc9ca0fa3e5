"""Functions travel by value, and what they use of modules by its name."""

import functools
import gc
import importlib.machinery
import itertools
import json
import logging
import os
import pickle
import random
import subprocess
import sys
import threading
import types
from random import random as draw
from random import seed as seed_python

import cloudpickle
import numpy as np
import pytest
import torch
from numpy.random import rand
from numpy.random import seed as seed_numpy

from distlab import notebook
from distlab.engines import by_value

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # this file stands for a notebook

HELD = {
    "a method of Python's generator": seed_python,
    "a builtin method of Python's generator": draw,
    "a function of NumPy's": seed_numpy,
    "a builtin method of NumPy's generator": rand,
    "Python's generator": random._inst,
    "NumPy's generator": np.random.mtrand._rand,
    "torch's generator": torch.default_generator,
    "a function of torch's under another name": torch.random.manual_seed,
    "the environment": os.environ,
    "a partial object": functools.partial(int, base=2),
    "a module of a class of its own": torch.backends.cudnn,
    "a logger": logging.getLogger("distlab.somewhere"),
    "a class": torch.nn.Linear,
    "a module under another name": np.random,
}


@pytest.mark.parametrize("what", HELD)
def test_what_a_module_holds_arrives_as_what_it_holds_there(what, monkeypatch):
    held = HELD[what]
    if isinstance(held, functools.partial):
        monkeypatch.setattr(functools, "of_a_module", held, raising=False)
        monkeypatch.setattr(by_value, "_seen", 0)

    def function():
        return held

    assert pickle.loads(by_value.dumps(held)) is held
    assert pickle.loads(by_value.dumps(function))() is held


def test_of_modules_only_those_are_looked_at_that_have_come_or_grown(monkeypatch):
    monkeypatch.setattr(by_value, "_seen", 0)  # other tests have entered something, too
    by_value.prepare()
    before, looked_at = dict(by_value._known), list[str]()

    def installed(module):
        looked_at.append(module.__name__)
        return True

    monkeypatch.setattr(by_value, "_installed", installed)
    late = types.ModuleType("a_late_module")
    late.__spec__ = importlib.machinery.ModuleSpec("a_late_module", None)
    late.thing, late.other = random.Random(), random.Random()
    # as if the numbers of these had been those of objects that are gone
    before[id(late.thing)] = ("random", "_inst")
    before[id(late.other)] = ("a_module_that_is_gone", "thing")
    monkeypatch.setattr(by_value, "_known", before)
    monkeypatch.setitem(sys.modules, "a_late_module", late)
    monkeypatch.setattr(random, "thing_of_its_own", random.Random(), raising=False)
    found = [late.thing, late.other, random.thing_of_its_own]
    arrived = pickle.loads(by_value.dumps(found))
    assert all(one is other for one, other in zip(arrived, found, strict=True))
    assert sorted(looked_at) == ["a_late_module", "random"]


def test_another_thread_may_import_meanwhile(monkeypatch):
    """What it imports is entered into the packages that are being looked at. It has its turn each
    time garbage is collected, which making a list does.
    """
    package = types.ModuleType("a_package")
    package.__spec__ = importlib.machinery.ModuleSpec("a_package", None)
    for number in range(20_000):
        setattr(package, f"one{number}", object())
    monkeypatch.setitem(sys.modules, "a_package", package)
    over, entered = threading.Event(), threading.Event()

    def enter():
        for number in itertools.count():
            setattr(package, f"new{number % 1000}", number)
            if number % 1000 == 999:
                for one in range(1000):
                    delattr(package, f"new{one}")
            entered.set()
            if over.is_set():
                return

    def have_a_turn(phase, _):
        if phase == "start" and threading.current_thread() is not other:
            entered.clear()
            assert entered.wait(60)

    other, interval, often = (
        threading.Thread(target=enter),
        sys.getswitchinterval(),
        gc.get_threshold(),
    )
    sys.setswitchinterval(1e-5)
    other.start()
    gc.callbacks.append(have_a_turn)
    gc.set_threshold(500)
    try:
        for number in range(10):
            monkeypatch.setitem(sys.modules, f"a_module{number}", types.ModuleType("a_module"))
            by_value.dumps(lambda: 3)
    finally:
        gc.set_threshold(*often)
        gc.callbacks.remove(have_a_turn)
        over.set()
        other.join()
        sys.setswitchinterval(interval)


def test_what_has_lost_one_of_its_names_is_found_under_another(monkeypatch):
    module = types.ModuleType("a_module_of_two_names")
    module.__spec__ = importlib.machinery.ModuleSpec("a_module_of_two_names", None)
    module.first = module.second = held = random.Random()
    monkeypatch.setitem(sys.modules, "a_module_of_two_names", module)
    monkeypatch.setattr(by_value, "_seen", 0)
    assert pickle.loads(by_value.dumps(held)) is held
    module.first = None
    assert pickle.loads(by_value.dumps(held)) is held
    module.second = None
    assert pickle.loads(by_value.dumps(held)) is not held


def test_what_a_module_holds_since_it_was_reloaded_arrives_as_its_own(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "reloaded_h.py").write_text("import random\nthing = random.Random()")
    module = importlib.import_module("reloaded_h")
    monkeypatch.setitem(sys.modules, "reloaded_h", module)
    first = module.thing
    assert pickle.loads(by_value.dumps(first)) is first
    second = importlib.reload(module).thing
    assert pickle.loads(by_value.dumps(second)) is second is not first
    assert pickle.loads(by_value.dumps(first)) is not first
    del sys.modules["reloaded_h"]
    third = importlib.import_module("reloaded_h").thing
    assert pickle.loads(by_value.dumps(third)) is third is not second


def test_a_list_of_an_installed_module_arrives_as_the_module_s_own():
    own = [1, 2]
    namespace = {"path": sys.path, "own": own, "__name__": "__main__"}
    exec("def function(): return path, own", namespace)
    found, mine = pickle.loads(by_value.dumps(namespace["function"]))()
    assert found is sys.path
    assert mine == own and mine is not own


def test_what_tensors_have_in_common_is_one_there_too_and_sent_once():
    whole = torch.zeros(1000)
    parts, bits, layer = whole.split(10), whole.view(torch.int32), torch.nn.Linear(2, 1)
    weights = layer.state_dict()["weight"]

    def function():
        whole.fill_(1)
        bits[0] = 0
        with torch.no_grad():
            layer.weight.fill_(2)
        return parts[0][:2].tolist(), parts[-1].sum().item(), weights.tolist()

    sent = by_value.dumps(function)
    assert len(sent) < 20_000
    assert pickle.loads(sent)() == ([0, 1], 10, [[2, 2]])
    assert whole.sum() == 0  # here it is as it was


@pytest.mark.parametrize("order", [1, -1], ids=["tensor first", "memory first"])
def test_the_memory_of_a_tensor_can_be_sent_and_is_the_tensors_there_too(order):
    tensor = torch.zeros(3)
    both = tensor, tensor.untyped_storage()
    tensor, memory = pickle.loads(by_value.dumps(both[::order]))[::order]
    memory.fill_(0xFF)
    assert type(memory) is torch.UntypedStorage and tensor.isnan().all()


def test_what_is_equal_to_something_of_a_module_stays_a_copy():
    generator = random.Random()
    generator.setstate(random.getstate())
    values, environment = list(sys.path), dict(os.environ)
    found = pickle.loads(by_value.dumps([generator, values, environment]))
    assert found[0] is not random._inst and found[0].getstate() == generator.getstate()
    assert found[1] == values and found[1] is not sys.path
    assert found[2] == environment and found[2] is not os.environ
    assert pickle.loads(by_value.dumps(generator.seed)).__self__ is not random._inst


def test_what_a_notebook_defines_goes_by_value_wherever_it_was_put(monkeypatch):
    def all_reduce(tensor):
        return "mine"

    class Mine:
        def method(self):
            return "mine"

    mine = Mine()
    monkeypatch.setattr(torch.distributed, "all_reduce", all_reduce)
    monkeypatch.setattr(torch, "of_the_notebook", mine, raising=False)
    monkeypatch.setattr(torch, "its_method", mine.method, raising=False)
    monkeypatch.setattr(by_value, "_seen", 0)
    sent = by_value.dumps([all_reduce, mine, mine.method])
    monkeypatch.undo()
    function, arrived, method = pickle.loads(sent)
    assert function(None) == arrived.method() == method() == "mine"


def test_what_a_loaded_notebook_holds_goes_by_value(monkeypatch):
    module = types.ModuleType("some_notebook")
    module.__file__ = "some_notebook.ipynb"
    module.generator = random.Random(5)
    monkeypatch.setitem(sys.modules, "some_notebook", module)
    monkeypatch.setattr(by_value, "_seen", 0)
    drawn = pickle.loads(by_value.dumps(module.generator)).random()
    assert drawn == random.Random(5).random()


class Doing:
    """Does something while it is pickled."""

    def __init__(self, act):
        self.act = act

    def __reduce__(self):
        self.act()
        return str, ()


def test_a_loaded_notebook_goes_by_value_while_another_thread_has_sent_of_it(tmp_path, monkeypatch):
    cell = {"cell_type": "code", "metadata": {}, "source": "def f(): return 5", "outputs": []}
    (tmp_path / "sent_twice.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}}))
    f = notebook.load(tmp_path / "sent_twice.ipynb").f
    begun, go_on = threading.Event(), threading.Event()

    def hold():
        begun.set()
        assert go_on.wait(60)

    other = threading.Thread(target=by_value.dumps, args=([Doing(hold), f],))
    other.start()
    assert begun.wait(60)
    # the other one has ended when this one comes to the function
    sent = by_value.dumps([Doing(lambda: (go_on.set(), other.join())), f])
    monkeypatch.delitem(sys.modules, "sent_twice")
    assert pickle.loads(sent)[1]() == 5


def test_seeding_by_a_name_from_a_module_seeds_a_new_interpreter():
    def seeded():
        seed_python(7)
        seed_numpy(7)
        return random.random(), float(np.random.random())

    sent = by_value.dumps(seeded)
    code = "import pickle, sys; print(*pickle.loads(sys.stdin.buffer.read())())"
    told = subprocess.run(
        [sys.executable, "-c", code], input=sent, capture_output=True, check=True, timeout=60
    )
    assert tuple(map(float, told.stdout.split())) == seeded()


def test_seeding_by_a_name_from_a_module_seeds_warm_ranks():
    from distlab import Ranks

    def seeded(rank, size):
        seed_python(7)
        seed_numpy(7)
        return random.random(), float(np.random.random())

    ranks = Ranks(2)
    for _ in range(2):  # the second time on engines that have run it before
        assert list(ranks.run(seeded)) == [seeded(0, 2)] * 2
