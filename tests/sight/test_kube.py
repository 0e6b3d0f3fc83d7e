"""Kubeconfigs as they are found: what each context leads to, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.sight.look import sighting
from reflexd.types import Context, Sighting, Want

CONTEXT = Context(cwd="/", home="/home/dev")
CONFIG = """\
apiVersion: v1
kind: Config
current-context: work
clusters:
- name: eks
  cluster: {server: "https://a.eks.example", certificate-authority-data: QUJD}
- cluster:
    server: https://127.0.0.1:6443
  name: here
contexts:
- context: {cluster: eks, user: cloud, namespace: payments}
  name: work
- name: laptop
  context:
    cluster: here
    user: key
- name: elsewhere
  context: {cluster: gone, user: nobody}
users:
- name: cloud
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: aws
      args: [eks, get-token]
- name: key
  user: {client-certificate-data: QUJD, client-key-data: QUJD}
"""


def look(path: Path, text: str) -> Sighting:
    path.write_text(text)
    return sighting(Want("kube", str(path)), CONTEXT)


def test_each_context_leads_to_its_cluster_and_tells_what_logs_in(tmp_path: Path) -> None:
    found = dict(look(tmp_path / "config", CONFIG).pairs)
    assert found["current-context"] == "work"
    assert (found["server:work"], found["namespace:work"], found["exec:work"]) == (
        "https://a.eks.example",
        "payments",
        "aws",
    )
    assert (found["server:laptop"], found["exec:laptop"]) == ("https://127.0.0.1:6443", "")


def test_a_user_of_another_file_may_start_anything(tmp_path: Path) -> None:
    found = dict(look(tmp_path / "config", CONFIG).pairs)
    assert (found["server:elsewhere"], found["exec:elsewhere"]) == ("", "?")


def test_json_is_read_too(tmp_path: Path) -> None:
    text = json.dumps({"current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "c"}}]})
    assert dict(look(tmp_path / "config", text).pairs)["cluster:x"] == "c"


def test_an_older_login_program_counts(tmp_path: Path) -> None:
    users = "users: [{name: u, user: {auth-provider: {name: gcp, config: {cmd-path: /opt/gcloud}}}}]\n"
    text = "contexts: [{name: x, context: {cluster: c, user: u}}]\n" + users
    assert dict(look(tmp_path / "config", text).pairs)["exec:x"] == "/opt/gcloud"


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x]\nb: *a\n",
        "clusters: " + "[" * 40 + "]" * 40,
        "a: [" + "x," * 20_000 + "]",
        "contexts: [{name: x, context: [1]}]",
        "current-context: [a]",
        "- a\n- b\n",
        "\tx: 1",
        "a: 'b",
        "".join(f"- {{name: c{n}, context: {{}}}}\n" for n in range(3)).join(["contexts:\n", "x"]),
    ],
    ids=["alias", "deep", "long", "no-context", "no-name", "a-list", "tab", "open", "broken"],
)
def test_what_kubectl_does_not_write_is_malformed(tmp_path: Path, text: str) -> None:
    assert look(tmp_path / "config", text) == Sighting(problem="malformed")


def test_a_file_that_is_not_there_and_one_that_is_too_large_say_so(tmp_path: Path) -> None:
    assert sighting(Want("kube", str(tmp_path / "none")), CONTEXT).problem == "missing"
    assert look(tmp_path / "large", "#" * 300_000).problem == "too large"


@given(st.text(alphabet="abc:-{}[]&*!|>'\"#%,?~ \n\t", max_size=200))
def test_any_text_gives_a_sighting(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "kubeconfig"
    assert isinstance(look(path, text), Sighting)
