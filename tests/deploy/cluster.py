"""A stand-in for a cluster's API: keeps what Helm gives it, and does nothing with it.

It is there to see what an upgrade makes of what an installation has left. It speaks what Helm's client asks: discovery, and
reading, creating, applying and deleting of objects; no watching, no defaults, no validation.
"""

import contextlib
import http.server
import json
import threading
import urllib.parse

import yaml

# Group and version, then each resource with its kind.
RESOURCES = {
    "v1": {"services": "Service", "secrets": "Secret", "configmaps": "ConfigMap", "pods": "Pod"},
    "apps/v1": {"deployments": "Deployment", "statefulsets": "StatefulSet"},
    "autoscaling/v2": {"horizontalpodautoscalers": "HorizontalPodAutoscaler"},
    "policy/v1": {"poddisruptionbudgets": "PodDisruptionBudget"},
    "networking.k8s.io/v1": {"networkpolicies": "NetworkPolicy", "ingresses": "Ingress"},
}


class Cluster(http.server.ThreadingHTTPServer):
    """Objects by path: `/api/v1/namespaces/games/secrets/wizard`."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Api)
        self.objects = {}

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def named(self, resource, name):
        """The one object of that resource and name."""
        [found] = [each for path, each in self.objects.items() if path.endswith(f"/{resource}/{name}")]
        return found


@contextlib.contextmanager
def cluster():
    """One that answers until the block ends."""
    server = Cluster()
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class Api(http.server.BaseHTTPRequestHandler):
    """One request of Helm's client."""

    def log_message(self, *_):
        pass

    def answer(self, body, status=200):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def absent(self):
        self.answer({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}, 404)

    @property
    def at(self):
        return urllib.parse.urlparse(self.path).path

    def body(self):
        return yaml.safe_load(self.rfile.read(int(self.headers["content-length"])))

    def do_GET(self):
        objects = self.server.objects
        if self.at in objects:
            self.answer(objects[self.at])
        elif self.at in DISCOVERY:
            self.answer(DISCOVERY[self.at])
        elif self.at.rsplit("/", 1)[1] in LISTED:
            of_this = [each for path, each in objects.items() if path.rsplit("/", 1)[0] == self.at]
            self.answer({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": of_this})
        else:
            self.absent()

    def do_POST(self):
        made = self.body()
        self.keep(f"{self.at}/{made['metadata']['name']}", made, 201)

    def do_PUT(self):
        self.keep(self.at, self.body())

    def do_PATCH(self):
        """Server-side apply of one who owns everything: what was applied is what there is."""
        assert "apply-patch" in self.headers["content-type"], self.headers["content-type"]
        self.keep(self.at, self.body())

    def do_DELETE(self):
        removed = self.server.objects.pop(self.at, None)
        self.answer(removed) if removed else self.absent()

    def keep(self, path, made, status=200):
        made["metadata"].setdefault("namespace", "games")
        made["metadata"]["resourceVersion"] = "1"
        self.server.objects[path] = made
        self.answer(made, status)


def discovery():
    answers = {
        "/version": {"major": "1", "minor": "32", "gitVersion": "v1.32.0"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
    }
    groups = []
    for version, resources in RESOURCES.items():
        verbs = ["create", "delete", "get", "list", "patch", "update", "watch"]
        listed = [
            {"name": name, "singularName": "", "namespaced": True, "kind": kind, "verbs": verbs}
            for name, kind in resources.items()
        ]
        prefix = "/apis/" if "/" in version else "/api/"
        answers[prefix + version] = {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": version,
            "resources": listed,
        }
        if "/" in version:
            named = {"groupVersion": version, "version": version.split("/")[1]}
            groups.append({"name": version.split("/")[0], "versions": [named], "preferredVersion": named})
    return answers | {"/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}}


def open_api():
    """No schemas, but the word that the server checks fields itself: else Helm would want the schemas."""
    answers = {"/openapi/v3": {"paths": {}}}
    for version, resources in RESOURCES.items():
        prefix = "apis/" if "/" in version else "api/"
        paths = {}
        for name, kind in resources.items():
            group = version.split("/")[0] if "/" in version else ""
            paths[f"/{prefix}{version}/namespaces/{{namespace}}/{name}/{{name}}"] = {
                "patch": {
                    "parameters": [{"name": "fieldValidation", "in": "query"}],
                    "x-kubernetes-group-version-kind": {
                        "group": group,
                        "version": version.split("/")[-1],
                        "kind": kind,
                    },
                }
            }
        at = f"/openapi/v3/{prefix}{version}"
        answers["/openapi/v3"]["paths"][prefix + version] = {"serverRelativeURL": at}
        answers[at] = {"openapi": "3.0.0", "info": {"title": version, "version": "1"}, "paths": paths}
    return answers


DISCOVERY = discovery() | open_api()
LISTED = {name for resources in RESOURCES.values() for name in resources}
