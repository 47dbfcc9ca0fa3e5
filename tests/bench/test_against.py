"""Grading at another commit is measured with that commit's own files."""

import subprocess

import pytest

from bench import against

pytestmark = pytest.mark.skipif(
    subprocess.run(["git", "-C", str(against.ROOT), "rev-parse", "HEAD"], capture_output=True)
    .returncode != 0,
    reason="this is no checkout",
)  # fmt: skip


def _is_a_worktree(tree):
    """Others may come and go meanwhile."""
    told = subprocess.run(
        ["git", "-C", str(against.ROOT), "worktree", "list", "--porcelain"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return f"worktree {tree.resolve()}" in told.stdout.splitlines()


def test_a_commit_is_checked_out_as_long_as_it_is_measured():
    with against.checked_out("HEAD") as tree:
        assert (tree / "bench" / "grading.py").is_file() and tree != against.ROOT
        assert _is_a_worktree(tree)
        # a submission without any answer: nothing is run for it
        seconds, by_the_clock = against.grade_class(tree, [{}], 1)
        assert min(seconds, by_the_clock) > 0
    assert not tree.exists() and not _is_a_worktree(tree)
