"""How far the images let networks come: trainings that the script takes."""

import pytest

from bench import ceiling, speedrun
from distlab.training import speedrun as options


@pytest.mark.parametrize("way", ceiling.WAYS, ids=lambda way: f"{way.name}, {way.epochs}")
def test_its_trainings_are_the_scripts(way):
    script, _ = speedrun._script()
    args = script.arguments(way.options.split())
    options.check(args)
    assert args.on_device and args.augment


@pytest.mark.parametrize("left_out", speedrun.ways())
def test_what_is_compared_is_the_scripts(left_out):
    script, _ = speedrun._script()
    args = script.arguments(speedrun.ways()[left_out].split())
    options.check(args)
    assert (args.optimizer == "muon") == (left_out != "--optimizer muon")
