"""A unit file as far as these tests read it."""

import subprocess

from conftest import ROOT

UNITS = ROOT / "deploy/systemd"


class Unit:
    """`wizard-ROLE@.service`, and what its settings say."""

    def __init__(self, role):
        self.path = UNITS / f"wizard-{role}@.service"
        lines = [line for line in self.path.read_text().splitlines() if "=" in line and not line.startswith("#")]
        self.settings = [line.split("=", 1) for line in lines]

    def all(self, name):
        return [value for key, value in self.settings if key == name]

    def one(self, name):
        [value] = self.all(name)
        return value

    def system_calls(self):
        """The names that SystemCallFilter lets through, by systemd's own groups."""
        allowed = set()
        for words in self.all("SystemCallFilter"):
            names = {call for word in words.removeprefix("~").split() for call in expanded(word)}
            allowed = allowed - names if words.startswith("~") else allowed | names
        return allowed


def expanded(word):
    if not word.startswith("@"):
        return {word}
    answer = subprocess.run(["systemd-analyze", "syscall-filter", word], capture_output=True, text=True, check=True)
    lines = [line.strip() for line in answer.stdout.splitlines()[1:]]
    return {call for line in lines if line and not line.startswith("#") for call in expanded(line)}
