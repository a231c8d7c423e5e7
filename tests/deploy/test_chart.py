"""The chart by Helm's own engine and Kubernetes' own schemas: what it makes is well formed, and hangs together."""

import json

import helm_python as helm
import kubernetes_validate
import pytest

from conftest import CHART, ROOT, VALUES, container, find, notes, render, values_of

# The oldest that the chart takes, one in between, and the newest whose schemas we have.
KUBERNETES = ["1.27", "1.32", "1.37"]
WORKLOADS = ("Deployment", "StatefulSet")
# Kinds that a cluster has only with the Prometheus operator; no schema of Kubernetes knows them.
CUSTOM = ("ServiceMonitor", "PrometheusRule")


def workloads(release):
    return [each for each in release if each["kind"] in WORKLOADS]


def pods(release):
    """The pods' specs, that of `helm test` among them."""
    templates = [each["spec"]["template"] for each in workloads(release)]
    return [each["spec"] for each in [*templates, *(o for o in release if o["kind"] == "Pod")]]


@pytest.mark.parametrize("name", VALUES)
def test_lint_finds_nothing(name):
    report = helm.lint(CHART, values_of(name), strict=True)
    told = [each["error"] for each in report["messages"]]
    assert report["errors"] == []
    assert told in ([], ["icon is recommended"])


@pytest.mark.parametrize("version", KUBERNETES)
def test_kubernetes_knows_every_field(release, version):
    for each in release:
        if each["kind"] not in CUSTOM:
            kubernetes_validate.validate(each, version, strict=True)


@pytest.mark.parametrize("kind", CUSTOM)
def test_custom_kinds_are_as_they_were_agreed(kind):
    """Golden: after a wanted change, write what is shown into the file."""
    [made] = [each for each in render(values_of("everything")) if each["kind"] == kind]
    if kind == "PrometheusRule":
        # The rules themselves are promtool's to check.
        made["spec"] = sorted(made["spec"])
    golden = ROOT / f"tests/deploy/golden/{kind}.json"
    assert json.dumps(made, indent=2) + "\n" == golden.read_text()


def test_names_are_unique(release):
    names = [(each["kind"], each["metadata"]["name"]) for each in release]
    assert len(names) == len(set(names))


def test_selectors_find_the_pods_they_mean(release):
    labels = {each["metadata"]["name"]: each["spec"]["template"]["metadata"]["labels"] for each in workloads(release)}

    def selected(wanted):
        return sorted(name for name, has in labels.items() if wanted.items() <= has.items())

    for each in release:
        name, spec = each["metadata"]["name"], each.get("spec")
        if each["kind"] == "Service":
            every_role = [workload for workload in sorted(labels) if not workload.endswith("-redis")]
            expected = every_role if name.endswith("-operations") else [name]
            assert selected(spec["selector"]) == expected, name
        elif each["kind"] in ("PodDisruptionBudget", *WORKLOADS):
            assert selected(spec["selector"]["matchLabels"]) == [name]
        elif each["kind"] == "NetworkPolicy":
            assert selected(spec["podSelector"]["matchLabels"]) == [name]
        elif each["kind"] == "HorizontalPodAutoscaler":
            assert spec["scaleTargetRef"]["name"] == name and name in labels


def test_ports_that_are_named_are_there(release):
    ports = {
        each["metadata"]["name"]: {port["name"]: port["containerPort"] for port in container(each)["ports"]}
        for each in workloads(release)
    }
    for each in release:
        if each["kind"] == "NetworkPolicy":
            rules = each["spec"]["ingress"]
            named = {port["port"] for rule in rules for port in rule["ports"]}
            assert named <= set(ports[each["metadata"]["name"]])
        elif each["kind"] == "Service" and not each["metadata"]["name"].endswith("-operations"):
            [port] = each["spec"]["ports"]
            assert port["targetPort"] in ports[each["metadata"]["name"]]
        elif each["kind"] in WORKLOADS:
            probes = [container(each)[probe] for probe in ("startupProbe", "readinessProbe", "livenessProbe")]
            asked = {probe["httpGet"]["port"] for probe in probes if "httpGet" in probe}
            assert asked <= set(ports[each["metadata"]["name"]])


