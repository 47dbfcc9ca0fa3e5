"""`distlab` as it is called in a terminal."""

import os
import subprocess
import sys

from grader import coursedir


def distlab(*words, cwd=coursedir.ROOT, timeout=600, **env):
    return subprocess.run(
        [sys.executable, "-m", "distlab", *map(str, words)],
        cwd=cwd, capture_output=True, text=True, timeout=timeout, env={**os.environ, **env},
    )  # fmt: skip
