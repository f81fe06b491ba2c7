"""The compose files of examples/server are what docs/server.md says; Docker itself is not asked."""

import re

import yaml

from conftest import REPOSITORY

FOLDER = REPOSITORY / "examples" / "server"
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
