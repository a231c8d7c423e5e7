"""A release over its life, by Helm's own client: what an upgrade leaves as it was."""

import base64

import helm_python as helm
import pytest

from cluster import cluster
from conftest import CHART, find, render


@pytest.fixture
def installed():
    """A cluster on which the chart was installed, and a function that upgrades it."""
    # Releases are kept in memory: in a cluster they are written in a form that only a real one reads.
    connection = {"namespace": "games", "storage_driver": "memory"}
    with cluster() as api, helm.Config(kube_apiserver=api.url, **connection) as client:
        client.install(CHART, "wizard", {}, namespace="games")
        yield api, lambda values: client.upgrade(CHART, "wizard", values, namespace="games")


def test_secrets_are_made_once_and_kept_over_upgrades(installed):
    api, upgrade = installed
    before = {name: dict(api.named("secrets", name)["data"]) for name in ("wizard", "wizard-redis")}
    assert set(before["wizard"]) == {"gateway-shared-secret", "ai-shared-secret", "operator-token"}
    assert all(len(base64.b64decode(secret)) == 32 for secret in before["wizard"].values())
    assert len(set(before["wizard"].values())) == 3
    upgrade({"gameNode": {"replicas": 5}})
    assert api.named("deployments", "wizard-game-node")["spec"]["replicas"] == 5
    assert {name: api.named("secrets", name)["data"] for name in before} == before


def test_secrets_that_somebody_has_changed_are_kept_too(installed):
    api, upgrade = installed
    changed = base64.b64encode(b"a new one").decode()
    api.named("secrets", "wizard")["data"]["operator-token"] = changed
    upgrade({})
    assert api.named("secrets", "wizard")["data"]["operator-token"] == changed


def test_the_url_of_redis_has_its_password():
    release = render({})
    secret = {
        key: base64.b64decode(value).decode() for key, value in find(release, "Secret", "wizard-redis")["data"].items()
    }
    assert secret["redis-url"] == f"redis://:{secret['password']}@wizard-redis:6379"
    assert secret["password.conf"] == f"requirepass {secret['password']}\n"
    assert find(release, "Service", "wizard-redis")["spec"]["ports"][0]["port"] == 6379


def test_an_upgrade_changes_no_pod_without_a_reason(installed):
    api, upgrade = installed
    names = ("wizard-gateway", "wizard-game-node", "wizard-ai-node")
    before = [api.named("deployments", name)["spec"]["template"] for name in names]
    redis = api.named("statefulsets", "wizard-redis")["spec"]["template"]
    upgrade({"monitoring": {"dashboard": {"enabled": True}}})
    assert [api.named("deployments", name)["spec"]["template"] for name in names] == before
    assert api.named("statefulsets", "wizard-redis")["spec"]["template"] == redis
