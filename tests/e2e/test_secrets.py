"""No password, token or signature is printed or stored, whatever happens."""

import json
import sqlite3
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml

from recgauge.utils.secrets import private_output, without_secrets

pytestmark = pytest.mark.e2e

PARTS = ("hush", "hu%2Fsh")  # in every secret below, plain and as an address needs it
VARIABLES = {
    "MLFLOW_TRACKING_USERNAME": "hush-username",
    "MLFLOW_TRACKING_PASSWORD": "hush-password",
    "MLFLOW_TRACKING_TOKEN": "hush-token",
    "AWS_SECRET_ACCESS_KEY": "hush-aws-key",
    "AWS_SESSION_TOKEN": "hush-session",
    "HTTPS_PROXY": "http://ann:hush-proxy@127.0.0.1:9",
}


class NotFound(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(401 if "/login" in self.path else 404)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    """A server that has nothing, or asks for a login below /login."""
    running = ThreadingHTTPServer(("127.0.0.1", 0), NotFound)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()


def everything_in(folder, done):
    """Return all that a command left: both streams, every file as text, every text of SQLite databases."""
    texts = {"stdout": done.out, "stderr": done.err}
    for path in folder.rglob("*"):
        texts[f"name of {path}"] = path.name
        if path.is_file():
            texts[str(path)] = path.read_bytes().decode("utf-8", "replace")
        if path.suffix == ".db":
            with closing(sqlite3.connect(path)) as database:
                texts[f"rows of {path}"] = "\n".join(database.iterdump())
    return texts


def leaks(folder, done):
    return {
        name: [line for line in text.splitlines() if any(part in line for part in PARTS)][:3]
        for name, text in everything_in(folder, done).items()
        if any(part in text for part in PARTS)
    }


def test_a_run_with_secrets_in_every_setting_stores_none(workplace, server):
    words = [
        f"tracking.uri={workplace.uri}",
        f"data.mirror=['https://ann:hush%2Fmirror@{server}/a','http://hush-alone@{server}']",
        f"hydra.run.dir={workplace.folder}/out",
        "model=random",
        "cutoffs=[5]",
    ]
    mirror = f"http://ann:hush-variable@{server}/?X-Amz-Signature=hush-signature"
    done = workplace.succeed(*words, **VARIABLES, RECGAUGE_MIRROR=mirror)
    assert leaks(workplace.folder, done) == {}
    stored = (workplace.folder / "out" / "config.yaml").read_text()
    assert f"https://ann:***@{server}/a" in stored
    assert workplace.runs()[0].data.tags["recgauge.command"].count("***") == 2
    sweep = workplace.succeed(
        "-m", "model=random,popularity", *words[:2], "cutoffs=[5]", "reuse=true", **VARIABLES
    )
    assert leaks(workplace.folder, sweep) == {}


FAILING = {
    "server that does not answer": ["tracking.uri=http://ann:hush-server@127.0.0.1:9"],
    "server without MLflow": ["tracking.uri=http://ann:hush-server@{server}?token=hush-query"],
    "server that asks for a login": ["tracking.uri=http://ann:hush-server@{server}/login"],
    "database without a driver": ["tracking.uri=mssql+pyodbc://ann:hush-database@127.0.0.1:9/db"],
    "database that does not answer": ["tracking.uri=postgresql://ann:hu%2Fsh-database@127.0.0.1:9/db"],
    "database with a password in its query": [
        "tracking.uri='postgresql://127.0.0.1:9/db?password=hush-query'"
    ],
    "database behind one slash": ["tracking.uri=postgresql:/ann:hush-database@127.0.0.1:9/db"],
    "database with an option of any name": ["tracking.uri='postgresql://127.0.0.1:9/db?opaque=hush-query'"],
    "database with an option without a name": ["tracking.uri='postgresql://127.0.0.1:9/db?hush-query'"],
    "unknown kind of store": ["tracking.uri=ftp://ann:hush-server@host"],
    "folder that is not there": ["tracking.uri='sqlite:////nowhere/m.db?password=hush-query'"],
    "mirror that has nothing": [
        "dataset=ml_100k",
        "data.mirror='http://ann:hush-mirror@{server}/?sig=hush-sig'",
    ],
    "mirror that asks for a login": ["dataset=ml_100k", "data.mirror=http://ann:hush-mirror@{server}/login"],
    "mirror that does not answer": ["dataset=ml_100k", "data.mirror=http://hush-token@127.0.0.1:9"],
    "shared folder": ["dataset=ml_100k", "data.mirror=http://{server}/s/hush0123456789abcdef/data"],
    "mirror of another kind": ["dataset=ml_100k", "data.mirror=ftp://ann:hush-mirror@{server}"],
    "offline": ["dataset=ml_100k", "data.offline=true", "data.mirror=http://ann:hush-mirror@{server}"],
    "sweep": ["-m", "reuse=true", "dataset=ml_100k,ml_1m", "data.mirror=http://ann:hush-mirror@{server}"],
    "sweep without one data set": [
        "-m",
        "reuse=true",
        "dataset=ml_100k,demo",
        "data.mirror=http://a:hush-m@{server}",
    ],
    "unknown setting": ["model.password=hush-setting"],
    "added setting": ["+model.password=hush-setting"],
    "word that cannot be read": ["model.x=['http://ann:hush-word@h'"],
    "bad component": ["dataset=table", "dataset.path=http://ann:hush-path@{server}/rows.csv"],
    "path": ["dataset=table", "dataset.path=/mnt/ann:hush-path@host/rows.csv"],
    "settings shown": [
        "--cfg=job",
        "--resolve",
        "data.mirror=http://ann:hush-mirror@{server}",
        "model=nothing",
    ],
}


@pytest.fixture(scope="module")
def failed(shared_workplace, server):
    commands = []
    for words in FAILING.values():
        tracking = [] if any("tracking" in word for word in words) else ["tracking=off"]
        cache = [f"data.cache={shared_workplace.folder}/cache"]
        commands.append([word.replace("{server}", server) for word in [*words, *tracking, *cache]])
    variables = VARIABLES | {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"}
    done = shared_workplace.run_each(commands, environment=variables)
    return {
        name: (one, shared_workplace.folder / f"command{number}")
        for number, (name, one) in enumerate(zip(FAILING, done, strict=True))
    }


@pytest.mark.parametrize("name", FAILING)
def test_a_failure_shows_no_secret(failed, name):
    done, folder = failed[name]
    assert done.code != 0
    assert leaks(folder, done) == {}
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ann:a/b@c@host/db", "postgresql://ann:***@host/db"),
        ("http://a:b@h1/x|https://c:d@h2", "http://a:***@h1/x|https://c:***@h2"),
        ("http://host:5000/a@b", "http://host:5000/a@b"),
        ("https://token@host/a", "https://***@host/a"),
        ("https://h/a?v=1&sig=ab%2Bc&x=2", "https://h/a?v=1&sig=***&x=2"),
        ("Driver=x;PWD=abc;Server=s", "Driver=x;PWD=***;Server=s"),
        ("postgresql://ann:12/ab?c@host/db", "postgresql://ann:***@host/db"),
        ("mysql://ann@corp:abc@host/db", "mysql://ann@corp:***@host/db"),
        ("https://abcdef:@host/a", "https://***:@host/a"),
        ('{"token": "a b c", "k": 1}', '{"token": "***", "k": 1}'),
        ("host=h password='a b' dbname=x", "host=h password='***' dbname=x"),
        ("Authorization: Bearer abc", "Authorization: Bearer ***"),
        ("https://h/?tokenizer=x&keywords=y&author=z", "https://h/?tokenizer=x&keywords=y&author=z"),
        ("/home/ann@work/ratings@2024.csv", "/home/ann@work/ratings@2024.csv"),
        ("redis://:secret@host", "redis://:***@host"),
        ("model.n_factors=32 cutoffs=[5,10]", "model.n_factors=32 cutoffs=[5,10]"),
        ("no login at postgresql://ann:a/b@host/db now", "no login at postgresql://ann:***@host/db now"),
        ("postgresql:/ann:abc@host/db", "postgresql:/ann:***@host/db"),
        ("/mnt/ann:abc@host/rows.csv", "/mnt/ann:***@host/rows.csv"),
        ("http://host:5000/ann:abc@x/", "http://host:5000/ann:***@x/"),
        ("http://host:5000/#/compare-runs?runs=[1]", "http://host:5000/#/compare-runs?runs=[1]"),
    ],
)
def test_what_is_a_secret_in_a_text(text, shown):
    assert without_secrets(text) == shown
    assert without_secrets(shown) == shown


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("ann:abc@host", "ann:***@host"),
        ("postgresql://host/db?abc", "postgresql://host/db?***"),
        ("mssql+pyodbc:///?odbc_connect=DRIVER%3Dx%3BPWD%3Dabc", "mssql+pyodbc:///?***"),
        ("https://host/s/9hY2kQm4Zr7TbN1x/data", "https://host/s/***/data"),
        ("https://host/ml-100k/archives", "https://host/ml-100k/archives"),
        ("sqlite:////home/ann/results_of_2026_11/m.db", "sqlite:////home/ann/results_of_2026_11/m.db"),
        ("/data/ratings", "/data/ratings"),
    ],
)
def test_what_is_a_secret_in_a_setting_that_is_an_address(address, shown):
    settings = {"tracking": {"uri": address}, "data": {"mirror": [address]}}
    assert without_secrets(settings) == {"tracking": {"uri": shown}, "data": {"mirror": [shown]}}
    assert without_secrets(without_secrets(settings)) == without_secrets(settings)


