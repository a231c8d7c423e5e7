"""One run of compose.yaml, in a folder and under a name of its own, with secrets drawn as operators draw them."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from daemon import ROOT, is_ok, text, until

# 30 tries each 2 s, for each of four that wait for one another; a small machine starts them all at once.
HEALTHY_WITHIN_SECONDS = 240


class Project:
    """What `docker-compose` started, and how to look at it."""

    def __init__(self, folder, name, image):
        self.folder = folder
        self.name = name
        self.image = image
        self.port = free_port()
        self.compose_command = ["docker", "compose"] if is_ok("docker", "compose", "version") else ["docker-compose"]
        # Nothing else of ours: what .env says must hold.
        self.environment = {
            name: value for name, value in os.environ.items() if name in ("PATH", "HOME") or name.startswith("DOCKER_")
        }
        self.environment["COMPOSE_PROJECT_NAME"] = name

    def configure(self, **variables):
        """Adds to .env, as an operator does."""
        with (self.folder / ".env").open("a") as file:
            file.writelines(f"{name}={value}\n" for name, value in variables.items())

    def compose(self, *arguments):
        return self.run([*self.compose_command, *arguments])

    def run(self, command):
        ended = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        if ended.returncode:
            sys.exit(f"{' '.join(map(str, command))}:\n{ended.stdout}{ended.stderr}\n{self.logs()}")
        return ended.stdout.strip()

    def containers(self, service):
        ids = self.compose("ps", "--quiet", service).split()
        return [json.loads(text("docker", "inspect", one))[0] for one in ids]

    def wait_until_healthy(self, **counts):
        """Until each service has so many containers, and all of them are healthy."""

        def healthy():
            return all(
                [one["State"]["Health"]["Status"] for one in self.containers(service.replace("_", "-"))]
                == ["healthy"] * count
                for service, count in counts.items()
            )

        until(HEALTHY_WITHIN_SECONDS, f"{counts} healthy", healthy)

    def inside(self, service, *command):
        return self.compose("exec", "-T", service, *command)

    def nodes(self):
        """The fleet as an operator sees it."""
        return json.loads(self.inside("gateway-1", "wizard", "nodes", "list", "--json"))

    def logs(self):
        with contextlib.suppress(OSError):
            return subprocess.run(
                [*self.compose_command, "logs", "--tail", "20"],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
                check=False,
            ).stdout
        return ""


class Players:
    """`wizard loadtest` in a container: its players check every state that they are shown against the rules."""

    def __init__(self, project, *arguments, network=None, url="http://caddy"):
        network = network or f"{project.name}_public"
        self.id = text(
            *["docker", "run", "--detach", "--label", project.name, "--network", network, project.image],
            *["loadtest", "--json", "--url", url, *arguments],
        )

    def are_at_it(self):
        return text("docker", "inspect", "--format", "{{.State.Running}}", self.id) == "true"

    def report(self, within_seconds):
        """Once they have finished; their first complaint ends the test."""
        until(within_seconds, "the end of the games", lambda: not self.are_at_it())
        code = text("docker", "inspect", "--format", "{{.State.ExitCode}}", self.id)
        logs = subprocess.run(["docker", "logs", self.id], capture_output=True, text=True, check=True)
        text("docker", "rm", self.id)
        if code != "0":
            sys.exit(f"players complain: {logs.stderr}{logs.stdout}")
        return json.loads(logs.stdout)


@contextlib.contextmanager
def project(image):
    """Yields a project that has not been started. Nothing of it stays."""
    name = f"wizardtest{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix="wizard-compose.") as folder:
        folder = Path(folder)
        shutil.copy(ROOT / "compose.yaml", folder)
        for needed in ("caddy", "scripts"):
            shutil.copytree(ROOT / needed, folder / needed)
        made = Project(folder, name, image)
        made.run([folder / "scripts/secrets"])
        made.configure(WIZARD_IMAGE=image, PUBLISH_ADDRESS="127.0.0.1", HTTP_PORT=made.port, HTTPS_PORT=free_port())
        try:
            yield made
        finally:
            with contextlib.suppress(SystemExit):
                leftover = text("docker", "ps", "--all", "--quiet", "--filter", f"label={name}").split()
                if leftover:
                    text("docker", "rm", "--force", *leftover)
                made.compose("down", "--volumes", "--timeout", "1")


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]
