"""The compose files of examples/server are what docs/server.md says; Docker itself is not asked."""

import configparser
import os
import re

import pytest
import yaml

from conftest import REPOSITORY
from recgauge.tracking.store import MLFLOW_DEFAULTS

FOLDER = REPOSITORY / "examples" / "server"
TIMEOUT = "MLFLOW_HTTP_REQUEST_TIMEOUT"
PAGE = (REPOSITORY / "docs" / "server.md").read_text(encoding="utf-8")
DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
COMPOSE, LOGIN = (
    yaml.safe_load((FOLDER / f"{name}.yaml").read_text()) for name in ("compose", "compose.login")
)
DATABASE, MLFLOW = (COMPOSE["services"][name] for name in ("database", "mlflow"))


def test_images_and_packages_are_pinned():
    version = re.search(r"^mlflow==(.*)$", (REPOSITORY / "constraints.txt").read_text(), re.MULTILINE).group(
        1
    )
    assert f"'mlflow[auth]=={version}'" in DOCKERFILE
    assert MLFLOW["image"].endswith(f":{version}")
    for image in (DATABASE["image"], re.search(r"^FROM (\S+)$", DOCKERFILE, re.MULTILINE).group(1)):
        assert re.fullmatch(r"[a-z]+:\d+\.\d+(\.\d+-slim)?", image)
    assert all(re.search(r"==\d", word) for word in re.search(r"install .*", DOCKERFILE).group().split()[2:])


def test_each_service_is_watched_and_keeps_its_data_in_a_named_volume():
    assert MLFLOW["depends_on"] == {"database": {"condition": "service_healthy"}}
    for service in (DATABASE, MLFLOW):
        assert service["healthcheck"]["test"]
        assert service["restart"] == "unless-stopped"
        (volume,) = service["volumes"]
        assert volume.split(":")[0] in COMPOSE["volumes"]
    assert f"{MLFLOW['environment']['MLFLOW_ARTIFACTS_DESTINATION']}" == MLFLOW["volumes"][0].split(":")[1]
    assert "/artifacts" in re.search(r"mkdir (.*)", DOCKERFILE).group(1)
    assert f"{COMPOSE['name']}_artifacts:/artifacts" in PAGE
    login = LOGIN["services"]["mlflow"]
    assert set(LOGIN["volumes"]) == {login["volumes"][0].split(":")[0]}


def test_no_password_is_written_down_and_each_is_on_the_page():
    written = {**DATABASE["environment"], **MLFLOW["environment"]}
    written |= LOGIN["services"]["mlflow"]["environment"]
    required = set(re.findall(r"\$\{(\w+):\?", str(COMPOSE) + str(LOGIN)))
    assert required == {"POSTGRES_PASSWORD", "MLFLOW_ADMIN_PASSWORD", "MLFLOW_SECRET_KEY"}
    for name, value in written.items():
        if name.endswith(("PASSWORD", "SECRET_KEY")):
            assert value.startswith("${"), name
    assert "mlflow:${POSTGRES_PASSWORD}@database:5432/mlflow" in written["MLFLOW_BACKEND_STORE_URI"]
    for name in (*required, "MLFLOW_HOSTS", "MLFLOW_LISTEN"):
        assert f'"{name}=' in PAGE


def test_the_server_s_command_and_the_words_of_the_page_are_those_of_mlflow():
    from click.testing import CliRunner
    from mlflow.cli import cli

    known = CliRunner().invoke(cli, ["server", "--help"]).output
    used = set(re.findall(r" (--[a-z-]+)", f"{MLFLOW['command']} {LOGIN['services']['mlflow']['command']}"))
    used |= set(re.findall(r" (--[a-z-]+)", re.search(r"    mlflow server (.*)", PAGE).group()))
    assert used >= {"--host", "--serve-artifacts", "--app-name", "--artifacts-destination"}
    assert all(option in known for option in used), used
    assert CliRunner().invoke(cli, ["db", "upgrade", "--help"]).exit_code == 0
    logins = configparser.ConfigParser()
    logins.read(FOLDER / "login.ini")
    assert logins["mlflow"]["default_permission"] in ("READ", "EDIT", "MANAGE", "NO_PERMISSIONS")


def test_files_and_numbers_of_the_page_are_there():
    for name in re.findall(r"-f (compose[\w.]*)", PAGE):
        assert (FOLDER / name).is_file()
    assert f"`{TIMEOUT}` ({MLFLOW_DEFAULTS[TIMEOUT]} seconds)" in PAGE
    assert "server-tests:" in (REPOSITORY / "Makefile").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name != "posix", reason="a shell's command")
def test_the_healthcheck_is_a_program():
    test = MLFLOW["healthcheck"]["test"]
    assert test[:3] == ["CMD", "python", "-c"]
    compile(test[3], "healthcheck", "exec")