def test_options_of_an_address_are_hidden_in_the_words_of_a_driver():
    uri = "mssql+pyodbc:///?odbc_connect=UID%3Dann%3BPWD%3Dhush%2Fdatabase&opaque=hush-1&sslmode=require"
    with private_output([]):
        without_secrets({"uri": uri}, learn=True)
        assert without_secrets("no login with PWD=hush/database; hush-1") == "no login with PWD=***; ***"
        assert without_secrets("we require it") == "we require it"
    assert without_secrets("hush-1") == "hush-1"


SIGNS = ["hu'sh-word", 'hu"sh-word', "hu sh<word>"]


@pytest.mark.parametrize(
    ("address", "secret"),
    [
        *(("postgresql://ann:{}@host/db", secret) for secret in [*SIGNS, "5432/hu`sh"]),
        *(("ann:{}@host", secret) for secret in SIGNS),
    ],
)
def test_a_secret_of_any_signs_is_hidden_however_it_is_quoted(address, secret):
    uri = address.format(secret)
    with private_output([]):
        without_secrets({"tracking": {"uri": uri}}, learn=True)
        shown = [uri, repr(uri), json.dumps(uri), yaml.safe_dump({"uri": uri}, width=1000), f"no {secret}!"]
        assert [text for text in shown if secret[3:5] in without_secrets(text)] == []
