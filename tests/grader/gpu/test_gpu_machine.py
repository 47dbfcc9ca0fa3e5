"""What `make gpu` refuses in a sentence, and what its outcomes are kept under."""

import pytest

from grader.gpu import machine
from grader.gpu.wheels import CannotRun
from grader.paths import ROOT

H200 = {"gpus": ["NVIDIA H200"], "torch": "2.11.0+cu130"}


@pytest.mark.parametrize("version", [(3, 11), (3, 12)])
def test_a_python_that_has_wheels_is_taken(version):
    machine.check_python(version)


@pytest.mark.parametrize("version", [(3, 9), (3, 10), (3, 13), (4, 0)])
def test_another_python_is_refused_with_what_to_do(version):
    with pytest.raises(CannotRun, match=r"none of 3.11, 3.12: .* GPU_PYTHON="):
        machine.check_python(version)


def test_a_machine_without_a_gpu_is_told_how_to_pretend():
    machine.check(H200, pretend=False)
    machine.check({**H200, "gpus": []}, pretend=True)
    with pytest.raises(CannotRun, match="PRETEND=1"):
        machine.check({**H200, "gpus": []}, pretend=False)


@pytest.mark.parametrize(
    ("torch", "fits"), [("2.11.0+cu130", True), ("2.13.0", True), ("3.0.0a0+git", True),
                        ("2.10.1+cu128", False), ("1.13.1", False)],
)  # fmt: skip
def test_an_old_pytorch_is_refused(torch, fits):
    if fits:
        machine.check({**H200, "torch": torch}, pretend=False)
        return
    with pytest.raises(CannotRun, match=f"PyTorch .*{torch.split('+')[0]}.* too old"):
        machine.check({**H200, "torch": torch}, pretend=False)


def test_a_gpu_that_never_answers_is_told(monkeypatch):
    monkeypatch.setattr(machine, "_ASK", "import signal; signal.pause()")
    monkeypatch.setattr(machine, "PATIENCE", 0.2)
    with pytest.raises(CannotRun, match=r"within 0\.2 s which GPUs .* nvidia-smi"):
        machine.found({}, pretend=False)


def test_outcomes_are_kept_apart_by_sources_pytorch_gpu_and_whether_it_pretends(monkeypatch):
    def key(here=None, pretend=False, digest="abc"):
        monkeypatch.setattr(machine, "digest", lambda: digest)
        return machine.key({**H200, **(here or {})}, pretend)

    every = {
        key(), key(pretend=True), key(digest="abd"), key({"torch": "2.13.0+cu130"}),
        key({"gpus": ["NVIDIA H100"]}), key({"gpus": ["NVIDIA H200"] * 2}),
    }  # fmt: skip
    assert len(every) == 6 and key() in every
    assert all(one.replace("-", "").isalnum() for one in every), "a file's name"


def test_what_grading_writes_is_none_of_the_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    monkeypatch.setattr(machine, "SOURCES", ("grader",))
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader" / "paths.py").write_text("")
    before = machine.digest()
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    written = [line.rstrip("/") for line in ignored if line.startswith("grader/")]
    for name in [*written, "grader/.ipynb_checkpoints"]:
        path = tmp_path / name.replace("*", "x")
        if path.suffix:
            path.write_text("{}")
        else:
            (path / "ada").mkdir(parents=True)
            (path / "ada" / "reference.json").write_text("{}")
    assert len(written) > 10 and machine.digest() == before
    (tmp_path / "grader" / "paths.py").write_text("pass")
    assert machine.digest() != before


def test_the_steps_see_the_library_and_the_wheels_and_no_settings_of_this_user(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("DISTLAB_DATA", "/somewhere")
    monkeypatch.setenv("DISTLAB_SECRET", "/a/secret")
    monkeypatch.setenv("PYTHONPATH", "/of/the/user")
    env = machine.environment(tmp_path)
    parts = env["PYTHONPATH"].split(":")
    assert parts[0].endswith("/src") and parts[2:] == [str(tmp_path), "/of/the/user"]
    assert "DISTLAB_DATA" not in env and env["DISTLAB_SECRET"] == "public"


def test_a_commit_can_be_told_where_there_is_no_git(monkeypatch):
    monkeypatch.setenv("COMMIT", "0123abcd")
    assert machine.commit() == "0123abcd"


def test_without_git_the_commit_is_unknown(monkeypatch):
    def nowhere(*words, **options):
        raise FileNotFoundError("git")

    monkeypatch.delenv("COMMIT", raising=False)
    monkeypatch.setattr(machine.subprocess, "run", nowhere)
    assert machine.commit() is None and machine.driver() is None


def test_the_digest_changes_with_a_source_and_not_with_what_grading_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    for name in ("src/a.py", "grader/b.py", "grader/ledger/c.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1")
    first = machine.digest()
    (tmp_path / "grader/ledger/c.json").write_text("2")
    assert machine.digest() == first
    (tmp_path / "src/a.py").write_text("2")
    assert machine.digest() != first
