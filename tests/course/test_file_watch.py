"""What a process does with the files of a folder, as it is noted while its function runs."""

import os

import torch

from distlab.course.lab09_when_it_breaks.file_watch import Deed, watched


def test_saving_and_loading_by_torch_is_noted(tmp_path):
    with watched(tmp_path) as deeds:
        torch.save(torch.zeros(2), tmp_path / "a.pt")
        torch.load(str(tmp_path / "a.pt"))
    path = os.path.realpath(tmp_path / "a.pt")
    assert Deed("write", path) in deeds and Deed("read", path) in deeds


def test_a_file_that_is_put_in_anothers_place_is_told_from_one_that_is_written(tmp_path):
    with watched(tmp_path) as deeds:
        (tmp_path / "part").write_text("1")
        os.replace(tmp_path / "part", tmp_path / "whole")
        os.link(tmp_path / "whole", tmp_path / "again")
    noted = {(deed.what, os.path.basename(deed.path)) for deed in deeds}
    assert noted == {("write", "part"), ("put", "whole"), ("put", "again")}


def test_what_is_put_there_from_outside_is_told_apart(tmp_path):
    folder, other = tmp_path / "folder", tmp_path / "folder of another"
    folder.mkdir()
    other.mkdir()
    (other / "part").write_text("1")
    (tmp_path / "folder part").write_text("2")
    with watched(folder) as deeds:
        os.replace(other / "part", folder / "moved")
        os.replace(tmp_path / "folder part", folder / "moved here")
    moved, here = (os.path.realpath(folder / name) for name in ("moved", "moved here"))
    assert deeds == [Deed("put from outside", moved), Deed("put", here)]


def test_what_happens_elsewhere_before_and_afterwards_is_not_noted(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "inside too"
    inside.mkdir()
    outside.mkdir()
    (inside / "before").write_text("")
    with watched(inside) as deeds:
        (outside / "other").write_text("")
        os.path.exists(inside / "before")
    (inside / "after").write_text("")
    assert deeds == []


def test_a_writer_can_be_held_up_before_it_begins(tmp_path):
    seen = []
    with watched(tmp_path, lambda: seen.append((tmp_path / "a.pt").exists())):
        torch.save(torch.zeros(2), tmp_path / "a.pt")
    assert seen == [False]
