"""Checkpoints that are laid down for an exercise, and where."""

import pytest

from distlab.course.lab09_when_it_breaks import checkpoints


def test_a_temporary_folder_lies_in_the_run_and_ends_before_it(tmp_path, monkeypatch):
    monkeypatch.setenv("DISTLAB_RUN", str(tmp_path))
    with pytest.raises(KeyError), checkpoints.temporary_folder() as folder:
        assert folder.parent == tmp_path.resolve() and folder.is_dir()
        checkpoints.lay_down(folder, 7, [2, 0], seed=1)
        raise KeyError("what the function raised")
    assert list(tmp_path.iterdir()) == []


def test_the_content_of_a_folder_is_that_of_all_its_files(tmp_path):
    checkpoints.lay_down(tmp_path, 7, [2, 0], seed=1)
    (tmp_path / "empty").mkdir()
    before = checkpoints.content(tmp_path)
    assert sorted(path.removeprefix(str(tmp_path)) for path in before) == [
        "/empty/", "/step-7/", "/step-7/index.json", "/step-7/rank-0.pt", "/step-7/rank-1.pt",
    ]  # fmt: skip
    assert before == checkpoints.content(tmp_path)
    checkpoints.index_file(tmp_path, 7).write_text("{}")
    assert before != checkpoints.content(tmp_path)
