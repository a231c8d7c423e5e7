"""What the tests of the deployment share: the program's own word on its variables, and the chart as Helm renders it.

Nothing here needs a cluster or the internet. The program is the one that `scripts/test` has just built.
"""

import pathlib
import re
import subprocess

import helm_python as helm
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "target/debug/wizard"
CHART = ROOT / "charts/wizard"
ROLES = ["gateway", "game-node", "ai-node"]

# By the name of the test's parameter; the chart's own defaults are the empty one.
VALUES = {
    "default": None,
    "ha": CHART / "values-ha.yaml",
    "external-redis": ROOT / "tests/deploy/values/external-redis.yaml",
    "minimal": ROOT / "tests/deploy/values/minimal.yaml",
    "everything": ROOT / "tests/deploy/values/everything.yaml",
}


def values_of(name):
    """The values that a release of that name would be given."""
    path = VALUES[name]
    return yaml.safe_load(path.read_text()) if path else {}


def render(values, name="wizard"):
    """All objects of a release, as `helm template` would print them; notes are left out."""
    with helm.Chart.load(CHART) as chart:
        rendered = chart.render(values, name=name, namespace="games")
    texts = [text for path, text in rendered.items() if not path.endswith("NOTES.txt")]
    return [document for text in texts for document in yaml.safe_load_all(text) if document]


def notes(values):
    """What Helm says after an installation."""
    with helm.Chart.load(CHART) as chart:
        return chart.render(values, name="wizard", namespace="games")["wizard/templates/NOTES.txt"]


def find(objects, kind, name):
    """The one object of that kind and name."""
    [found] = [each for each in objects if each["kind"] == kind and each["metadata"]["name"] == name]
    return found


def container(workload):
    """The only container of a Deployment or StatefulSet."""
    [only] = workload["spec"]["template"]["spec"]["containers"]
    return only


def seconds(text):
    """A duration as the program writes it: `60s`, or a plain number."""
    return float(text.removesuffix("s"))


def variables_of(role):
    """Each variable of `wizard ROLE --help` with its default, or None where the help has no plain one."""
    answer = subprocess.run([PROGRAM, role, "--help"], capture_output=True, text=True, check=True)
    text = re.sub(r"\s+", " ", answer.stdout)
    entries = re.findall(r"\[env: ([A-Z_]+)\](?: \[default: ([^\]]+)\])?", text)
    return {name: default or None for name, default in entries}


@pytest.fixture(scope="session")
def variables():
    """By role, the program's variables with their defaults."""
    return {role: variables_of(role) for role in ROLES}


@pytest.fixture(scope="session", params=VALUES)
def release(request):
    """The objects of each of the releases that we try; nobody changes them."""
    return render(values_of(request.param))
