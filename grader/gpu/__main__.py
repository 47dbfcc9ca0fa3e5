"""`make gpu` and `make gpu-wheels`.

python -m grader.gpu [--pretend] [--results FOLDER] [--minutes 9]
python -m grader.gpu wheels [--images ARCHIVE]
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import shutil
import sys
import time
from pathlib import Path

from grader.gpu import images, machine, page, plan, runner, settings, wheels
from grader.paths import ROOT

BUILD = ROOT / "build"
CARRY = BUILD / "carry"  # what travels to a machine without a network
STATE = BUILD / "gpu"
MINUTES = 9.0


def main(words: list[str] | None = None) -> int:
    options = _options(words)
    try:
        return fill(options) if options.action == "wheels" else run(options)
    except wheels.CannotRun as error:
        print(f"make gpu: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("make gpu: interrupted; the same command goes on here", file=sys.stderr)
        return 130


def _options(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m grader.gpu", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("action", nargs="?", choices=("run", "wheels"), default="run")
    parser.add_argument("--pretend", action="store_true",
                        help="run the same steps on the CPU, in small sizes")  # fmt: skip
    parser.add_argument("--results", type=Path, metavar="FOLDER",
                        help="where to write (default: results/NAME of the GPU)")  # fmt: skip
    parser.add_argument("--minutes", type=float, default=None,
                        help="that all may take (default: 9; 30 with --pretend)")  # fmt: skip
    parser.add_argument("--only", nargs="*", metavar="STEP", help="some steps, by their names")
    parser.add_argument("--carry", type=Path, default=CARRY, metavar="FOLDER",
                        help="where wheels and images lie (default: build/carry)")  # fmt: skip
    parser.add_argument("--images", type=Path, metavar="ARCHIVE",
                        help="wheels: the archive of CIFAR-10's images to take along")  # fmt: skip
    parser.add_argument("--pythons", nargs="+", choices=wheels.PYTHONS, default=wheels.PYTHONS,
                        help="wheels: the Pythons that they are for (default: both)")  # fmt: skip
    return parser.parse_args(words)


def run(options: argparse.Namespace) -> int:
    """All steps, then the page; returns the exit status."""
    begin = time.monotonic()
    asked = plan.steps(options.pretend)
    if options.only:
        asked = plan.chosen(asked, options.only)
    machine.check_python()
    site = STATE / f"site-{sys.version_info[0]}.{sys.version_info[1]}"
    gathered = wheels.gather(sys.executable, options.carry / "wheels", site)
    told = " ".join(name.partition("-")[0] for name in gathered)
    print(f"taken from the wheels: {told or 'nothing, all is here'}", flush=True)
    env = machine.environment(site)
    here = machine.found(env, options.pretend)
    print(page.heading(here, options.pretend), flush=True)
    found = images.unpacked(options.carry, STATE / "images")
    if options.pretend:
        env[settings.PRETEND] = "1"
        env["OMP_NUM_THREADS"] = "1"  # several would wait for each other where others work too
    if found is not None:
        env[settings.IMAGES] = str(found)
    state = runner.State(STATE / "state", machine.key(here, options.pretend))
    minutes = options.minutes or (30.0 if options.pretend else MINUTES)
    left = 60 * minutes - (time.monotonic() - begin)
    at_once = max(1, (os.cpu_count() or 1) // 2)  # a step has up to eight ranks, which mostly wait
    outcomes = runner.run(asked, state, env, left, at_once, functools.partial(print, flush=True))
    folder = options.results or ROOT / "results" / page.name(here, options.pretend)
    page.write(folder, here, outcomes, state, options.pretend, time.monotonic() - begin)
    print(f"written: {folder}")
    return 0 if all(one.status == runner.DONE for one in outcomes) else 1


def fill(options: argparse.Namespace) -> int:
    """Fetch wheels, copy the images beside them, and say how much travels."""
    archive = options.images or images.beside(ROOT)
    if archive is not None and not archive.is_file():
        raise wheels.CannotRun(f"there is no archive of images {archive}: name another one")
    if archive is None:
        print("no archive of images was found: name one with IMAGES=…, or training runs on "
              "generated patterns", flush=True)  # fmt: skip
    wheels.fill(options.carry / "wheels", ROOT / "constraints.txt", options.pythons)
    if archive is not None:
        with contextlib.suppress(shutil.SameFileError):  # it lies there already
            shutil.copyfile(archive, options.carry / images.ARCHIVE)
    sizes = wheels.sizes(ROOT, options.carry)
    for what, size in sizes.items():
        print(f"{what:10} {size / 1e6:6.1f} MB")
    total = sum(sizes.values())
    print(f"together   {total / 1e6:6.1f} MB of {wheels.MOST / 1e6:.0f} MB")
    if total > wheels.MOST:
        raise wheels.CannotRun(
            "that is more than may travel: say which Python the machine has, PYTHONS=3.12"
        )
    print(f"bring {options.carry} along, in the same place of the same commit, and say `make gpu`")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
