"""The units: systemd takes them, they confine what they run and still let it play, and they fit the program's times."""

import os
import re
import shutil
import socket
import subprocess
import sys

import pytest

from conftest import PROGRAM, ROLES, ROOT, seconds
from program import CEILING_SECONDS, free_port, redis, running
from unit import UNITS, Unit

EXAMPLES = UNITS / "examples"
HIGHEST_EXPOSURE = 3.0


def variables_in(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


@pytest.mark.parametrize("role", ROLES)
def test_systemd_takes_the_unit_without_a_word(role, tmp_path):
    unit = tmp_path / f"wizard-{role}@.service"
    # The program is not installed where the tests run.
    unit.write_text(Unit(role).path.read_text().replace("/usr/local/bin/wizard", str(PROGRAM)))
    answer = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / f"wizard-{role}@1.service"], capture_output=True, text=True
    )
    about_ours = [line for line in answer.stderr.splitlines() if "wizard" in line]
    assert (about_ours, answer.returncode) == ([], 0), answer.stderr


@pytest.mark.parametrize("role", ROLES)
def test_little_is_exposed(role):
    answer = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", Unit(role).path], capture_output=True, text=True
    )
    exposure = float(re.search(r"Overall exposure level for .*: ([0-9.]+)", answer.stdout)[1])
    assert exposure < HIGHEST_EXPOSURE


@pytest.mark.parametrize("role", ROLES)
def test_systemd_waits_longer_than_the_program_takes(role, variables):
    unit, defaults = Unit(role), variables[role]
    assert unit.one("Type") == "notify"
    assert unit.one("ExecStart").endswith(f"/wizard {role}")
    assert float(unit.one("TimeoutStopSec")) > seconds(defaults["DRAIN_TIMEOUT"])
    assert float(unit.one("TimeoutStartSec")) > seconds(defaults["READY_TIMEOUT"])
    assert float(unit.one("WatchdogSec")) >= 8, "the threads say every second that they run, systemd is told in quarters"
    assert unit.one("RestartPreventExitStatus") == "78", "which the program ends with for a wrong configuration"


@pytest.mark.parametrize("role", ROLES)
def test_examples_name_variables_of_the_program(role, variables):
    files = [*EXAMPLES.glob(f"{role}-*.env")]
    assert files
    for path in files:
        assert set(variables_in(path)) <= set(variables[role])
    everywhere = {name for of_role in variables.values() for name in of_role}
    assert set(variables_in(EXAMPLES / "wizard.env")) <= everywhere


def test_examples_share_no_port():
    for variable in ("OPS_ADDR", "LISTEN_ADDR"):
        ports = [variables_in(path).get(variable) for path in EXAMPLES.glob("*-*.env")]
        given = [port for port in ports if port]
        assert len(given) == len(set(given))
    assert all("OPS_ADDR" in variables_in(path) for path in EXAMPLES.glob("*-*.env"))


@pytest.fixture
def confined(tmp_path):
    """The three roles, each with no system calls but its unit's, and what they say to systemd."""
    with redis() as (_, port):
        addresses = {role: [f"127.0.0.1:{free_port()}" for _ in range(2)] for role in ROLES}
        started, heard = [], {}
        try:
            for role in ("game-node", "ai-node", "gateway"):
                heard[role] = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                heard[role].bind(str(tmp_path / role))
                heard[role].settimeout(CEILING_SECONDS)
                environment = {
                    "REDIS_URL": f"redis://127.0.0.1:{port}",
                    "OPS_ADDR": addresses[role][1],
                    "NOTIFY_SOCKET": str(tmp_path / role),
                    "WATCHDOG_USEC": "8000000",
                    "AI_MOVE_DELAY": "0",
                    "TRICK_PAUSE": "0",
                }
                if role != "ai-node":
                    environment |= dict.fromkeys(("LISTEN_ADDR", "ADVERTISE_ADDR"), addresses[role][0])
                calls = " ".join(Unit(role).system_calls()).encode()
                command = [sys.executable, ROOT / "tests/deploy/confined.py"]
                process = running([role], environment, command, calls)
                process.__enter__()
                started.append(process)
            yield addresses["gateway"][0], heard
        finally:
            for process in reversed(started):
                process.__exit__(None, None, None)


def test_what_the_units_allow_is_enough_to_play(confined):
    address, heard = confined
    play = ["loadtest", "--url", f"http://{address}", "--humans", "1", "--players", "3", "--games", "1"]
    subprocess.run([PROGRAM, *play, "--think", "100ms", "--duration", "3s"], check=True, timeout=CEILING_SECONDS)
    for role in ROLES:
        said = [heard[role].recv(4096).decode().strip()]
        while said[-1] != "WATCHDOG=1":
            said.append(heard[role].recv(4096).decode().strip())
        assert "READY=1" in said or heard[role].recv(4096).decode().strip() == "READY=1"


