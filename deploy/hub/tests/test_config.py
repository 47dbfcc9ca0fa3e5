"""What hub.yaml makes of the Hub's configuration, without a Hub."""

import asyncio
import getpass
import itertools
import json
import os
import subprocess
import sys

import pytest
import yaml

pytest.importorskip("jupyterhub", reason="the Hub is not installed: make hub-env")

import limits
import roster
import slurm
import trial
from batchspawner import SlurmSpawner
from jinja2 import Template
from traitlets.config import Config, PyFileConfigLoader

COURSES = {
    name: {"account": getpass.getuser(), "folder": f"/srv/{name}", **people}
    for name, people in {
        "one": {"instructors": ["lecturer"], "students": ["ada", "ben"]},
        "two": {"instructors": ["ben"], "students": ["ada"]},
    }.items()
}


@pytest.fixture
def settings(tmp_path):
    """`settings(**lines)`: what hub.yaml with these lines is read as."""

    def read(**lines):
        path = tmp_path / "hub.yaml"
        path.write_text(yaml.safe_dump({"courses": COURSES, **lines}))
        return roster.read(path)

    return read


def test_students_of_several_courses_are_in_a_group_of_each(settings):
    groups = settings().groups
    assert groups["nbgrader-one"]["users"] == ["ada", "ben", "lecturer"]
    assert groups["nbgrader-two"]["users"] == ["ada", "ben"]
    assert groups["formgrade-two"]["users"] == ["ben"]
    assert settings().people == {"lecturer", "ada", "ben"}


def test_nobody_may_open_the_formgrader_of_a_course_that_they_take(settings):
    of_ben = settings().scopes("ben")
    assert "access:services!service=two" in of_ben
    assert not any(scope.endswith("service=one") for scope in of_ben)
    assert settings().scopes("ada") == list(roster.OF_EVERY_SERVER)


def test_no_role_is_an_administrators(settings):
    scopes = {scope for role in settings().roles for scope in role["scopes"]}
    assert not any(scope.startswith(("admin", "tokens", "users", "groups")) for scope in scopes)
    assert not {"servers", "access:servers", "access:services", "self", "inherit"} & scopes


def test_an_exchange_that_is_a_service_is_reached_by_servers_and_graders_alone(settings):
    served = settings(exchange_account=getpass.getuser(), grade_on_submit=True)
    assert roster.TO_EXCHANGE in served.scopes("ada")
    (role,) = [role for role in served.roles if role["name"] == "exchange"]
    assert role["scopes"] == [roster.TO_EXCHANGE] and role["groups"] == [
        "nbgrader-one", "nbgrader-two",
    ]  # fmt: skip
    assert role["services"] == ["one", "one-grading", "two", "two-grading"]
    assert served.graders["two-grading"] == "two"
    assert not any(role["name"] == "exchange" for role in settings().roles)


def test_an_exchange_that_is_a_service_is_nobody_elses_folder(started, tmp_path):
    config, _ = started(exchange_account=getpass.getuser())
    assert (tmp_path / "served-exchange").stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / "exchange").exists()
    services = config.JupyterHub.services.get_value([])
    (service,) = [one for one in services if one["name"] == "exchange"]
    assert service["user"] == getpass.getuser() and service["url"].startswith("http://127.0.0.1:")
    assert json.loads(service["environment"]["DISTLAB_EXCHANGE_GRADERS"]) == {"one": "one"}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ({"courses": {}}, "names no course"),
        ({"authenticator": "none"}, "pam, dummy"),
        ({"spawnr": "local"}, "spawnr"),
        ({"courses": {"x": {"account": "no-such-user", "folder": "/"}}}, "no-such-user"),
        ({"courses": {"x": {"folder": "/"}}}, "account"),
        ({"courses": {"x": {**COURSES["one"], "students": ["lecturer"]}}}, "both teach and take"),
        ({"exchange_account": "no-such-user"}, "no user of this machine"),
        ({"courses": {"exchange": COURSES["one"]}}, "call the course otherwise"),
        ({"courses": {"x": {**COURSES["one"], "students": "ada"}}}, "of x are a list, as [ada]"),
        ({"courses": {"x": {**COURSES["one"], "studens": ["ada"]}}}, "course x has 'studens'"),
        ({"courses": {"x": {**COURSES["one"], "students": ["Lecturer"]}}}, "both teach and take"),
        ({"courses": {"x": None}}, "course x needs settings"),
        ({"courses": ["x"]}, "each course by its id"),
        ({"grade_on_submit": "false"}, "grade_on_submit is true or false, not 'false'"),
        ({"port": "8000"}, "port is a whole number, not '8000'"),
        ({"idle": "1h"}, "idle is a whole number"),
    ],
)
def test_a_mistake_in_hub_yaml_is_one_sentence(settings, lines, said):
    with pytest.raises(roster.Mistaken) as refused:
        settings(**lines)
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_a_hub_yaml_without_settings_is_a_mistake(tmp_path):
    (tmp_path / "hub.yaml").write_text("# nothing yet\n")
    with pytest.raises(roster.Mistaken, match="needs settings"):
        roster.read(tmp_path / "hub.yaml")


