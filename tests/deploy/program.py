"""The program as a process of its own, on ports that nobody else has, and a player's socket to it in a few lines."""

import base64
import contextlib
import json
import os
import random
import socket
import struct
import subprocess
import time
import urllib.request

from conftest import PROGRAM

# Generous: it is only waited for as long as it takes.
CEILING_SECONDS = 60


def free_port():
    """Below those that the system gives out by itself, so that no other program draws it meanwhile."""
    while True:
        port = random.randrange(20000, 30000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def wait_until(true, what):
    """Waits for the thing itself."""
    end = time.monotonic() + CEILING_SECONDS
    while not true():
        assert time.monotonic() < end, f"{what}: not within {CEILING_SECONDS} s"
        time.sleep(0.05)


def get(address, path):
    """Status and body, or None while nobody answers."""
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return None


@contextlib.contextmanager
def running(arguments, environment, command=(), given=b""):
    """A process that is ready; `environment` has its OPS_ADDR. `command` runs it, if not the system itself, and is given that."""
    plain = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = subprocess.Popen(
        [*command, PROGRAM, *arguments],
        env=plain | {"LOG_LEVEL": "warn"} | environment,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(given)
    process.stdin.close()
    process.stdin = None
    try:

        def is_ready():
            assert process.poll() is None, process.stderr.read().decode()
            return (get(environment["OPS_ADDR"], "/ready") or [None])[0] == 200

        wait_until(is_ready, f"{arguments} is ready")
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=CEILING_SECONDS)


@contextlib.contextmanager
def redis(*configuration):
    """A Redis by that file, or one that keeps nothing, and its port."""
    port = free_port()
    own = ["--port", str(port), "--bind", "127.0.0.1", "--daemonize", "no"]
    process = subprocess.Popen(
        ["redis-server", *(configuration or ["--save", ""]), *own], stdout=subprocess.DEVNULL
    )

    def answers():
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(1) in b"+-"

    try:
        wait_until(answers, "Redis answers")
        yield process, port
    finally:
        process.terminate()
        process.wait()


class Player:
    """One WebSocket of a player: says and hears JSON."""

    def __init__(self, address, origin=None):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=CEILING_SECONDS)
        self.file = self.socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        head = [
            "GET /ws HTTP/1.1",
            f"host: {address}",
            "connection: upgrade",
            "upgrade: websocket",
            "sec-websocket-version: 13",
            f"sec-websocket-key: {key}",
            *([f"origin: {origin}"] if origin else []),
        ]
        self.socket.sendall(("\r\n".join(head) + "\r\n\r\n").encode())
        while self.file.readline().strip():
            pass

    def say(self, message):
        text = json.dumps(message).encode()
        length = bytes([0x80 | len(text)]) if len(text) < 126 else b"\xff" + struct.pack(">Q", len(text))
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(text))
        self.socket.sendall(b"\x81" + length + mask + masked)

    def hear(self, kind):
        """The next message of that type."""
        while True:
            opcode, length = self.file.read(2)
            assert opcode & 15 != 8, "closed"
            if length == 126:
                [length] = struct.unpack(">H", self.file.read(2))
            message = self.file.read(length)
            if opcode & 15 == 1 and json.loads(message)["type"] == kind:
                return json.loads(message)

    def close_code(self):
        """That with which the other side closes, whatever comes before."""
        while True:
            opcode, length = self.file.read(2)
            message = self.file.read(length)
            if opcode & 15 == 8:
                return struct.unpack(">H", message[:2])[0]
