"""The chart beside the program: every variable it sets exists, and its probes and grace periods fit the program's times."""

import json

import pytest

from conftest import CHART, ROLES, container, find, render, seconds, values_of

# What the chart sets by itself, from other values or from the pod.
SET_BY_THE_CHART = {
    "OPS_ADDR", "READY_TIMEOUT", "DRAIN_TIMEOUT", "LISTEN_ADDR", "ADVERTISE_ADDR", "NODE_ID", "REDIS_URL",
    "GATEWAY_SHARED_SECRET", "AI_SHARED_SECRET", "OPERATOR_TOKEN", "TRUSTED_PROXIES",
}  # fmt: skip
# Read by libraries of the program: which certificates to believe, and OpenTelemetry's own.
STANDARD = {"SSL_CERT_FILE", "OTEL_EXPORTER_OTLP_ENDPOINT"}


def environment(workload):
    return {variable["name"]: variable for variable in container(workload)["env"]}


def of_role(release, role):
    [found] = [
        each
        for each in release
        if each["kind"] == "Deployment" and each["metadata"]["labels"]["app.kubernetes.io/component"] == role
    ]
    return found


@pytest.mark.parametrize("role", ROLES)
def test_every_variable_of_a_pod_is_the_programs(release, role, variables):
    given = environment(of_role(release, role))
    # The pod's address is no variable of the program, but part of one.
    own = set(given) - STANDARD - {"POD_IP"}
    assert own <= set(variables[role])
    if "POD_IP" in given:
        names = list(given)
        assert "$(POD_IP)" in given["ADVERTISE_ADDR"]["value"]
        assert names.index("POD_IP") < names.index("ADVERTISE_ADDR"), "a variable is known only to those after it"


def test_every_variable_of_the_program_can_be_set(variables):
    """A new variable of the program belongs into values.schema.json, or the chart sets it itself."""
    schema = json.loads((CHART / "values.schema.json").read_text())["properties"]
    everywhere = set(schema["config"]["properties"])
    for role, key in [("gateway", "gateway"), ("game-node", "gameNode"), ("ai-node", "aiNode")]:
        can_be_set = everywhere | set(schema[key]["properties"]["config"]["properties"])
        assert can_be_set | SET_BY_THE_CHART >= set(variables[role])
        assert can_be_set <= set(variables[role])


@pytest.mark.parametrize("role", ROLES)
def test_probes_ask_for_what_has_been_tried(release, role):
    pod = container(of_role(release, role))
    started, ready, alive = pod["startupProbe"], pod["readinessProbe"], pod["livenessProbe"]
    assert (started["httpGet"]["path"], started["periodSeconds"], started["failureThreshold"]) == ("/ready", 2, 60)
    assert (ready["httpGet"]["path"], ready["periodSeconds"]) == ("/ready", 5)
    assert alive["httpGet"]["path"] == "/health"
    assert alive["periodSeconds"] * alive["failureThreshold"] >= 60, "patient"
    assert not any("initialDelaySeconds" in probe for probe in (started, ready, alive))


@pytest.mark.parametrize("role", ROLES)
def test_ports_are_those_that_the_program_listens_on(release, role):
    workload = of_role(release, role)
    ports = {port["name"]: port["containerPort"] for port in container(workload)["ports"]}
    given = environment(workload)

    def port_of(variable):
        return int(given[variable]["value"].rsplit(":", 1)[1])

    assert port_of("OPS_ADDR") == ports["operations"]
    for port in set(ports) - {"operations"}:
        assert port_of("LISTEN_ADDR") == port_of("ADVERTISE_ADDR") == ports[port]


@pytest.mark.parametrize("role", ROLES)
def test_kubernetes_waits_longer_than_the_program_takes(release, role):
    workload = of_role(release, role)
    given = environment(workload)
    started = container(workload)["startupProbe"]
    ceiling = started["periodSeconds"] * started["failureThreshold"]
    assert ceiling > seconds(given["READY_TIMEOUT"]["value"])
    grace = workload["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    if role == "gateway":
        assert grace > 3, "over which a gateway closes its players' sockets"
    else:
        assert grace > seconds(given["DRAIN_TIMEOUT"]["value"])


def test_defaults_are_the_programs(variables):
    release = render({})
    for role in ROLES:
        given = environment(of_role(release, role))
        for name in ("DRAIN_TIMEOUT", "READY_TIMEOUT"):
            assert given[name]["value"] == variables[role][name]
    listen = {role: environment(of_role(release, role))["LISTEN_ADDR"]["value"] for role in ("gateway", "game-node")}
    assert listen == {"gateway": "0.0.0.0:8080", "game-node": "0.0.0.0:7000"}


def test_players_who_think_are_not_cut_off_by_the_ingress():
    """A gateway gives up on a player after 60 s without a sign; nothing before it may be quicker."""
    annotations = find(render(values_of("everything")), "Ingress", "cards")["metadata"]["annotations"]
    prefix = "nginx.ingress.kubernetes.io/proxy"
    assert int(annotations[f"{prefix}-read-timeout"]) > 60 and int(annotations[f"{prefix}-send-timeout"]) > 60


def test_pages_of_others_may_not_connect_through_the_ingress():
    given = environment(of_role(render(values_of("everything")), "gateway"))
    assert given["ALLOWED_ORIGINS"]["value"] == "https://wizard.example.org,https://cards.example.org"
    assert given["TRUSTED_PROXIES"]["value"] == "10.0.0.0/16,fd00::/64"
    assert given["MAX_CONNECTIONS"]["value"] == "2000000"