def test_a_setting_without_a_value_has_its_default(settings):
    read = settings(port=None, slurm=None, subdomain_host=None, cores=2, memory=10**9)
    assert read.port == 8000 and read.slurm == {} and read.subdomain_host == ""


@pytest.mark.parametrize("cores", [0.5, 1.5, 2.0, 4])
def test_a_server_may_have_a_part_of_a_core(settings, cores):
    assert settings(cores=cores).cores == cores


def test_names_are_known_as_the_hub_writes_them(settings):
    """It makes small letters of all: an instructor by another name would get a student's server."""
    course = {**COURSES["one"], "instructors": ["Lecturer"], "students": ["Ada"]}
    read = settings(courses={"one": course})
    assert read.people == {"lecturer", "ada"} and read.teaches("lecturer")


def test_a_process_that_has_the_hubs_number_by_now_is_left_alone(tmp_path):
    (tmp_path / "state").mkdir()
    waits = [sys.executable, "-c", "input()"]
    for folder, ended in ((tmp_path, False), (tmp_path / "state", True)):
        with subprocess.Popen(waits, cwd=folder, stdin=subprocess.PIPE) as other:
            (tmp_path / "state" / "hub.pid").write_text(str(other.pid))
            trial.Trial(tmp_path).stop()
            assert (other.poll() is not None) == ended
            other.kill()


def test_the_committed_hub_yaml_has_only_what_there_is():
    path = roster.Path(roster.__file__).with_name("hub.yaml")
    known = {one.name for one in roster.fields(roster.Settings)}
    assert set(yaml.safe_load(path.read_text())) <= known


def test_a_server_is_a_job_with_the_gpus_and_the_limits_that_were_asked_for(settings):
    c = Config()
    wanted = {"partition": "gpu", "gpus": 1, "hours": 2, "hub": "http://10.0.0.1:8081"}
    slurm.configure(c, settings(spawner="slurm", memory="8G", cores=4, slurm=wanted))
    of_ada = {"req_username": "ada", "req_homedir": "/home/ada", "req_keepvars": "PATH"}
    spawner = SlurmSpawner(config=c, hub=None, **of_ada)
    asked = {**spawner.get_req_subvars(), "cmd": "jupyterhub-singleuser"}
    script = Template(spawner.batch_script).render(**asked)
    for line in (
        "--gres=gpu:1", "--partition=gpu", "--mem=8G", "--cpus-per-task=4", "--time=2:00:00",
        "--nodes=1",
    ):  # fmt: skip
        assert line in script
    assert c.JupyterHub.hub_connect_url == "http://10.0.0.1:8081"


def test_a_setting_that_slurm_does_not_have_is_refused(settings):
    with pytest.raises(roster.Mistaken, match="gpu'"):
        slurm.configure(Config(), settings(slurm={"gpu": 1}))


def test_limits_are_written_to_control_groups_of_the_second_version(tmp_path):
    (tmp_path / "cgroup.controllers").touch()
    folder = tmp_path / "hub" / "7"
    folder.mkdir(parents=True)
    for name in ("memory.max", "cpu.max", "pids.max"):
        (folder / name).touch()
    limits.ControlGroup("hub", "7", tmp_path).make(2**30, 1.5, 100)
    said = {name: (folder / name).read_text() for name in ("memory.max", "cpu.max", "pids.max")}
    assert said == {"memory.max": str(2**30), "cpu.max": "150000 100000", "pids.max": "100"}
    for above in (tmp_path, tmp_path / "hub"):
        assert (above / "cgroup.subtree_control").read_text() == "+memory +cpu +pids"


def test_a_server_that_has_no_limits_here_is_in_no_group(tmp_path):
    """Control groups that cannot be written: it starts all the same."""
    (tmp_path / "cgroup.controllers").touch()
    assert limits.ControlGroup("hub", "7", tmp_path).around(os.getpid()) == []


@pytest.fixture
def process():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as made:
        yield made
        made.kill()


class Group:
    """Stands in for a server's control group: these processes are in it."""

    def __init__(self):
        self.left = []

    def end(self):
        while self.left:
            self.left.pop().kill()
            yield 1


@pytest.fixture
def server(monkeypatch):
    made, group = limits.LimitedProcessSpawner(), Group()
    monkeypatch.setattr(made, "_group", lambda: group)
    return made