def test_secrets_that_are_read_are_made_or_named_in_the_values(release):
    made = {each["metadata"]["name"]: set(each["data"]) for each in release if each["kind"] == "Secret"}
    named = {"our-secrets", "our-redis", "wizard-redis"} - set(made)
    for each in workloads(release):
        for variable in container(each)["env"]:
            secret = variable.get("valueFrom", {}).get("secretKeyRef")
            if secret and secret["name"] not in named:
                assert secret["key"] in made[secret["name"]]


def test_no_container_may_do_more_than_it_must(release):
    for spec in pods(release):
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["runAsUser"] > 0
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] is False
        [only] = spec["containers"]
        assert only["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert set(only["resources"]) == {"requests", "limits"}


def test_only_gateways_and_ai_nodes_reach_game_nodes_and_only_the_project_its_redis():
    release = render({})

    def components(policy, port):
        rules = find(release, "NetworkPolicy", policy)["spec"]["ingress"]
        [rule] = [rule for rule in rules if rule["ports"][0]["port"] == port]
        selectors = [peer["podSelector"] for peer in rule["from"]]
        assert all(each["matchLabels"]["app.kubernetes.io/instance"] == "wizard" for each in selectors)
        by_label = [each["matchLabels"].get("app.kubernetes.io/component") for each in selectors]
        by_list = [each["matchExpressions"][0]["values"] for each in selectors if "matchExpressions" in each]
        return by_list[0] if by_list else by_label

    assert components("wizard-game-node", "links") == ["gateway", "ai-node"]
    assert components("wizard-redis", "redis") == ["gateway", "game-node", "ai-node"]
    [monitoring] = find(release, "NetworkPolicy", "wizard-ai-node")["spec"]["ingress"]
    assert monitoring["ports"] == [{"port": "operations", "protocol": "TCP"}]
    assert all("from" in rule for rule in find(release, "NetworkPolicy", "wizard-game-node")["spec"]["ingress"])


def test_without_anyone_named_nobody_reaches_the_operations_ports():
    for each in render(values_of("everything")):
        if each["kind"] == "NetworkPolicy":
            ports = [port["port"] for rule in each["spec"]["ingress"] for port in rule["ports"]]
            assert "operations" not in ports


def test_an_upgrade_takes_nobody_away_before_the_new_one_is_ready(release):
    for each in release:
        if each["kind"] == "Deployment":
            rolling = each["spec"]["strategy"]["rollingUpdate"]
            assert rolling["maxUnavailable"] == 0 and rolling["maxSurge"] >= 1


def test_an_autoscaler_and_a_fixed_number_do_not_fight(release):
    scaled = {each["metadata"]["name"] for each in release if each["kind"] == "HorizontalPodAutoscaler"}
    for each in release:
        if each["kind"] == "Deployment":
            assert ("replicas" in each["spec"]) == (each["metadata"]["name"] not in scaled)


def test_minimal_is_minimal_and_high_availability_has_nothing_that_stands_alone():
    minimal = {each["kind"] for each in render(values_of("minimal"))}
    assert not minimal & {"NetworkPolicy", "PodDisruptionBudget", "HorizontalPodAutoscaler", "PersistentVolumeClaim"}
    ha = render(values_of("ha"))
    assert not [each for each in ha if each["kind"] == "StatefulSet"]
    scalers = [each["spec"]["minReplicas"] for each in ha if each["kind"] == "HorizontalPodAutoscaler"]
    assert len(scalers) == 3 and min(scalers) >= 3


def test_redis_keeps_what_it_was_told_and_shows_its_password_to_no_list_of_processes():
    release = render({})
    redis = find(release, "StatefulSet", "wizard-redis")
    configuration = find(release, "ConfigMap", "wizard-redis")["data"]["redis.conf"]
    assert "appendonly yes" in configuration and "include /etc/redis/secret/password.conf" in configuration
    assert container(redis)["command"] == ["redis-server", "/etc/redis/redis.conf"]
    [claim] = redis["spec"]["volumeClaimTemplates"]
    assert claim["metadata"]["name"] in [mount["name"] for mount in container(redis)["volumeMounts"]]


def test_notes_say_where_to_play():
    assert "port-forward service/wizard-gateway 8080:80" in notes({})
    assert "https://wizard.example.org/" in notes(values_of("everything"))
    assert "running games end with it" in notes(values_of("minimal"))
