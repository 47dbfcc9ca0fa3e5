"""What becomes of outcomes: a page, data, and few files."""

import json
import sys
import tarfile
from importlib.util import find_spec

import pytest

from grader.gpu import page, plan, runner
from grader.gpu.runner import DONE, FAILED, LATE, Outcome
from grader.gpu.steps import script
from grader.gpu.wheels import CannotRun
from grader.paths import ROOT

HERE = {
    "gpus": ["NVIDIA H200"], "cores": 16, "python": "3.12.3", "torch": "2.11.0+cu130",
    "torchvision": "0.26.0", "cuda": "13.0", "nccl": "2.28.9", "driver": "580.1", "commit": "abc",
}  # fmt: skip
PRINTED = """1 ranks on cuda by nccl, 16 threads each
epoch 1/9  loss 1.9000  accuracy 0.5512  31250 images/s
epoch 2/9  loss 1.2000  accuracy 0.9312  41250 images/s
93% test accuracy reached after 2.4 s of training (evaluation not counted)
epoch 3/9  loss 1.1000  accuracy 0.9290  41000 images/s
"""


def outcomes():
    lab = "04-ring-allreduce"
    recorded = {"exercises": 7, "on the GPU": 5, "inputs on the GPU": 0, "as graded": 1,
                "cases": 40, "same": 31, "differences": ["ring_time 4, rank 0: 1 | 2"],
                "elsewhere": ["not on the GPU: no generator"], "failed": []}  # fmt: skip
    answers = {"answers": 40, "on the GPU": 38, "inputs on the GPU": 1, "as graded": 1,
               "only as graded": ["04/ring/right_one.py"], "failed": [],
               "left out": ["04/ring/right_new.py: PyTorch 9.9"]}  # fmt: skip
    took = {"recorded": 2e-5, "not recorded": 1e-5, "cost": 1e-5, "share": 1.0}
    return [
        Outcome("recorder", "", DONE, 3, "", {"back end": "nccl", "all-reduce": took}),
        Outcome("prover", "", DONE, 3, "", {"ranks": "Ranks(2)", "programs": [
            {"name": "swaps", "hangs": False, "proven": True, "right": False, "seconds": 1.0}]}),
        Outcome("script-small", "the small one", LATE, 100, "ended after 100 s",
                {"options": "--model small", "images": "JPEG", **script.read(PRINTED)}),
        Outcome("references-04", "", DONE, 3, "", {"labs": {lab: recorded}}),
        Outcome("answers-04", "", DONE, 3, "", {"labs": {lab: answers}}),
        Outcome("scaling", "", FAILED, 3, "no such file", {}),
    ]  # fmt: skip


def test_the_page_tells_all_that_is_known_and_what_is_not_done():
    text = page.as_text(HERE, outcomes(), pretend=False, seconds=500)
    assert text.startswith("# NVIDIA H200\n") and "PyTorch 2.11.0+cu130" in text
    assert "4 of 6 steps done" in text
    assert "| script-small | over its time | ended after 100 s |" in text
    assert "| scaling | failed | no such file |" in text
    assert "| the small one | 41250 | 3 | 93.12% | not reached | 2.4 s | not reached |" in text
    assert "| best accuracy | to 90% | to 93% | to 94% |" in text
    assert "- ring_time 4, rank 0: 1 | 2" in text  # a list, where a bar is only a bar
    assert "| 04-ring-allreduce | 7 | 5 | 0 | 1 | 40 | 31 | 1 | 0 | done | 3 s |" in text
    assert "- not on the GPU: no generator" in text
    assert "| 04-ring-allreduce | 40 | 38 | 1 | 1 | 0 | done | 3 s |" in text
    assert "newer PyTorch than this machine has:\n\n- 04/ring/right_new.py: PyTorch 9.9" in text
    assert "| swaps | right | proven to hang | 1.0 s | **wrong** |" in text
    assert "PRETENDED" not in text


def test_a_pretended_page_says_so_first():
    text = page.as_text({**HERE, "gpus": []}, outcomes(), pretend=True, seconds=500)
    assert text.startswith("# Pretended, without a GPU\n\nPRETENDED: ")
    assert page.name({**HERE, "gpus": []}, True) == "pretended"
    assert page.name(HERE, False) == "nvidia-h200"


def test_the_folder_is_few_files_that_a_small_door_lets_through(tmp_path):
    state = runner.State(tmp_path / "state", "key")
    (state.folder / "recorder.log").write_text(f"in {ROOT}/build: {sys.prefix}/lib warns")
    (state.folder / "references").mkdir()
    (state.folder / "references" / "04.visible.json").write_text("{}")
    folder = tmp_path / "results" / "gpu"
    page.write(folder, HERE, outcomes(), state, False, 500)
    page.write(folder, HERE, outcomes(), state, False, 500)  # a second call writes it anew
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["README.md", "logs.tar.gz", "references.tar.gz", "results.json"]
    content = json.loads((folder / "results.json").read_text())
    assert content["machine"]["gpus"] == ["NVIDIA H200"] and content["pretended"] is False
    assert [one["status"] for one in content["steps"]].count(DONE) == 4
    with tarfile.open(folder / "references.tar.gz") as packed:
        assert packed.getnames() == ["04.visible.json"]
    with tarfile.open(folder / "logs.tar.gz") as packed:
        assert packed.extractfile("recorder.log").read() == b"in build: PYTHON/lib warns"


def test_what_the_script_prints_is_read_as_far_as_it_came():
    found = script.read(PRINTED)
    assert [one["epoch"] for one in found["epochs"]] == [1, 2, 3]
    assert found["seconds to"] == {"93%": 2.4} and found["best accuracy"] == 0.9312
    assert script.read("nothing yet") == {"epochs": [], "seconds to": {}}


def test_all_steps_fit_into_the_time_and_pretending_takes_the_same_ones():
    real, small = plan.steps(), plan.steps(pretend=True)
    assert len({one.name for one in real}) == len(real)
    assert {one.name.split("-")[0] for one in real} == {one.name.split("-")[0] for one in small}
    alone = sum(one.seconds for one in real if not one.beside and one.name != "script-plain")
    assert alone < 9 * 60, "what measures could take all the time"
    for one in real:
        assert one.beside == (one.name.split("-")[0] in ("references", "answers"))
        assert find_spec(one.command[1]), "the step is a module"


def test_every_lab_but_those_of_other_frameworks_is_recorded():
    from distlab import course

    plain = {lab for lab in course.LABS if not course.needs(lab)}
    assert set(plan.RECORDED) == plain
    assert set(plan.ON_TENSORS) == plain - {"09-when-it-breaks"}


def test_some_steps_can_be_asked_for_by_name():
    found = plan.chosen(plan.steps(), ["scaling", "recorder"])
    assert [one.name for one in found] == ["recorder", "scaling"]
    with pytest.raises(CannotRun, match="there is no step 'scalling': choose from"):
        plan.chosen(plan.steps(), ["scalling"])


@pytest.mark.parametrize("way", sorted(script.WAYS))
def test_the_options_of_the_training_steps_are_options_of_the_script(way, monkeypatch):
    import importlib.util

    spec = importlib.util.spec_from_file_location("resnet_ddp", script.SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    from distlab.training import speedrun

    monkeypatch.setenv("DISTLAB_DATA", "/somewhere")
    for pretend in ("0", "1"):
        monkeypatch.setenv("DISTLAB_GPU_PRETEND", pretend)
        args = module.arguments(script.words(way))
        speedrun.check(args)
        assert args.augment and (args.limit == script.FEW) == (pretend == "1")
