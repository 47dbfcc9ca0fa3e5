"""What several test modules share: one zygote, one set of ranks, the course's root on the path."""

import os
import sys
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests"))
# the committed references hold for it, whatever secret whoever runs the tests has
os.environ["DISTLAB_SECRET"] = "public"
os.environ["DISTLAB_POLICY"] = "none"  # nor whatever policy
# a machine that does something else meanwhile is no reason to fail
hypothesis.settings.register_profile("course", deadline=None)
hypothesis.settings.load_profile("course")


@pytest.fixture(scope="session")
def zygote():
    from distlab.processes.zygote import Zygote

    with Zygote() as made:
        yield made


@pytest.fixture(scope="session")
def zygote_for(zygote):
    """The zygote that a lab's ranks are forked from: another one for other frameworks."""
    from distlab import course
    from distlab.processes import frameworks
    from distlab.processes.zygote import PRELOAD, Zygote

    made = {(): zygote}

    def find(lab):
        more = frameworks.preload(course.needs(lab))
        if more not in made:
            made[more] = Zygote((*PRELOAD, *more))
        return made[more]

    yield find
    for more, one in made.items():
        if more:
            one.close()


@pytest.fixture
def many_files():
    """So many open files that the next one's descriptor is over 1,023, which `select` refuses."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    yield
    for file in opened:
        os.close(file)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def session(zygote):
    from distlab.checking.session import Session

    with Session(zygote) as made:
        yield made


@pytest.fixture(scope="session")
def ranks():
    """Four warm ranks, as a notebook has them."""
    from distlab import Ranks

    return Ranks(4, deadline=30)
