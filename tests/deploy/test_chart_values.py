"""Values of the chart: those that can't be are refused by a message that names the key, and all of them are in its README."""

import helm_python as helm
import pytest
import yaml

from conftest import CHART, render
from values_table import table_of

REFUSED = {
    "a typo": ({"gatway": {"replicas": 2}}, "gatway"),
    "a typo below": ({"gateway": {"replica": 2}}, "replica"),
    "a typo far below": ({"gameNode": {"autoscaling": {"maximum": 2}}}, "maximum"),
    "a typo of a variable": ({"gateway": {"config": {"MAX_CONECTIONS": 2}}}, "MAX_CONECTIONS"),
    "another role's variable": ({"aiNode": {"config": {"MAX_CONNECTIONS": 2}}}, "MAX_CONNECTIONS"),
    "a variable that all must agree on": ({"gateway": {"config": {"SESSION_TTL": "60s"}}}, "SESSION_TTL"),
    "a secret in the open": ({"config": {"GATEWAY_SHARED_SECRET": "x"}}, "GATEWAY_SHARED_SECRET"),
    "a variable that the chart sets": ({"config": {"DRAIN_TIMEOUT": "60s"}}, "DRAIN_TIMEOUT"),
    "a word for a number": ({"gateway": {"replicas": "two"}}, "replicas"),
    "a list for a variable": ({"config": {"LOG_LEVEL": ["info"]}}, "LOG_LEVEL"),
    "no gateway": ({"gateway": {"replicas": 0}}, "replicas"),
    "nobody may surge": ({"gameNode": {"maxSurge": 0}}, "maxSurge"),
    "no time to start": ({"readySeconds": 300}, "readySeconds"),
    "no time to drain": ({"drainSeconds": 0}, "drainSeconds"),
    "a digest that is none": ({"image": {"digest": "latest"}}, "digest"),
    "a quantity that is none": ({"aiNode": {"resources": {"limits": {"memory": "much"}}}}, "memory"),
    "a resource that is none": ({"aiNode": {"resources": {"limits": {"memroy": "1Gi"}}}}, "memroy"),
    "a service that is none": ({"gateway": {"service": {"type": "Balancer"}}}, "type"),
    "an Ingress for no host": (
        {"ingress": {"enabled": True}, "gateway": {"trustedProxies": ["10.0.0.0/8"]}},
        "ingress.hosts",
    ),
    "an Ingress that nobody trusts": (
        {"ingress": {"enabled": True, "hosts": ["a.example.org"]}},
        "gateway.trustedProxies",
    ),
    "no Redis": ({"redis": {"enabled": False}}, "externalRedis.existingSecret"),
    "two Redis": ({"externalRedis": {"existingSecret": "r"}}, "externalRedis.existingSecret"),
    "fewer at most than at least": (
        {"gameNode": {"autoscaling": {"enabled": True, "minReplicas": 4, "maxReplicas": 3}}},
        "gameNode.autoscaling.maxReplicas",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_value_is_refused_by_its_key(case):
    values, key = REFUSED[case]
    with pytest.raises(helm.HelmError) as refused:
        with helm.Chart.load(CHART) as chart:
            chart.validate_schema(values)
        render(values)
    assert key in str(refused.value)


def test_every_value_has_a_line_in_the_readme():
    """After a change: python tests/deploy/values_table.py"""
    table = table_of((CHART / "values.yaml").read_text())
    assert table in (CHART / "README.md").read_text()


# What is handed on whole; its keys are Kubernetes' or other programs'.
WHOLE = {"resources", "annotations", "labels", "operationsFrom"}


def test_no_value_is_without_a_use():
    """Whatever can be set is read by a template."""
    templates = "".join(path.read_text() for path in (CHART / "templates").rglob("*.*"))
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert [key for key in keys(values) if key not in templates] == []


def keys(values):
    for key, value in values.items():
        yield key
        if isinstance(value, dict) and key not in WHOLE:
            yield from keys(value)
