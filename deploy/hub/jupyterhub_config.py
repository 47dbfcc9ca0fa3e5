"""The course's JupyterHub. What differs from place to place is in hub.yaml, beside the Hub's state.

    DISTLAB_HUB   the folder with hub.yaml, the Hub's state, the exchange and shared data
                  (/srv/distlab)

Everything listens on 127.0.0.1 alone. Secrets are made at the first start, in files that only root
can read.
"""

import json
import os
import secrets
import shutil
import sys
from pathlib import Path

from traitlets.log import get_logger

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import roster  # noqa: E402
import slurm  # noqa: E402
from limits import LimitedProcessSpawner  # noqa: E402

ROOT = Path(os.environ.get("DISTLAB_HUB", "/srv/distlab")).resolve()
BIN = Path(sys.executable).parent
LOCAL = "http://127.0.0.1:{}"

roster.need_nbgrader()
settings = roster.read(ROOT / "hub.yaml")
c = get_config()  # noqa: F821

# the Hub, its proxy and its state
state = ROOT / "state"
state.mkdir(mode=0o700, exist_ok=True)
c.JupyterHub.bind_url = LOCAL.format(settings.port)
c.JupyterHub.hub_bind_url = LOCAL.format(settings.internal_ports)
if settings.subdomain_host:
    c.JupyterHub.subdomain_host = settings.subdomain_host
else:
    get_logger().warning(
        "hub.yaml has no subdomain_host: all users' servers are one origin for browsers, so that a "
        "page of one user's can act as whoever opens it; docs/administrators.md says what to do"
    )
c.ConfigurableHTTPProxy.api_url = LOCAL.format(settings.internal_ports + 1)
c.ConfigurableHTTPProxy.command = [str(HERE / "node_modules/.bin/configurable-http-proxy")]
c.ConfigurableHTTPProxy.pid_file = str(state / "proxy.pid")
c.JupyterHub.cookie_secret_file = str(state / "cookie_secret")
c.JupyterHub.db_url = f"sqlite:///{state}/jupyterhub.sqlite"
c.JupyterHub.cleanup_servers = False  # students work on while the Hub is started again

# who may log in, and what they may do
c.Authenticator.allowed_users = settings.people
c.Authenticator.allow_existing_users = False  # who has left hub.yaml has left
c.JupyterHub.load_groups = settings.groups
c.JupyterHub.load_roles = settings.roles
if settings.authenticator == "pam":
    c.JupyterHub.authenticator_class = "pam"
else:
    password = state / "password"
    if not password.exists():
        password.touch(0o600)
        password.write_text(secrets.token_urlsafe(12))
    c.JupyterHub.authenticator_class = "shared-password"
    c.SharedPasswordAuthenticator.user_password = password.read_text()

# what everybody's server reads: the Hub's own settings of Jupyter, and nbgrader's exchange
jupyter = ROOT / "jupyter"
shutil.copytree(HERE / "jupyter", jupyter, dirs_exist_ok=True)
# a folder that everybody writes to, or one of a service that everybody asks
served = ROOT / "served-exchange"
exchanges = ((served, 0o700),) if settings.exchange_account else ((ROOT / "exchange", 0o1777),)
for folder, mode in ((ROOT, 0o755), (jupyter, 0o755), (ROOT / "data", 0o755), *exchanges):
    folder.mkdir(exist_ok=True)
    folder.chmod(mode)
if settings.exchange_account:
    shutil.chown(served, settings.exchange_account)
exchange_port = settings.internal_ports + 2 + len(settings.courses)
for course in settings.courses.values():
    # the grader's before anybody else can make it; students add to inbound, find their own inputs
    # in own-inputs, and can list neither
    for name, mode in (
        ("", 0o755), ("outbound", 0o755), ("inbound", 0o3733), ("own-inputs", 0o711),
    ):  # fmt: skip
        if settings.exchange_account:
            break
        folder = ROOT / "exchange" / course.id / name
        folder.mkdir(exist_ok=True)
        shutil.chown(folder, course.account)
        folder.chmod(mode)
    if course.folder.stat().st_mode & 0o077:
        raise roster.Mistaken(
            f"{course.folder} holds the solutions: let nobody but {course.account} in "
            f"(chmod 700 {course.folder})"
        )