def test_what_the_units_forbid_is_forbidden():
    """That the filter above is one: without the calls of sockets, nothing starts."""
    calls = Unit("game-node").system_calls() - {"socket", "bind"}
    answer = subprocess.run(
        [sys.executable, ROOT / "tests/deploy/confined.py", PROGRAM, "game-node"],
        input=" ".join(calls),
        env={"PATH": os.environ["PATH"], "REDIS_URL": "redis://127.0.0.1:1"},
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 1 and "Operation not permitted" in answer.stderr


class Host:
    """A folder as the root of a host, on which `deploy` runs with a stand-in for systemctl."""

    def __init__(self, folder, redis_port):
        self.root = folder
        self.settings = folder / "etc/wizard"
        self.settings.mkdir(parents=True)
        self.bin = folder / "bin"
        self.bin.mkdir()
        shutil.copy(ROOT / "tests/deploy/systemctl", self.bin)
        self.ops = {}
        for example in EXAMPLES.glob("*-*.env"):
            self.ops[example.stem] = f"127.0.0.1:{free_port()}"
            given = variables_in(example) | {"OPS_ADDR": self.ops[example.stem], "LOG_LEVEL": "warn"}
            given |= {"REDIS_URL": f"redis://127.0.0.1:{redis_port}", "AI_MOVE_DELAY": "0", "TRICK_PAUSE": "0"}
            if "LISTEN_ADDR" in given:
                given |= dict.fromkeys(("LISTEN_ADDR", "ADVERTISE_ADDR"), f"127.0.0.1:{free_port()}")
            self.write(example.stem, given)

    def write(self, process, variables):
        text = "".join(f"{name}={value}\n" for name, value in variables.items())
        (self.settings / f"{process}.env").write_text(text)

    def change(self, process, **variables):
        self.write(process, variables_in(self.settings / f"{process}.env") | variables)

    def deploy(self, **environment):
        path = f"{self.bin}:{os.environ['PATH']}"
        return subprocess.run(
            [UNITS / "deploy", PROGRAM],
            env={"PATH": path, "DESTDIR": str(self.root)} | environment,
            capture_output=True,
            text=True,
            timeout=3 * CEILING_SECONDS,
        )

    def calls(self, verb):
        lines = (self.root / "calls").read_text().splitlines()
        return [line.split()[1] for line in lines if line.split()[0] == verb]

    def pids(self):
        return {path.stem: path.read_text() for path in self.root.glob("*.pid")}

    def stop(self):
        environment = {"PATH": os.environ["PATH"], "DESTDIR": str(self.root)}
        for unit in reversed(sorted(self.pids())):
            subprocess.run([self.bin / "systemctl", "stop", unit], env=environment, check=True)


@pytest.fixture
def host(tmp_path):
    with redis() as (_, port):
        host = Host(tmp_path, port)
        try:
            yield host
        finally:
            host.stop()


IN_ORDER = [
    "wizard-ai-node@1.service",
    "wizard-game-node@1.service",
    "wizard-game-node@2.service",
    "wizard-gateway@1.service",
    "wizard-gateway@2.service",
]


def test_a_deployment_ends_when_all_are_ready_and_the_next_one_replaces_each_in_turn(host):
    first = host.deploy()
    assert first.returncode == 0, first.stderr
    assert host.calls("restart") == host.calls("enable") == IN_ORDER
    secrets = variables_in(host.settings / "wizard.env")
    assert all(len(secrets[name]) == 48 for name in ("GATEWAY_SHARED_SECRET", "AI_SHARED_SECRET", "OPERATOR_TOKEN"))
    assert (host.settings / "wizard.env").stat().st_mode & 0o077 == 0
    before = host.pids()

    host.change("game-node-2", MAX_ACTIVE_GAMES="7")
    second = host.deploy()
    assert second.returncode == 0, second.stderr
    assert host.calls("restart") == IN_ORDER * 2
    assert variables_in(host.settings / "wizard.env") == secrets
    assert variables_in(host.settings / "game-node-2.env")["MAX_ACTIVE_GAMES"] == "7", "settings are the operator's"
    assert not set(before.values()) & set(host.pids().values())
    for process, address in host.ops.items():
        asked = subprocess.run([PROGRAM, "health"], env={"OPS_ADDR": address}, capture_output=True, text=True)
        assert asked.returncode == 0, f"{process}: {asked.stderr}"


def test_a_deployment_ends_at_the_first_that_does_not_start(host):
    host.change("game-node-2", LOG_LEVEL="loud")
    answer = host.deploy()
    assert answer.returncode == 1
    assert "wizard-game-node@2.service did not start" in answer.stderr
    assert host.calls("restart") == IN_ORDER[:3]


def test_a_deployment_ends_at_the_first_that_does_not_become_ready(host):
    """systemd may think what it likes: the process is asked itself."""
    (host.bin / "systemctl").write_text('#!/bin/sh\necho "$1" "$2" >>"$DESTDIR/calls"\n')
    answer = host.deploy(WAIT_SECONDS="1")
    assert answer.returncode == 1
    assert "wizard-ai-node@1.service is not ready after 1 s: nobody answers at" in answer.stderr
    assert host.calls("restart") == IN_ORDER[:1]


def test_two_processes_on_one_port_are_refused_before_anything_is_restarted(host):
    host.change("game-node-2", OPS_ADDR=host.ops["game-node-1"])
    answer = host.deploy()
    assert answer.returncode == 1
    assert f"OPS_ADDR: {host.ops['game-node-1']} belongs to more than one process" in answer.stderr
    assert "restart" not in (host.root / "calls").read_text()
