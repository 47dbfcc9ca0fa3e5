"""Whatever a cell does, it does the same in a kernel that was forked as in any other."""

import json
import re

import pytest
from kernels import Kernel, nursery_at

MODULE = """
def cube(x):
    return x**3


def summed(rank, size, file):
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=size)
    mine = torch.tensor([rank + 1.0])
    dist.all_reduce(mine)
    assert mine.item() == 3.0
    dist.destroy_process_group()
"""
#: what a cell is, how it is answered, and a part of what it says: that it says anything
CELLS = {
    "input": ("print('for', input('who? '))", ["ada"], "for ada"),
    "an error": ("def half():\n    inner = 41\n    1 / 0\nhalf()", [], "ZeroDivisionError"),
    "debugger": ("%debug", ["p inner", "q"], "41"),
    "shell": ("!echo $((3 + 4))", [], "7"),
    "script": ("%%bash\nread line || echo nothing to read", [], "nothing to read"),
    "await": ("import asyncio\nawait asyncio.sleep(0)\nprint('awaited')", [], "awaited"),
    "picture": (
        "%matplotlib inline\nimport matplotlib.pyplot as plt\n_ = plt.plot([1, 2])",
        [], "image/png",
    ),
    "progress bar": (
        "from tqdm.notebook import tqdm\nfor _ in tqdm(range(3)): pass", [], "widget-view",
    ),
    "fork": (
        "import os\nif not (child := os.fork()): os._exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))", [], "7",
    ),
    "pool": (
        "import multiprocessing as mp\ndef square(x): return x * x\n"
        "with mp.Pool(2) as pool: print(pool.map(square, range(4)))", [], "[0, 1, 4, 9]",
    ),
    "pools that fork nothing here": (
        "import beside\nfor how in ('spawn', 'forkserver'):\n"
        "    with mp.get_context(how).Pool(2) as pool: print(pool.map(beside.cube, range(4)))",
        [], "[0, 1, 8, 27]",
    ),
    "mp.spawn": (
        "import torch\n"
        "torch.multiprocessing.spawn(beside.summed, (2, os.path.abspath('store')), 2)\n"
        "print('summed')", [], "summed",
    ),
    "loaders": (
        "from torch.utils.data import DataLoader\n"
        "_ = torch.randn(512, 512) @ torch.randn(512, 512)\n"
        "for how in ('fork', 'spawn', 'forkserver'):\n"
        "    loader = DataLoader(range(8), num_workers=2, multiprocessing_context=how)\n"
        "    print(how, sum(batch.item() for batch in loader))", [], "forkserver 28",
    ),
    "training": (
        "layer = torch.nn.Linear(64, 64)\nlayer(torch.ones(8, 64)).sum().backward()\n"
        "print(layer.weight.grad.sum().item())", [], "32768.0",
    ),
    "a process group": (
        "import torch.distributed as dist\n"
        "dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)\n"
        "ones = torch.ones(2)\ndist.all_reduce(ones)\nprint(ones)\ndist.destroy_process_group()",
        [], "tensor([1., 1.])",
    ),
    "engines": (
        "import ipyparallel\nwith ipyparallel.Cluster(n=2, log_level=40) as cluster:\n"
        "    print(cluster[:].apply_sync(lambda: 6 * 7))", [], "[42, 42]",
    ),
    "what every process has": (
        "import gc, locale, resource, signal, sys, threading, time\n"
        "print([resource.getrlimit(one) for one in range(10)])\n"
        "print([signal.getsignal(one) for one in (2, 13, 15)], signal.pthread_sigmask(0, []))\n"
        "print(sys.argv[0], sys.flags, sys.executable, sys.path, __name__, sys.stdin)\n"
        "print(oct(os.umask(0o22)), gc.get_threshold(), gc.isenabled(), locale.getlocale())\n"
        "print(time.tzname, mp.current_process().name, mp.get_start_method(), os.nice(0))\n"
        "print(os.sched_getaffinity(0), torch.get_num_threads(), torch.get_num_interop_threads())\n"
        "print(sorted(one for one in os.environ if not one.startswith('DISTLAB_')))\n"
        "print(sorted(one.name for one in threading.enumerate()))",
        [], "MainThread",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("notebook")
    (made / "beside.py").write_text(MODULE)
    return made


def all_told(folder, **environment):
    """What each cell says in a kernel with such an environment, one after the other."""
    (folder / "store").unlink(missing_ok=True)
    with Kernel(folder, **environment) as kernel:
        return {
            name: same(kernel.told(code, *answers)) for name, (code, answers, _) in CELLS.items()
        }


@pytest.fixture(scope="module")
def usual(folder):
    """What each cell says in a kernel that is not forked, which others are compared with."""
    return all_told(folder, DISTLAB_PROCESSES="spawn")


def same(told):
    """Without what differs from one process to the next."""
    return re.sub(r"ipykernel_\d+|/\d+\.py|0x[0-9a-f]+|\x1b\[[\d;]*m", "", told)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["alone", "of a nursery"])
def test_every_cell_says_what_it_says_in_any_kernel(way, usual, folder, tmp_path):
    for name, (_, _, said) in CELLS.items():
        assert said in usual[name], json.dumps(usual)
    if way == "alone":
        assert all_told(folder) == usual
    else:
        with nursery_at(tmp_path / "asked"):
            assert all_told(folder, DISTLAB_TEMPLATE=str(tmp_path / "asked")) == usual