# the culler asks when a server was last used: it is told so in time
used = min(300, max(1, settings.idle // 4))
c.JupyterHub.last_activity_interval = used


def environment(*configurations: str) -> dict[str, str]:
    """The environment of a server that reads these folders of jupyter/, the first one first."""
    where = {"DISTLAB_EXCHANGE": str(ROOT / "exchange")}
    if settings.exchange_account:
        where = {"DISTLAB_EXCHANGE_URL": f"{LOCAL.format(exchange_port)}/services/exchange/"}
    return {
        "PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "JUPYTER_CONFIG_PATH": os.pathsep.join(str(jupyter / name) for name in configurations),
        "JUPYTER_PATH": str(jupyter / "data"),  # the kernel that is forked as its ranks are
        **where,
        "DISTLAB_DATA": str(ROOT / "data"),
        "DISTLAB_VARIANTS": os.pathsep.join(
            str(ROOT / "exchange" / one.id / "own-inputs")
            for one in settings.courses.values()
            if not settings.exchange_account  # from the service each server fetches its own
        ),
        "JUPYTERHUB_ACTIVITY_INTERVAL": str(used),
        "DISTLAB_SEVERAL_COURSES": "1" if len(settings.courses) > 1 else "",
    }


# servers
c.JupyterHub.spawner_class = {
    "local": LimitedProcessSpawner, "systemd": "systemdspawner.SystemdSpawner",
    "slurm": "batchspawner.SlurmSpawner",
}[settings.spawner]  # fmt: skip
c.Spawner.cmd = [str(BIN / "jupyterhub-singleuser")]
c.Spawner.default_url = "/lab"
c.Spawner.notebook_dir = "~"
c.Spawner.mem_limit = settings.memory
c.Spawner.cpu_limit = settings.cores
c.Spawner.env_keep = []
c.LimitedProcessSpawner.process_limit = settings.processes
c.LimitedProcessSpawner.control_group = settings.control_group
c.LimitedProcessSpawner.kernels = str(ROOT / "kernels") if settings.shared_memory else ""
# ten servers that start at once on two busy cores have taken a minute and a half
c.Spawner.http_timeout = c.Spawner.start_timeout = 300
c.Spawner.server_token_scopes = lambda spawner: settings.scopes(spawner.user.name)


def prepare(spawner) -> None:
    """Give a server the settings of its user: the course list is for those who teach."""
    teaches = settings.teaches(spawner.user.name)
    spawner.environment.update(environment("instructor" if teaches else "student"))


c.Spawner.pre_spawn_hook = prepare
if settings.spawner == "slurm":
    slurm.configure(c, settings)

# formgraders: one for each course, a server of the account that owns it
for number, course in enumerate(settings.courses.values()):
    # a link to the class report, where the course has such
    extra = ["reports"] if (course.folder / "grader" / "plugins" / "formgrader.py").exists() else []
    c.JupyterHub.services.append({
        "name": course.id,
        "url": LOCAL.format(settings.internal_ports + 2 + number),
        "command": [str(BIN / "jupyterhub-singleuser")],
        "user": course.account,
        "cwd": str(course.folder),
        "environment": {
            **environment(*extra, "course"), "PYTHONPATH": str(course.folder),
            "DISTLAB_COURSE": course.id, "JUPYTERHUB_DEFAULT_URL": "/formgrader",
        },
        "oauth_no_confirm": True,
        "timeout": 300,
    })  # fmt: skip
    if settings.grade_on_submit:
        c.JupyterHub.services.append({
            "name": f"{course.id}-grading",
            "command": [str(BIN / "distlab"), "grade", "--watch"],
            "user": course.account,
            "cwd": str(course.folder),
            "environment": {**environment("course"), "DISTLAB_COURSE": course.id},
        })  # fmt: skip

if settings.exchange_account:
    c.JupyterHub.services.append({
        "name": roster.EXCHANGE,
        "url": LOCAL.format(exchange_port),
        "command": [sys.executable, "-m", "distlab.exchange.service", "--root", str(served)],
        "user": settings.exchange_account,
        "cwd": "/",
        "environment": {"DISTLAB_EXCHANGE_GRADERS": json.dumps(settings.graders)},
    })  # fmt: skip

c.JupyterHub.services.append({
    "name": "culler",
    "command": [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={settings.idle}"],
})  # fmt: skip
