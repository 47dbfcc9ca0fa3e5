"""What is forked from lies in huge pages, and is what it was."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
from distlab.processes import cheap_forks

def huge():
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("AnonHugePages"))

many = [[number] * 8 for number in range(400_000)]  # by Python's allocator: small pages
before = huge()
got = cheap_forks.collapse()
if not got:
    sys.exit(77)
assert huge() >= before + 20_000, (before, huge(), got)
assert all(row == [number] * 8 for number, row in enumerate(many))
child = os.fork()
if not child:
    many[7][0] = -1  # in a copy of its own
    os._exit(0 if many[8] == [8] * 8 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert many[7] == [7] * 8
"""


@pytest.mark.skipif(sys.platform != "linux", reason="huge pages are Linux's")
def test_memory_that_was_written_in_small_pages_is_put_into_huge_ones():
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    if ended.returncode == 77:
        pytest.skip("this kernel puts no memory into huge pages on demand (Linux 6.1 does)")
    assert ended.returncode == 0, ended.stderr


def test_process_groups_find_dynamos_caches_empty():
    program = """
import torch._dynamo.trace_rules as rules
from distlab.processes import cheap_forks
rules.get_torch_obj_rule_map()
assert rules.get_torch_obj_rule_map.cache_info().currsize == 1
cheap_forks.prepare()
assert rules.get_torch_obj_rule_map.cache_info().currsize == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True)