@pytest.mark.parametrize("told", [{"pid": "its"}, {"pid": "its", "begun": "then"}])
def test_a_hub_that_comes_back_finds_the_servers_that_it_had(server, process, told):
    words = {"its": process.pid, "then": limits.begun(process.pid)}
    server.load_state({name: words[word] for name, word in told.items()})
    assert asyncio.run(server.poll()) is None
    assert server.get_state() == {name: words[word] for name, word in told.items()}


def test_who_has_the_number_of_a_server_by_now_is_not_taken_for_it(server, process):
    """A Hub that came back waited five minutes for a stranger to answer, and then ended it."""
    server.load_state({"pid": process.pid, "begun": limits.begun(process.pid) - 1})
    asyncio.run(limits.LocalProcessSpawner.stop(server))
    assert asyncio.run(server.poll()) == 0 and server.get_state() == {}
    assert process.poll() is None


def test_a_server_that_has_ended_and_was_not_waited_for_is_no_server(server, process):
    server.load_state({"pid": process.pid, "begun": limits.begun(process.pid)})
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert asyncio.run(server.poll()) == 0


def test_what_a_server_that_died_has_left_behind_ends_when_that_is_noticed(server, process):
    """The Hub stops nobody who has ended by himself: out of memory, say."""
    server._group().left = [process]
    server.proc = subprocess.Popen([sys.executable, "-c", ""])
    server.pid = server.proc.pid
    server.proc.wait()
    assert asyncio.run(server.poll()) == 0
    assert server._group().left == [] and process.wait(10)


def test_what_a_server_that_died_without_a_hub_has_left_behind_ends(server, process):
    server._group().left = [process]
    server.load_state({"pid": os.getpid(), "begun": limits.begun(os.getpid()) - 1})
    assert asyncio.run(server.poll()) == 0
    assert server._group().left == [] and process.wait(10)


def test_nothing_of_an_earlier_server_is_there_when_another_one_begins(
    server, process, monkeypatch
):
    async def begin(self):
        assert self._group().left == []
        return "127.0.0.1", 1

    server._group().left = [process]
    monkeypatch.setattr(limits.LocalProcessSpawner, "start", begin)
    assert asyncio.run(server.start()) == ("127.0.0.1", 1)
    assert process.wait(10)


def test_processes_that_cannot_be_ended_are_not_waited_for_without_end(server, monkeypatch):
    """Until they have waited for a lost disk, nobody could start or stop the server."""
    monkeypatch.setattr(limits, "_LOOKS", 3)
    monkeypatch.setattr(server._group(), "end", lambda: itertools.repeat(1))
    asyncio.run(asyncio.wait_for(server.stop(now=True), 60))


@pytest.fixture
def started(tmp_path, monkeypatch, caplog):
    """`started(**lines)`: (the configuration of a Hub with these lines in hub.yaml, its log)."""
    folder = tmp_path / "course"
    folder.mkdir(mode=0o700)
    courses = {"one": {**COURSES["one"], "folder": str(folder)}}
    monkeypatch.setenv("DISTLAB_HUB", str(tmp_path))

    def start(**lines):
        (tmp_path / "hub.yaml").write_text(
            yaml.safe_dump({"courses": courses, "authenticator": "dummy", **lines})
        )
        caplog.clear()
        loader = PyFileConfigLoader(
            "jupyterhub_config.py", path=str(roster.Path(roster.__file__).parent)
        )
        return loader.load_config(), caplog.text

    return start


def test_a_hub_whose_servers_are_one_origin_warns_of_it(started):
    config, said = started()
    assert "subdomain_host" in said and "docs/administrators.md" in said
    assert "subdomain_host" not in config.JupyterHub
    config, said = started(subdomain_host="https://hub.example.org")
    assert said == "" and config.JupyterHub.subdomain_host == "https://hub.example.org"


def test_a_hub_does_not_start_with_an_nbgrader_that_has_a_hole(started, monkeypatch):
    monkeypatch.setattr(roster.importlib.metadata, "version", lambda name: "0.9.5")
    with pytest.raises(roster.Mistaken, match="nbgrader 0.9.5 .* install 0.9.6"):
        started()


def test_ports_stay_free_while_others_connect():
    first, low = trial._ports(6), int(trial.HANDED_OUT.read_text().split()[0])
    assert 1024 <= first < first + 6 <= low


def test_a_hub_that_does_not_come_up_says_why(tmp_path):
    """As with a course that is not there: the reason is in the message, not in a log alone."""
    made = trial.Trial(tmp_path)
    made.write({"courses": {}})
    with pytest.raises(trial.Refused, match=r"(?s)does not come up.*hub\.log.*courses"):
        made.start()
