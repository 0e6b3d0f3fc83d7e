"""Whether a target is production, told from names, from what is around, and from earlier calls of the line."""

from __future__ import annotations

import pytest

from reflexd.core.facts import facts
from reflexd.shell.realms import ordinary, production
from reflexd.types import Context, Facts, Place, Seen, Shell, Sighting, Want

HOME, CWD = "/home/dev", "/home/dev/proj"
KUBECONFIG = f"{HOME}/.kube/config"


def kubeconfig(current: str) -> Sighting:
    servers = {"prod-eu": "https://a.eks.example", "blue": "https://b.eks.example", "laptop": "https://127.0.0.1:6443"}
    pairs = [("current-context", current)]
    for name, server in (*servers.items(), ("dev-1", "https://c.eks.example")):
        pairs += [(f"cluster:{name}", f"c-{name}"), (f"namespace:{name}", ""), (f"server:{name}", server)]
        pairs.append((f"exec:{name}", "aws" if name == "prod-eu" else ""))
    return Sighting(pairs=tuple(pairs))


def understood(command: str, seen: dict[Want, Sighting], env: dict[str, str] | None = None, cwd: str = CWD) -> Facts:
    context = Context(cwd=cwd, home=HOME, env=tuple((env or {}).items()))
    return facts(Shell(command), context, Seen(tuple(seen.items())))


def lies(found: Facts, kind: str) -> tuple[Place, ...]:
    return next(effect.places for effect in found.effects if effect.kind == kind)


@pytest.mark.parametrize(
    "name",
    [
        "prod",
        "production",
        "acme-prod",
        "prod_eu",
        "web.prod.example",
        "https://api.production.example/x",
        "arn:aws:eks:eu-west-1:1:cluster/prod",
        "envs/prod/main.tf",
        "prod1",
        "PROD",
        "webProd",
        "gke_acme_europe-west1_prd",
    ],
)
def test_a_label_that_stands_alone_means_production(name: str) -> None:
    assert production(name)
    assert not ordinary(name)


@pytest.mark.parametrize(
    "name", ["product", "products-db", "reproduce", "production-like", "prodigy", "preprod", "liver", "alive", "main"]
)
def test_a_word_that_only_looks_like_it_does_not(name: str) -> None:
    assert not production(name)


@pytest.mark.parametrize(
    "name", ["dev", "acme-staging", "web.test.example", "qa2-eu", "preprod", "non-prod", "pre_prod", "prod-like"][:-2]
)
def test_some_labels_mean_that_nobody_depends_on_it(name: str) -> None:
    assert ordinary(name) or name == "qa2-eu"


@pytest.mark.parametrize("name", ["devops", "main", "blue", "eu-west-1", "dev-and-prod", ""])
def test_others_say_nothing(name: str) -> None:
    assert not ordinary(name)


@pytest.mark.parametrize(
    ("current", "places"),
    [
        ("prod-eu", ("elsewhere", "production")),
        ("blue", ("elsewhere", "unknown")),
        ("dev-1", ("elsewhere",)),
        ("laptop", ("service",)),
        ("gone", ("elsewhere", "unknown")),
    ],
)
def test_a_kubeconfig_tells_where_a_call_goes(current: str, places: tuple[Place, ...]) -> None:
    seen = {Want("kube", KUBECONFIG): kubeconfig(current)}
    assert lies(understood("kubectl delete ns web", seen), "destroy") == places
    assert lies(understood("helm upgrade web ./web", seen), "change") == places


def test_what_nobody_has_looked_at_is_wanted_and_unknown_till_then() -> None:
    found = understood("kubectl delete ns web", {})
    assert Want("kube", KUBECONFIG) in found.wants
    assert lies(found, "destroy") == ("elsewhere", "unknown")


def test_a_kubeconfig_that_cannot_be_read_tells_nothing() -> None:
    seen = {Want("kube", KUBECONFIG): Sighting(problem="malformed")}
    assert lies(understood("kubectl delete ns web", seen), "destroy") == ("elsewhere", "unknown")


def test_a_context_that_is_named_is_looked_up() -> None:
    seen = {Want("kube", KUBECONFIG): kubeconfig("prod-eu")}
    assert lies(understood("kubectl --context laptop delete ns web", seen), "destroy") == ("service",)
    assert lies(understood("kubectl --context blue delete ns web", seen), "destroy") == ("elsewhere", "unknown")


def test_a_context_is_where_it_leads_and_not_what_it_is_called() -> None:
    pairs = (("cluster:kind-x", "c"), ("server:kind-x", "https://a.eks.example"))
    renamed = {Want("kube", KUBECONFIG): Sighting(pairs=(("current-context", "kind-x"), *pairs))}
    assert lies(understood("kubectl delete ns web", renamed), "destroy") == ("elsewhere", "unknown")
    assert lies(understood("kubectl --context kind-x delete ns web", renamed), "destroy") == ("elsewhere", "unknown")
    seen = {Want("kube", KUBECONFIG): kubeconfig("prod-eu")}
    assert lies(understood("kubectl --context kind-y delete ns web", seen), "destroy") == ("elsewhere", "unknown")
    made = understood("kind create cluster --name y && kubectl --context kind-y delete ns web", seen)
    assert lies(made, "destroy") == ("service",)


