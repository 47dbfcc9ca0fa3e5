"""What a process may use, read from control groups of both versions."""

import pytest

from distlab.processes import machine

GIB = 1 << 30


def group(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, said in files.items():
        (folder / name.replace("__", ".")).write_text(f"{said}\n")


@pytest.fixture
def own(tmp_path):
    return tmp_path / "own"


def test_the_tightest_group_around_a_process_counts(tmp_path, own):
    own.write_text("0::/hub/ada\n")
    group(tmp_path / "hub", cpu__max="50000 100000", memory__max=4 * GIB)
    group(tmp_path / "hub" / "ada", cpu__max="400000 100000", memory__max=GIB)
    assert machine.cores(tmp_path, own) == 1
    assert machine.memory(tmp_path, own) == GIB


def test_the_first_version_of_control_groups_says_it_in_other_files(tmp_path, own):
    own.write_text("5:memory:/hub/ada\n4:cpu,cpuacct:/hub/ada\n0::/\n")
    group(tmp_path / "memory" / "hub" / "ada", memory__limit_in_bytes=GIB)
    group(
        tmp_path / "cpu,cpuacct" / "hub" / "ada",
        cpu__cfs_quota_us=100000,
        cpu__cfs_period_us=100000,
    )
    assert machine.cores(tmp_path, own) == 1
    assert machine.memory(tmp_path, own) == GIB


def test_without_limits_it_is_the_machine(tmp_path, own):
    free = machine.cores(tmp_path, own), machine.memory(tmp_path, own)
    own.write_text("0::/\n4:cpu:/\n5:memory:/\n")
    group(tmp_path, cpu__max="max 100000", memory__max="max")
    group(tmp_path / "cpu", cpu__cfs_quota_us=-1, cpu__cfs_period_us=100000)
    group(tmp_path / "memory", memory__limit_in_bytes=9223372036854771712)
    assert (machine.cores(tmp_path, own), machine.memory(tmp_path, own)) == free
    assert free[0] >= 1 and free[1] > 0


def test_ranks_are_as_many_as_the_memory_has_room_for(monkeypatch):
    monkeypatch.delenv("DISTLAB_MAX_RANKS", raising=False)
    monkeypatch.setattr(machine, "cores", lambda: 4)
    monkeypatch.setattr(machine, "memory", lambda: machine.NOTEBOOK + 5 * machine.RANK)
    assert machine.ranks() == 5
    monkeypatch.setattr(machine, "memory", lambda: 64 * GIB)
    assert machine.ranks() == 16
    monkeypatch.setenv("DISTLAB_MAX_RANKS", "3")
    assert machine.ranks() == 3


@pytest.mark.parametrize("said", ["four", "0", "-1", "2.5", "4 ranks"])
def test_a_setting_that_is_no_number_is_said_with_its_name(monkeypatch, said):
    monkeypatch.setenv("DISTLAB_MAX_RANKS", said)
    with pytest.raises(ValueError, match=f"DISTLAB_MAX_RANKS={said} is no number of 1 or more"):
        machine.ranks()
