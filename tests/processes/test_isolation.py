"""A submission has its limits, or what its machine grants where that is less."""

import ast
import resource
import subprocess
import sys

import pytest

from grader import sandbox
from grader.sandbox import bubblewrap

LIMITED = """
import resource, sys
from distlab.processes import isolation
what, granted = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(what, (granted, granted))
isolation.limit(isolation.Limits())
print(*resource.getrlimit(what))
print(*resource.getrlimit(resource.RLIMIT_CORE))
"""


@pytest.mark.parametrize(
    "what", [resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_SIGPENDING]
)
def test_a_machine_that_grants_less_than_a_submission_may_use_is_no_failure(what):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(what), "150"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["150", "150", "0", "0"]


CHILD = """
import os
from distlab.processes import isolation

def show():
    if os.fork():
        os.wait()  # process 1 has its children reaped unseen: this ends when they have
    else:
        rows = [row.split(":") for row in open("/proc/self/status")]
        print({name: value.strip() for name, value in rows})

def entry():
    try:
        show()
    except ChildProcessError:
        pass

os.waitpid(isolation.start(isolation.Limits(), entry), 0)
"""


def test_what_process_1_forks_has_none_of_its_privileges():
    inside = bubblewrap.command(next(bubblewrap.binaries()), True, 1 << 20)
    done = subprocess.run(
        [*inside, sys.executable, "-c", CHILD], env=sandbox.environment(), capture_output=True,
        text=True, timeout=60,
    )  # fmt: skip
    told = ast.literal_eval(done.stdout)
    assert {told[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
    assert told["NoNewPrivs"] == "1" and told["Seccomp"] == "2"  # 2: by a filter
