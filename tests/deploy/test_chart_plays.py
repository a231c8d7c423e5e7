"""The fleet of the chart without its cluster: its Redis' configuration, each role's environment, and `helm test`, as processes."""

import base64
import contextlib
import re
import subprocess

import pytest

from conftest import PROGRAM, ROLES, container, find, render, values_of
from program import CEILING_SECONDS, free_port, get, redis, running, wait_until


def data_of(release, kind, name):
    """Of a Secret or ConfigMap, in the clear."""
    data = find(release, kind, name)["data"]
    return {key: base64.b64decode(value).decode() for key, value in data.items()} if kind == "Secret" else data


def environment_of(release, role, pod_ip):
    """A pod's environment as Kubernetes would make it, with secrets where they are rendered."""
    environment = {"POD_IP": pod_ip}
    [workload] = [
        each
        for each in release
        if each["kind"] == "Deployment" and each["metadata"]["labels"]["app.kubernetes.io/component"] == role
    ]
    for variable in container(workload)["env"]:
        source = variable.get("valueFrom", {})
        if "secretKeyRef" in source:
            secret = source["secretKeyRef"]
            environment[variable["name"]] = data_of(release, "Secret", secret["name"])[secret["key"]]
        elif "fieldRef" in source:
            environment.setdefault(variable["name"], f"wizard-{role}-5d9c7b6f4-x2x5z")
        else:
            environment[variable["name"]] = variable["value"].replace("$(POD_IP)", pod_ip)
    return environment


@contextlib.contextmanager
def redis_of(release, folder):
    """By the chart's configuration, with a folder in the place of the volumes."""
    (folder / "secret").mkdir()
    (folder / "data").mkdir()
    (folder / "secret/password.conf").write_text(data_of(release, "Secret", "wizard-redis")["password.conf"])
    text = data_of(release, "ConfigMap", "wizard-redis")["redis.conf"]
    text = text.replace("/etc/redis/", f"{folder}/").replace("dir /data", f"dir {folder}/data")
    (folder / "redis.conf").write_text(text)
    with redis(str(folder / "redis.conf")) as (_, port):
        yield port


def test_the_fleet_of_the_chart_plays_what_helm_test_plays(tmp_path):
    release = render({"test": {"seconds": 5}, "gameNode": {"config": {"TRICK_PAUSE": 0}}})
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(redis_of(release, tmp_path))
        players = f"127.0.0.1:{free_port()}"
        for role in ("game-node", "ai-node", "gateway"):
            environment = environment_of(release, role, "127.0.0.1")
            # Here all pods share one address, and no service has a name.
            environment["REDIS_URL"] = environment["REDIS_URL"].replace("wizard-redis:6379", f"127.0.0.1:{port}")
            environment["OPS_ADDR"] = f"127.0.0.1:{free_port()}"
            if role != "ai-node":
                listen = players if role == "gateway" else f"127.0.0.1:{free_port()}"
                environment |= dict.fromkeys(("LISTEN_ADDR", "ADVERTISE_ADDR"), listen)
            stack.enter_context(running([role], environment))
        [pod] = [each for each in release if each["kind"] == "Pod"]
        assert pod["metadata"]["annotations"]["helm.sh/hook"] == "test"
        arguments = container({"spec": {"template": pod}})["args"]
        service = find(release, "Service", "wizard-gateway")["spec"]["ports"][0]["port"]
        assert f"--url=http://wizard-gateway:{service}" in arguments
        there = [argument.replace(f"wizard-gateway:{service}", players) for argument in arguments]
        assert subprocess.run([PROGRAM, *there], timeout=CEILING_SECONDS).returncode == 0
        assert list((tmp_path / "data").rglob("*.aof")), "append-only"
    assert subprocess.run([PROGRAM, *there], timeout=CEILING_SECONDS, capture_output=True).returncode != 0


@pytest.mark.parametrize("role", ROLES)
def test_the_program_takes_every_value_that_the_chart_gives_it(role):
    """It answers on its operations port only after it has read all of them."""
    values = values_of("everything")
    # Nobody there collects.
    del values["config"]["OTEL_EXPORTER_OTLP_ENDPOINT"]
    release = render(values)
    environment = environment_of(release, role, "fd00::7")
    if role != "ai-node":
        assert re.fullmatch(r"\[fd00::7\]:\d+", environment["ADVERTISE_ADDR"])
        environment["LISTEN_ADDR"] = f"127.0.0.1:{free_port()}"
    environment |= {"OPS_ADDR": f"127.0.0.1:{free_port()}", "REDIS_URL": "redis://127.0.0.1:1", "DRAIN_TIMEOUT": "0"}
    process = subprocess.Popen([PROGRAM, role], env=environment, stderr=subprocess.PIPE)
    try:
        wait_until(lambda: get(environment["OPS_ADDR"], "/health") or process.poll() is not None, "it answers or ends")
        assert process.poll() is None, process.stderr.read().decode()
    finally:
        process.kill()
        process.communicate()
