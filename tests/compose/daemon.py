"""A Docker daemon to test with: the one that answers, or one of our own that leaves nothing behind."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DAEMON_WITHIN_SECONDS = 60
PULL_WITHIN_SECONDS = 300
# Where nobody answers, that shows at once, but a client tries for long.
REGISTRY_WITHIN_SECONDS = 20


@contextlib.contextmanager
def running_daemon():
    """Yields once `docker` reaches a daemon."""
    if is_ok("docker", "info"):
        yield
        return
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        sys.exit("make compose-test needs a Docker daemon, or dockerd and root to run one")
    folder = Path(tempfile.mkdtemp(prefix="wizard-docker.", dir="/var/tmp"))
    had_bridge = Path("/sys/class/net/docker0").exists()
    daemon = start_daemon(folder)
    try:
        yield
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait()
        if not had_bridge:
            is_ok("ip", "link", "delete", "docker0")
        shutil.rmtree(folder, ignore_errors=True)


def start_daemon(folder):
    os.environ["DOCKER_HOST"] = f"unix://{folder}/socket"
    print(f"no Docker daemon answers: one of our own runs in {folder}")
    with (folder / "log").open("w") as log:
        daemon = subprocess.Popen(
            ["dockerd", "--data-root", folder / "data", "--exec-root", folder / "exec"]
            + ["--pidfile", folder / "pid", "--host", os.environ["DOCKER_HOST"]],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    until(DAEMON_WITHIN_SECONDS, "dockerd", lambda: is_ok("docker", "info") or daemon.poll() is not None)
    if daemon.poll() is not None:
        sys.exit((folder / "log").read_text())
    return daemon


def base_of_the_image():
    return stages()[-1]


def stages():
    return re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)


def fetch_base_images(to_build):
    """Those that Dockerfile and compose.yaml name; stand-ins of them, where no registry gives them."""
    names = stages() if to_build else [base_of_the_image()]
    names += re.findall(r"image: \$\{(?!WIZARD)\w+:-([^}]+)\}", (ROOT / "compose.yaml").read_text())
    missing = [name for name in names if not is_ok("docker", "image", "inspect", name)]
    if missing and is_ok("docker", "pull", missing[0], seconds=REGISTRY_WITHIN_SECONDS):
        missing = [name for name in missing if not is_ok("docker", "pull", name, seconds=PULL_WITHIN_SECONDS)]
    if missing:
        print(f"no registry gives {', '.join(missing)}: stand-ins are made")
        subprocess.run([HERE / "stand-ins", *missing], check=True)


def builders():
    """The builders that this client has, with what the environment has to say to get them."""
    present = {"classic": {"DOCKER_BUILDKIT": "0"}}
    major = int(text("docker", "version", "--format", "{{.Client.Version}}").split(".")[0])
    if major < 23 or is_ok("docker", "buildx", "version"):
        present["BuildKit"] = {"DOCKER_BUILDKIT": "1"}
    else:
        print("BuildKit is not tried: this docker needs the buildx plugin for it")
    return present


def until(seconds, what, holds):
    """Waits for the thing itself, for at most so long."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            sys.exit(f"{what}: not within {seconds} s")
        time.sleep(0.25)


def is_ok(*command, seconds=None):
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=seconds).returncode == 0
    except (subprocess.TimeoutExpired, FileNotFoundError):
        return False


def text(*command):
    """What it prints. Ends the test if it fails."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {ended.stdout}{ended.stderr}")
    return ended.stdout.strip()
