"""The policy that is in force: what `policy.yaml` says, or the defaults where there is none."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from grader.paths import ROOT
from grader.policy.rules import Policy, PolicyError

#: the course's policy; DISTLAB_POLICY names another one
PATH = Path(os.environ.get("DISTLAB_POLICY") or ROOT / "policy.yaml").absolute()


def current(path: Path | None = None) -> Policy:
    """The policy in force: the file's, or the defaults where there is none.

    Raises:
        PolicyError: the file cannot be read, or says something that cannot be.
    """
    path = path or PATH
    try:
        found = path.stat()
    except FileNotFoundError:
        return Policy()
    except OSError as error:
        raise PolicyError(f"{path} cannot be read: {error.strerror}") from error
    return _read(path, found.st_mtime_ns, found.st_size, found.st_ino)


@functools.lru_cache(maxsize=8)
def _read(path: Path, *state: int) -> Policy:
    """The policy in a file, read again when the file has changed."""
    from grader.policy import reading  # YAML, for those who have a file

    return reading.read(path)
