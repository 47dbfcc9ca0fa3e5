"""The images: an archive that travels with the wheels, unpacked outside of what git sees."""

from __future__ import annotations

import tarfile
from pathlib import Path

from grader.gpu.wheels import CannotRun

ARCHIVE = "cifar10-images.tar.xz"


def beside(root: Path) -> Path | None:
    """The archive where this project's data usually lies, beside the clone."""
    found = [folder / "shared" / "data" / ARCHIVE for folder in list(root.parents)[:2]]
    return next((path for path in found if path.is_file()), None)


def unpacked(carry: Path, target: Path) -> Path | None:
    """The folder with `train` and `test`, unpacked once; `None` where there is no archive.

    Raises:
        CannotRun: the archive is damaged, or holds something else.
    """
    archive, ready = carry / ARCHIVE, target / "ready"
    if not archive.is_file():
        return None
    told = f"{archive.name} {archive.stat().st_size}"
    if ready.is_file() and ready.read_text("utf-8") == told:
        return target
    target.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(archive) as packed:
            packed.extractall(target, filter="data")
    except (OSError, tarfile.TarError, EOFError) as error:
        told = f"{archive} cannot be unpacked ({error}): run `make gpu-wheels` again"
        raise CannotRun(told) from None
    if not (target / "train").is_dir() or not (target / "test").is_dir():
        raise CannotRun(f"{archive} holds no folders train and test: take another archive")
    ready.write_text(told, "utf-8")
    return target
