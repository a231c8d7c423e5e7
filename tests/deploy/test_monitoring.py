"""Alerts and dashboard: promtool takes the rules, they fire when they should, and what they ask for is on `/metrics`."""

import contextlib
import json
import re
import shutil
import subprocess

import pytest
import yaml

from conftest import CHART, PROGRAM, ROOT, render, values_of
from program import Player, free_port, get, redis, running, wait_until

PROMTOOL = ROOT / "target/deployment-tools/bin/promtool"
ALERTS = CHART / "files/alerts.yaml"
DASHBOARD = CHART / "files/dashboard.json"
# Given by whoever scrapes, not by the program.
SCRAPED = {"up"}
LABELS_OF_SCRAPING = {"application", "namespace", "role", "instance"}


def promtool(*arguments, folder):
    answer = subprocess.run([PROMTOOL, *arguments], cwd=folder, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_promtool_takes_the_rules_of_the_chart(tmp_path):
    [rule] = [each for each in render(values_of("ha")) if each["kind"] == "PrometheusRule"]
    assert rule["spec"] == yaml.safe_load(ALERTS.read_text())
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rule["spec"]))
    promtool("check", "rules", "rules.yaml", folder=tmp_path)


def test_promtool_takes_the_configuration_in_the_book_and_it_asks_every_example(tmp_path):
    [written] = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/systemd.md").read_text(), re.DOTALL)
    (tmp_path / "prometheus.yaml").write_text(written.replace("/etc/prometheus/wizard.yaml", str(ALERTS)))
    promtool("check", "config", "prometheus.yaml", folder=tmp_path)
    [job] = yaml.safe_load(written)["scrape_configs"]
    asked = {target: group["labels"]["role"] for group in job["static_configs"] for target in group["targets"]}
    examples = {
        re.search("^OPS_ADDR=(.*)$", path.read_text(), re.MULTILINE)[1]: path.stem.rsplit("-", 1)[0]
        for path in (ROOT / "deploy/systemd/examples").glob("*-*.env")
    }
    assert asked == examples


def test_alerts_come_when_they_should(tmp_path):
    shutil.copy(ALERTS, tmp_path)
    shutil.copy(ROOT / "tests/deploy/alerts_test.yaml", tmp_path)
    promtool("test", "rules", "alerts_test.yaml", folder=tmp_path)


def test_every_alert_is_tried_and_in_the_book():
    alerts = {rule["alert"] for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]}
    tried = yaml.safe_load((ROOT / "tests/deploy/alerts_test.yaml").read_text())["tests"]
    fired = {one["alertname"] for test in tried for one in test["alert_rule_test"] if "exp_alerts" in one}
    # A role is gone when all its processes are down, which is tried for one.
    assert alerts - fired <= {"WizardRoleGone"}
    book = (ROOT / "docs/kubernetes.md").read_text()
    assert [alert for alert in sorted(alerts) if f"`{alert}`" not in book] == []


def expressions():
    rules = [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]
    yield from ((rule["alert"], rule["expr"]) for rule in rules)
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        yield from ((panel["title"], target["expr"]) for target in panel.get("targets", []))


@pytest.fixture(scope="module")
def metrics():
    """`/metrics` of all roles after a game, a refusal of each kind, a table that moved, and the end of their Redis."""
    with redis() as (server, port), contextlib.ExitStack() as processes:
        common = {
            "REDIS_URL": f"redis://127.0.0.1:{port}",
            "ALLOWED_ORIGINS": "https://wizard.example.org",
            "AI_MOVE_DELAY": "0",
            "TRICK_PAUSE": "0",
            "LOG_LEVEL": "error",
            # With its Redis gone, nothing of it can be handed over.
            "DRAIN_TIMEOUT": "1",
        }
        operations = []

        def run(role, **own):
            own |= {"LISTEN_ADDR": f"127.0.0.1:{free_port()}", "OPS_ADDR": f"127.0.0.1:{free_port()}"}
            processes.enter_context(running([role], common | own))
            operations.append(own["OPS_ADDR"])
            return own["LISTEN_ADDR"]

        run("game-node", MAX_ACTIVE_GAMES="1")
        run("ai-node")
        players = run("gateway")
        hosts = [host_of_a_table(players) for _ in range(2)]
        run("game-node")
        # The second of these games has room at the other node only.
        for host in hosts:
            start(host)
        play = ["loadtest", "--url", f"http://{players}", "--humans", "1", "--players", "3", "--games", "1"]
        subprocess.run(
            [PROGRAM, *play, "--think", "100ms", "--duration", "3s"], check=True, capture_output=True, timeout=60
        )
        be_refused(players)
        server.terminate()
        for address in operations:
            wait_until(lambda: "registry_error_total" in get(address, "/metrics")[1], "an error of Redis is counted")
        return "".join(get(address, "/metrics")[1] for address in operations)


def host_of_a_table(players):
    player = Player(players)
    player.say({"type": "hello", "token": None})
    player.say({"type": "create_lobby", "name": "Nimue"})
    for _ in range(2):
        player.say({"type": "add_ai"})
    while len((player.hear("state")["lobby"] or {"players": []})["players"]) < 3:
        pass
    return player


def start(host):
    host.say({"type": "start_game"})
    while host.hear("state")["game"] is None:
        pass


def be_refused(players):
    assert Player(players, origin="https://elsewhere.example.org").close_code() == 1008
    player = Player(players)
    player.say({"type": "start_game"})
    assert player.hear("error")["code"] == "hello_required"
    player.say({"type": "hello", "token": None})
    player.say({"type": "create_lobby", "name": "Merlin"})
    player.say({"type": "start_game"})
    assert player.hear("error")["code"] == "not_enough_players"
    player.say({"type": "ping", "nonce": "x" * 70_000})
    assert player.close_code() == 1009


def test_whatever_is_asked_for_is_on_metrics(metrics):
    """By name and label, so that no alert stays silent for a word that has changed."""
    shown = {}
    for name, labels in re.findall(r"^([a-z_]+)(?:\{(.*)\})? ", metrics, re.MULTILINE):
        shown.setdefault(name, set()).update(re.findall(r'([a-z_]+)="', labels))
    for what, expression in expressions():
        for name, matchers in re.findall(r"([a-z_]+)\{([^}]*)\}", expression):
            if name in SCRAPED:
                continue
            assert name in shown, f"{what}: {name} is not on /metrics"
            asked = set(re.findall(r"([a-z_]+)[!=]", matchers))
            assert asked <= shown[name] | LABELS_OF_SCRAPING, f"{what}: {name} has no such labels"
            assert "application" in asked, f"{what}: {name} of whatever else is scraped"


def test_grouping_labels_exist(metrics):
    known = set(re.findall(r'([a-z_]+)="', metrics)) | LABELS_OF_SCRAPING
    for what, expression in expressions():
        grouped = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(", ")}
        assert grouped <= known, what


def test_the_dashboard_fits_its_grid():
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = set()
    for panel in panels:
        at = panel["gridPos"]
        mine = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not mine & cells and max(x for x, _ in mine) < 24, panel["title"]
        cells |= mine
