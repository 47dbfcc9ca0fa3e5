"""A submission has its limits, or what its machine grants where that is less."""

import resource
import subprocess
import sys

import pytest

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