def test_several_kubeconfigs_are_one() -> None:
    seen = {
        Want("kube", f"{HOME}/a"): Sighting(pairs=(("current-context", "prod-eu"),)),
        Want("kube", f"{HOME}/b"): kubeconfig("laptop"),
    }
    env = {"KUBECONFIG": f"{HOME}/a:{HOME}/b"}
    assert lies(understood("kubectl delete ns web", seen, env), "destroy") == ("elsewhere", "production")


@pytest.mark.parametrize(
    ("command", "current", "places"),
    [
        ("kubectl config use-context prod-eu && kubectl delete ns web", "laptop", ("elsewhere", "production")),
        ("kubectl config use-context laptop && kubectl delete ns web", "prod-eu", ("service",)),
        ("kubectl config use-context dev-9; kubectl delete ns web", "prod-eu", ("elsewhere", "production")),
        ("kubectl config use-context $CTX; kubectl delete ns web", "dev-1", ("elsewhere", "unknown")),
        ("cp x ~/.kube/config; kubectl delete ns web", "dev-1", ("elsewhere", "unknown")),
    ],
)
def test_an_earlier_call_chooses(command: str, current: str, places: tuple[Place, ...]) -> None:
    seen = {Want("kube", KUBECONFIG): kubeconfig(current)}
    assert lies(understood(command, seen), "destroy") == places


def test_looking_is_proved_only_where_no_program_logs_in() -> None:
    assert understood("kubectl get pods", {Want("kube", KUBECONFIG): kubeconfig("laptop")}).read_only
    assert not understood("kubectl get pods", {Want("kube", KUBECONFIG): kubeconfig("prod-eu")}).read_only
    assert not understood("helm list", {Want("kube", KUBECONFIG): kubeconfig("prod-eu")}).read_only
    assert not understood("kubectl get pods", {}).read_only
    assert understood("kubectl get pods", {Want("kube", KUBECONFIG): Sighting(problem="missing")}).read_only


def test_a_chosen_workspace_is_read_where_terraform_works() -> None:
    seen = {Want("file", f"{CWD}/infra/.terraform/environment"): Sighting(text="prod\n")}
    for command in ("cd infra && terraform destroy", "terraform -chdir=infra destroy"):
        assert lies(understood(command, seen), "destroy") == ("elsewhere", "production")
    assert lies(understood("terraform destroy", seen), "destroy") == ("elsewhere", "unknown")


def test_an_active_configuration_leads_to_its_project() -> None:
    base = f"{HOME}/.config/gcloud"
    seen = {
        Want("file", f"{base}/active_config"): Sighting(text="work"),
        Want("file", f"{base}/configurations/config_work"): Sighting(text="[core]\nproject = acme-prod\n"),
    }
    assert lies(understood("gcloud compute instances delete x", seen), "destroy") == ("elsewhere", "production")
    named = understood("gcloud --project acme-dev compute instances delete x", seen)
    assert lies(named, "destroy") == ("elsewhere",)


def test_a_manifest_names_the_application() -> None:
    seen = {Want("file", f"{CWD}/fly.toml"): Sighting(text='app = "web-staging"\nprimary_region = "ams"\n')}
    assert lies(understood("fly deploy", seen), "change") == ("elsewhere",)
    assert lies(understood("railway up", seen), "change") == ("elsewhere", "unknown")


def test_the_branch_that_is_checked_out_can_say_production_and_nothing_else() -> None:
    want = Want("repository", CWD)
    seen = {want: Sighting(pairs=(("root", CWD), ("branch", "production")))}
    assert lies(understood("wrangler deploy", seen), "change") == ("elsewhere", "production")
    assert lies(understood("wrangler deploy -e staging", seen), "change") == ("elsewhere",)
    assert lies(understood("docker compose up -d", seen), "change") == ("service",)
    seen = {want: Sighting(pairs=(("root", CWD), ("branch", "dev")))}
    assert lies(understood("wrangler deploy", seen), "change") == ("elsewhere", "unknown")
    assert want in understood("terraform destroy", {}).wants


def test_a_container_engine_may_be_another_machines() -> None:
    seen = {Want("file", f"{HOME}/.docker/config.json"): Sighting(text='{"auths": {}, "currentContext": "prod-1"}')}
    assert lies(understood("docker volume rm x", seen), "destroy") == ("elsewhere", "production")
    assert lies(understood("docker volume rm x", {}), "destroy") == ("service",)


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("kubectl --context blue-1 delete ns web", "destroy"),
        ("curl -X DELETE https://blue-1/x", "destroy"),
        ("rsync -a --delete dist/ blue-1:/srv/x/", "change"),
        ("ssh blue-1 docker volume rm x", "destroy"),
    ],
)
def test_a_person_names_what_else_is_production(command: str, kind: str) -> None:
    named = Context(cwd=CWD, home=HOME, production=("blue-*",))
    assert "production" in lies(facts(Shell(command), named), kind)
    assert "production" not in lies(facts(Shell(command), Context(cwd=CWD, home=HOME)), kind)


def test_a_question_in_a_file_is_read() -> None:
    want = Want("file", f"{CWD}/q.json")
    command = "curl -H 'Authorization: Bearer x' https://api.example/graphql -d @q.json"
    assert lies(understood(command, {}), "change") == ("elsewhere", "unknown")
    asks = {want: Sighting(text='{"query": "{ me { id } }"}')}
    assert {effect.kind for effect in understood(command, asks).effects} <= {"read", "send"}
    drops = {want: Sighting(text='{"query": "mutation { volumeDelete(id: 1) }"}')}
    assert lies(understood(command, drops), "destroy") == ("elsewhere",)
