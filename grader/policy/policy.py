"""The policy that is in force: what `policy.yaml` says, or the defaults where there is none."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from grader.paths import ROOT
from grader.policy.rules import Policy, PolicyError

VARIABLE, NONE = "DISTLAB_POLICY", "none"
_NAMED = os.environ.get(VARIABLE, "")
NOWHERE = Path(os.devnull, "policy.yaml")  # no file can lie there
#: the course's policy; the variable names another one, or says that there is none
PATH = NOWHERE if _NAMED == NONE else Path(_NAMED or ROOT / "policy.yaml").absolute()


def current(path: Path | None = None) -> Policy:
    """The policy in force: the file's, or the defaults where there is none.

    Raises:
        PolicyError: the file cannot be read, or says something that cannot be; or the one that was
            named is not there: without it, penalties that were taken off would be given back.
    """
    path = path or PATH
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if _NAMED in ("", NONE) or path != PATH:
            return Policy()
        raise PolicyError(
            f"{VARIABLE} names {path}, which is not there: name the policy's file, or say "
            f"{VARIABLE}={NONE} to grade without a policy"
        ) from None
    except OSError as error:
        raise PolicyError(f"{path} cannot be read: {error.strerror}") from error
    return _read(path, found.st_mtime_ns, found.st_size, found.st_ino)


@functools.lru_cache(maxsize=8)
def _read(path: Path, *state: int) -> Policy:
    """The policy in a file, read again when the file has changed."""
    from grader.policy import reading  # YAML, for those who have a file

    return reading.read(path)
