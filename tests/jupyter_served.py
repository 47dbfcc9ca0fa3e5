"""A Jupyter server of a test's own, on loopback."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import free_ports
import httpx

PATIENCE = 60.0  # seconds; a deadline for a busy machine, never a pause
ENDING = 30.0  # seconds that it has for its end: what a page asked last can keep it from that
_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR",
            "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")  # fmt: skip


def own(folder: Path) -> dict[str, str]:
    """Jupyter's folders below this one, by the variables that name them."""
    return {name: str(folder / "jupyter" / name) for name in _FOLDERS}


@contextlib.contextmanager
def served(
    application: str, folder: Path, *options: str, cwd: Path | None = None,
    patience: float = PATIENCE, **env: str,
):  # fmt: skip
    """The server's URL, once it answers. Its log and its own folders lie in `folder`."""
    (port,) = free_ports.some(1)
    always = ("--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0",
              "--ServerApp.open_browser=False", "--IdentityProvider.token=")  # fmt: skip
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyter", application, *always, *options],
            cwd=cwd, env={**os.environ, **own(folder), **env}, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        try:
            deadline = time.monotonic() + patience
            while not _answers(url):
                assert server.poll() is None and time.monotonic() < deadline, log.name
                time.sleep(0.2)
            yield url
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            try:
                server.wait(ENDING)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait(ENDING)


def _answers(url: str) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"{url}/api", timeout=2, trust_env=False).status_code == 200
    return False
