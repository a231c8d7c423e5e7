"""The table of values in the chart's README, out of the comments in values.yaml: python tests/deploy/values_table.py

Each value has a comment that begins with `# --` above it; a value without one is a mistake that ends this.
"""

import pathlib
import re

import yaml

CHART = pathlib.Path(__file__).resolve().parents[2] / "charts/wizard"
BEGIN, END = "<!-- values -->\n", "<!-- end of values -->"


def table_of(text):
    """Key, default and meaning of every value, a line each."""
    lines = ["| value | default | is |", "|---|---|---|"]
    lines += [f"| `{key}` | `{shown(default)}` | {meaning} |" for key, default, meaning in values_of(text)]
    return "\n".join(lines) + "\n"


def values_of(text):
    values = yaml.safe_load(text)
    path, meaning, below = [], None, None
    for line in text.splitlines():
        described = re.match(r"\s*# -- (.*)", line)
        if described:
            meaning = described[1]
            continue
        key = re.match(r"( *)([A-Za-z0-9_./-]+):", line)
        if not key:
            continue
        depth = len(key[1]) // 2
        if below is not None and depth > below:
            continue  # within a default that is described as a whole
        below = None
        path = [*path[:depth], key[2]]
        if meaning:
            yield ".".join(path), at(values, path), meaning
            meaning, below = None, depth
        elif not isinstance(at(values, path), dict):
            raise SystemExit(f"{'.'.join(path)} has no comment that begins with `# --`")


def at(values, path):
    for key in path:
        values = values[key]
    return values


def shown(default):
    if isinstance(default, str):
        return default or '""'
    return yaml.safe_dump(default, default_flow_style=True, width=1000).removesuffix("\n...\n").strip()


if __name__ == "__main__":
    readme = CHART / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    after = rest.split(END)[1]
    readme.write_text(before + BEGIN + table_of((CHART / "values.yaml").read_text()) + END + after)
