"""A kernel that is forked from a process with torch imported, as Jupyter starts and ends it."""

import fcntl
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kernels import PATIENCE, Kernel, nursery_at

from distlab.processes import children, template
from distlab.processes import kernel as kernel_process

RANKS = """
import os, torch, torch.distributed as dist
from distlab import Ranks

def total(rank, size):
    mine = torch.tensor([1.0])
    dist.all_reduce(mine)
    return mine.item(), os.getpid(), os.getcwd(), torch.get_num_threads()

said = list(Ranks(2).run(total))
"""


def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def of_template(pid):
    """Is this zygote a fork of a template, and no Python of its own?"""
    return "distlab.processes.forkserver" not in Path(f"/proc/{pid}/cmdline").read_text()


def ended(pid):
    """Has this process, which is nobody's here, ended by now, or soon?"""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        os.sched_yield()
    return False


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("nursery") / "asked"
    with nursery_at(path):
        yield str(path)


@pytest.fixture(scope="module", params=["alone", "of a nursery"])
def environment(request):
    """Of a kernel whose template Jupyter starts, and of one whose template a nursery forks."""
    if request.param == "alone":
        return {}
    return {"DISTLAB_TEMPLATE": request.getfixturevalue("address")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("notebook")


@pytest.fixture(scope="module")
def kernel(folder, environment):
    kernel = Kernel(folder, **environment)
    yield kernel
    kernel.end()


def test_kernel_and_ranks_come_of_one_process_that_has_torch(kernel, folder, environment):
    assert kernel.run("import sys; 'torch' in sys.modules") is True
    said = kernel.run(RANKS + "said")
    assert [one[0] for one in said] == [2.0, 2.0]
    template = parent(kernel.run("os.getpid()"))
    assert (template == kernel.started.pid) == (not environment)
    for _, rank, at, threads in said:
        assert parent(parent(rank)) == template and of_template(parent(rank))
        assert (at, threads) == (str(folder), 1)
    assert len(os.listdir(f"/proc/{template}/task")) == 1


@pytest.fixture(scope="module")
def usual_threads():
    """How many a process of its own has for torch, told otherwise by nobody."""
    usual = subprocess.run(
        [sys.executable, "-c", "import torch; print(torch.get_num_threads())"],
        capture_output=True, text=True, check=True,
        env={name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"},
    )  # fmt: skip
    return int(usual.stdout)


def test_what_lies_beside_the_notebook_does_not_stand_in_for_pythons_modules_on_ranks(
    kernel, folder
):
    (folder / "sched.py").write_text("")
    kernel.run(
        "import sys\nfrom distlab import Ranks\ndef where(rank, size):\n"
        "    known = 'sched' in sys.modules\n    import sched\n    return known, sched.__file__"
    )
    for known, file in kernel.run("list(Ranks(2).run(where))"):
        assert not known and str(folder) not in file


def test_the_kernel_has_its_own_environment_and_all_cores(kernel, usual_threads):
    assert kernel.run("import torch, os; torch.get_num_threads()") == usual_threads
    assert kernel.run("os.environ.get('OPENBLAS_NUM_THREADS')") == os.environ.get(
        "OPENBLAS_NUM_THREADS"
    )


def test_what_is_drawn_by_chance_differs_from_process_to_process(kernel):
    code = """
import random, numpy
from distlab import Ranks

def drawn(*_):
    return random.random(), numpy.random.rand()

[drawn(), *Ranks(2).run(drawn)]
"""
    key = "import multiprocessing; str(multiprocessing.current_process().authkey)"
    first, its_key = kernel.run(code), kernel.run(key)
    kernel.manager.restart_kernel(now=True)
    kernel.client.wait_for_ready(timeout=PATIENCE)
    seed = "import torch; torch.initial_seed()"
    its_ranks = (
        "import torch\nfrom distlab import Ranks\nRanks(2).run(lambda *_: torch.initial_seed())[1]"
    )
    seeds = [kernel.run(seed), kernel.run(its_ranks)]
    numbers = [number for both in first + kernel.run(code) for number in both]
    assert len(set(numbers)) == 12 and kernel.run(key) != its_key
    kernel.manager.restart_kernel(now=True)
    kernel.client.wait_for_ready(timeout=PATIENCE)
    assert kernel.run(seed) not in seeds and seeds[0] != seeds[1]


def test_ranks_find_what_lies_beside_the_notebook_and_its_environment(kernel, folder):
    (folder / "beside.py").write_text("import os\ndef told(rank, size): return os.environ['TOLD']")
    kernel.run(
        "import os\nfrom distlab.engines.ranks import end_local\nend_local()\n"
        "os.environ['TOLD'] = 'this'\nfrom distlab import Ranks\nimport beside"
    )
    assert kernel.run("list(Ranks(2).run(beside.told))") == ["this", "this"]


def answer(get, kind, asked):
    """The first message of a kind that belongs to what was asked."""
    while True:
        heard = get(timeout=PATIENCE)
        if heard["msg_type"] == kind and heard["parent_header"].get("msg_id") == asked:
            return heard["content"]


def test_it_can_be_interrupted_and_its_ranks_with_it(kernel):
    kernel.run(RANKS)
    for code in ("while True: pass", "Ranks(2).run(lambda rank, size: [0 for _ in iter(int, 1)])"):
        asked = kernel.client.execute(f"print('begun', flush=True)\n{code}", stop_on_error=False)
        answer(kernel.client.get_iopub_msg, "stream", asked)
        kernel.manager.interrupt_kernel()
        told = answer(kernel.client.get_shell_msg, "execute_reply", asked)
        assert told["ename"] == "KeyboardInterrupt"
    assert [one[0] for one in kernel.run(RANKS + "said")] == [2.0, 2.0]


def test_what_the_kernel_forks_asks_the_template_for_nothing(kernel):
    code = """
import os
from distlab.processes import children
read, write = os.pipe()
if not (pid := os.fork()):
    os.write(write, str(len(children.forks)).encode())
    os._exit(0)
os.waitpid(pid, 0)
os.read(read, 9), len(children.forks)
"""
    assert kernel.run(code) == (b"0", 1)


def test_an_interrupted_question_leaves_no_answer_for_the_next_one(kernel):
    code = """
import json, socket
from distlab.processes import children
forks = children.forks[0]
with forks._lock:  # asked, and not heard
    forks._asked += 1
    forks._connection.send(json.dumps({"poll": 1 << 30, "number": forks._asked}).encode())
forks.ask({"poll": 1 << 30})
"""
    assert kernel.run(code) == 0


def test_too_large_an_environment_is_handed_over_in_the_usual_way(kernel):
    kernel.run("import os; os.environ.update({f'LARGE_{n}': 'x' * 50_000 for n in range(8)})")
    said = kernel.run("from distlab.engines.ranks import end_local\nend_local()\n" + RANKS + "said")
    assert [one[0] for one in said] == [2.0, 2.0]
    assert not of_template(parent(said[0][1]))
    kernel.run("end_local(); [os.environ.pop(f'LARGE_{n}') for n in range(8)]")


def test_what_just_fits_into_no_message_ends_nobody(kernel):
    """Between what is read of a message and what Linux sends of one."""
    code = """
import json, os
from distlab.processes import children, framing
left = framing.LONGEST + 5_000 - len(json.dumps(dict(os.environ)))
children.forks[0](["x"], [], {**os.environ, "LARGE": "x" * left}) is None
"""
    assert kernel.run(code) is True and kernel.run("1 + 1") == 2


def test_a_setting_that_only_a_new_process_looks_at_is_heard(kernel):
    kernel.run(
        "import os\nfrom distlab.engines.ranks import end_local\nend_local()\n"
        "os.environ['PYTHONWARNINGS'] = 'error'"
    )
    said = kernel.run(RANKS + "import sys\nlist(Ranks(2).run(lambda *_: sys.warnoptions)), said")
    assert said[0] == [["error"]] * 2 and not of_template(parent(said[1][0][1]))
    kernel.run("end_local(); del os.environ['PYTHONWARNINGS']")


def test_what_a_kernel_spawns_finds_what_lies_beside_the_notebook(kernel, folder):
    (folder / "next_to_it.py").write_text("def put(queue): queue.put(7)")
    code = """
import multiprocessing, next_to_it
apart = multiprocessing.get_context("spawn")
queue = apart.Queue()
process = apart.Process(target=next_to_it.put, args=(queue,))
process.start()
process.join()
process.exitcode
"""
    assert kernel.run(code) == 0


THREADS_ARGUMENTS_PATH = """
import contextlib, ctypes, sys, numpy
threads = []
with open("/proc/self/maps") as file:
    paths = {line.split()[-1] for line in file if "openblas" in line}
for path in paths:
    for name in ("scipy_openblas_get_num_threads64_", "openblas_get_num_threads"):
        with contextlib.suppress(AttributeError):
            threads.append(getattr(ctypes.CDLL(path), name)())
[threads, sys.argv[0], sys.path]
"""


@pytest.fixture(scope="module")
def told_by_any_kernel(folder):
    with Kernel(folder, DISTLAB_PROCESSES="spawn") as usual:
        return usual.run(THREADS_ARGUMENTS_PATH)


def test_it_has_the_threads_arguments_and_path_of_any_kernel(kernel, told_by_any_kernel):
    assert told_by_any_kernel[0] and kernel.run(THREADS_ARGUMENTS_PATH) == told_by_any_kernel


def test_a_kernel_with_settings_of_its_own_is_forked_from_a_process_that_has_them(
    tmp_path, address
):
    with Kernel(tmp_path, DISTLAB_TEMPLATE=address, PYTHONHASHSEED="7") as kernel:
        usual = subprocess.run(
            [sys.executable, "-c", "print(hash('a'))"],
            capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": "7"},
        )  # fmt: skip
        assert kernel.run("hash('a')") == int(usual.stdout)
        assert parent(kernel.run("import os; os.getpid()")) == kernel.started.pid


def test_what_a_kernel_has_started_is_killed_with_it(tmp_path, environment):
    with Kernel(tmp_path, **environment) as kernel:
        pid = kernel.run("import subprocess; subprocess.Popen(['sleep', '600']).pid")
    assert ended(pid)


def test_a_mapped_file_that_is_no_library_any_more_keeps_no_kernel_from_starting(tmp_path):
    code = (
        "import mmap, os, sys\n"
        "from distlab.processes import kernel\n"
        "import numpy\n"
        "path = sys.argv[1]\n"
        "open(path, 'wb').write(bytes(4096))\n"
        "file = open(path, 'r+b')\n"
        "mapped = mmap.mmap(file.fileno(), 4096)\n"
        "os.remove(path)\n"
        "kernel._use_all_cores({})\n"
    )
    replaced = str(tmp_path / "libopenblas.so")
    done = subprocess.run([sys.executable, "-c", code, replaced], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_no_more_processes_is_an_answer_as_any_other(monkeypatch):
    """A template that ends takes the kernel with it."""

    def refused():
        raise BlockingIOError("Resource temporarily unavailable")

    kernels, templates = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made = object.__new__(template.Template)
    made._watched, made._wakes, made._woken, made._starter = [], kernels, None, None
    monkeypatch.setattr(os, "fork", refused)
    with kernels, templates:
        kernels.sendall(json.dumps({"number": 1, "arguments": []}).encode())
        made._hear(templates)
        assert json.loads(kernels.recv(100)) == [1, None]
    assert children.fork() is None


@pytest.fixture
def many_files():
    """More than `select` takes, on a server of many: so many may be open meanwhile."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < 2048:
        pytest.skip(f"this machine lets a process have {hard} files open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    yield 1100
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_nursery_and_its_templates_may_have_many_files_open(tmp_path, many_files):
    path = tmp_path / "asked"
    with (
        nursery_at(path, many_files) as nursery,
        Kernel(tmp_path, DISTLAB_TEMPLATE=str(path)) as kernel,
    ):
        said = kernel.run(RANKS + "said")
        assert [one[0] for one in said] == [2.0, 2.0] and of_template(parent(said[0][1]))
        assert parent(parent(kernel.run("os.getpid()"))) == nursery.pid


def test_what_jupyter_has_started_may_have_many_files_open(many_files, monkeypatch):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, socket.socket(fileno=fcntl.fcntl(ours, fcntl.F_DUPFD, many_files)) as far:
        theirs.sendall(b"7")
        monkeypatch.setattr(kernel_process, "_PARENT", os.getppid())
        monkeypatch.setattr(signal, "signal", lambda *_: None)
        assert kernel_process._hand_on(far) == 7


@pytest.mark.slow
def test_a_kernel_outlives_what_forks_others(tmp_path):
    path = tmp_path / "asked"
    answered = "from distlab.processes import children; children.forks[0].ask({'poll': 1 << 30})"
    with nursery_at(path) as nursery, Kernel(tmp_path, DISTLAB_TEMPLATE=str(path)) as kernel:
        pid = kernel.run("import os; os.getpid()")
        assert parent(parent(pid)) == nursery.pid
        nursery.kill()
        nursery.wait()
        for _ in range(3):  # between two answers the template looks who is there
            assert kernel.run(answered) == 0
        assert kernel.run("os.getpid()") == pid
    assert ended(pid)


@pytest.mark.slow
@pytest.mark.parametrize(
    "code, status",
    [("os._exit(7)", 7), ("os.kill(os.getpid(), 9)", -9), ("os.kill(os.getppid(), 9)", -9)],
)
def test_template_kernel_and_ranks_end_together(tmp_path, environment, code, status):
    with Kernel(tmp_path, **environment) as kernel:
        ranks = [one[1] for one in kernel.run(RANKS + "said")]
        everybody = [kernel.run("os.getpid()"), parent(ranks[0]), *ranks]
        kernel.client.execute(code)
        assert kernel.started.wait(30) == status
        assert all(map(ended, everybody))


def test_a_kernel_that_is_shut_down_ends_as_python_does(tmp_path, environment):
    with Kernel(tmp_path, **environment) as kernel:
        ranks = kernel.run(
            "import atexit\natexit.register(open, 'ended', 'w')\n" + RANKS
            + "from distlab.engines import ranks\n(said[0][1], str(ranks._pool.folder))"
        )  # fmt: skip
        kernel.client.shutdown()
        assert kernel.started.wait(PATIENCE) == 0
        assert (tmp_path / "ended").exists()
        assert ended(ranks[0]) and not os.path.exists(ranks[1])


def test_a_signal_to_end_reaches_the_kernel(tmp_path, environment):
    with Kernel(tmp_path, **environment) as kernel:
        pid = kernel.run("import os; os.getpid()")
        kernel.started.send_signal(signal.SIGTERM)
        kernel.started.wait(PATIENCE)
        assert ended(pid)


def test_it_ends_with_whoever_has_started_it(tmp_path, environment):
    source = (
        "import sys\nsys.path.insert(0, sys.argv[1])\nfrom pathlib import Path\n"
        "from kernels import Kernel\nkernel = Kernel(Path(sys.argv[2]))\n"
        "print(kernel.run('import os; os.getpid()'), kernel.started.pid, flush=True)\n"
        "sys.stdin.read()"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", source, str(Path(__file__).parents[1]), str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment},
    )  # fmt: skip
    pids = [int(one) for one in server.stdout.readline().split()]
    server.kill()
    server.wait()
    assert len(pids) == 2 and all(map(ended, pids))


def test_it_ends_with_whoever_ended_while_it_was_imported():
    code = """
import os, socket, sys
from distlab.processes import kernel
os.getppid = lambda: 1
kernel._be_kernel = lambda *_: sys.stdin.read()
sys.exit(-kernel.begin({}))
"""
    made = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    with made:
        assert made.wait(PATIENCE) == signal.SIGKILL


def test_where_nothing_is_forked_it_is_the_usual_kernel(tmp_path):
    with Kernel(tmp_path, DISTLAB_PROCESSES="spawn") as kernel:
        assert kernel.run("import os; os.getpid()") == kernel.started.pid
        assert kernel.run("import sys; 'torch' in sys.modules") is False
