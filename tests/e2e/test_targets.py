"""A configuration of a stranger runs no code and reaches no host of the stranger's choice, whatever it says.

What a ``_target_`` may name is tested in unit/cli/test_targets.py, here where settings come in. Each probe
says which message it ends with, so that it fails if its own check is gone, not only if all are.
"""

from pathlib import Path

import pytest

from e2e.program import Workplace

pytestmark = pytest.mark.e2e

# Each probe leaves a file `marker` in its folder if it takes effect. The module `stranger` leaves it when it
# is imported, the file rerun.pkl when it is unpickled, the program git when it is run.
MODULE = "open('marker', 'w').close()\n\n\nclass Thing:\n    def __init__(self, **_):\n        pass\n"
TOUCH = "[touch,marker]"
POPEN = f"{{_target_: subprocess.Popen, args: {TOUCH}}}"
THING = "{_target_: stranger.Thing}"
SECRET = "hunter2hunter2"
VARIABLES = {
    "SECRET": SECRET,
    "MLFLOW_TRACKING_PASSWORD": SECRET,
    "MLFLOW_TRACKING_USERNAME": "ann",
    "RECGAUGE_TOKEN": SECRET,
}

OUTSIDE = "{}._target_: 'stranger.Thing' is not one of recgauge"
PLAIN = "{}: _target_ is not allowed here"
IN_FACTORS = PLAIN.format("model.n_factors._target_")
NO_VARIABLE = "may only read environment variables that begin with RECGAUGE_, got {}"
HOST = "{}: a file of settings, not you, names http://127.0.0.1:9"
CALLBACKS, LOGS, LAUNCHER = "hydra.callbacks: ", "hydra.job_logging: ", "hydra.launcher._target_: "
FILE_LOG = "{version:1,handlers:{x:{class:logging.FileHandler,filename:marker}},root:{handlers:[x]}}"
SERVER = "http://127.0.0.1:9"

# words, message
ON_THE_COMMAND_LINE = {
    "model": (["model._target_=stranger.Thing"], OUTSIDE.format("model")),
    "setting of the model": ([f"model.n_factors={POPEN}"], IN_FACTORS),
    "interpolation": ([f"study={{a:{POPEN}}}", "model.n_factors=${study.a}"], IN_FACTORS),
    "dataset": (["dataset._target_=stranger.Thing"], OUTSIDE.format("dataset")),
    "filter": ([f"+filters.x={THING}"], OUTSIDE.format("filters.x")),
    "filters as a whole": (["+filters._target_=stranger.Thing"], PLAIN.format("filters._target_")),
    "metric": ([f"+metrics.x={THING}"], OUTSIDE.format("metrics.x")),
    "setting of a metric": (
        [f"+metrics.x={{_target_:recgauge.metrics.discounted.NDCG,gain:{THING}}}"],
        PLAIN.format("metrics.x.gain._target_"),
    ),
    "tracking": (["tracking._target_=stranger.Thing"], OUTSIDE.format("tracking")),
    "tracking.uri": ([f"tracking.uri={THING}"], PLAIN.format("tracking.uri._target_")),
    "study": ([f"study={THING}"], OUTSIDE.format("study")),
    "tune": (["tune=tpe", "tune._target_=stranger.Thing"], OUTSIDE.format("tune")),
    "setting beside the groups": ([f"data.mirror={THING}"], PLAIN.format("data.mirror._target_")),
    "jobs side by side": (
        ["-m", "jobs=2", "model=random,popularity", "+model.x={_target_:stranger.Thing}"],
        PLAIN.format("model.x._target_"),
    ),
    "allowed_targets: another package": (
        ["allowed_targets=[strange]", "model._target_=stranger.Thing"],
        "'stranger.Thing' is not one of recgauge.*, strange.*",
    ),
    # Hydra's own part
    "callback": ([f"+hydra.callbacks.x={POPEN}"], CALLBACKS),
    "our callback with a setting": ([f"+hydra.callbacks.sweep.x={THING}"], CALLBACKS),
    "callback in a sweep": (["-m", "model=random,svd", f"+hydra.callbacks.x={THING}"], CALLBACKS),
    "callback by interpolation": ([f"study={THING}", "+hydra.callbacks.x=${study}"], CALLBACKS),
    "launcher": (["-m", "hydra.launcher._target_=stranger.Thing"], LAUNCHER),
    "setting of the launcher": (
        ["-m", f"+hydra.launcher.x={THING}"],
        PLAIN.format("hydra.launcher.x._target_"),
    ),
    "sweeper": (["-m", "hydra.sweeper._target_=stranger.Thing"], "hydra.sweeper._target_: "),
    "logging to a file": ([f"++hydra.job_logging={FILE_LOG}"], LOGS),
    "logging that imports": (["hydra.job_logging={version:1,root:{level:'ext://stranger.Thing'}}"], LOGS),
    # .. holds a program `git`
    "environment of the job": (["+hydra.job.env_set.PATH=.."], "hydra.job.env_set"),
    "environment that is copied": (["hydra.job.env_copy=[SECRET]"], "hydra.job.env_set"),
    "variable that is not set": (["hydra.job.env_copy=[NOT_SET]"], "hydra.job.env_copy"),
    "Hydra's own copies of the settings": (["hydra.output_subdir=marker"], "hydra.output_subdir: "),
    "package in the search path": (
        ["hydra.searchpath=['pkg://stranger']"],
        "hydra.searchpath: cannot be set",
    ),
    "package as the config path": (["--config-path=pkg://stranger"], "there is no such option"),
    "configuration of its own": (["--config-name=mine"], "there is no such option"),
    "package as a folder of settings": (["--config-dir=pkg://stranger"], "--config-dir=pkg://stranger: "),
    "pickle of a run": (["--experimental-rerun=../rerun.pkl"], "there is no such option"),
    # the environment
    "variable": (["model.n_factors=${oc.env:SECRET}"], NO_VARIABLE.format("SECRET")),
    "variable with a default": (["model.n_factors=${oc.env:SECRET,3}"], NO_VARIABLE.format("SECRET")),
    "address of the store": (
        ["model.n_factors=${oc.env:MLFLOW_TRACKING_URI}"],
        NO_VARIABLE.format("MLFLOW_TRACKING_URI"),
    ),
    "variable that decides where results go": (
        [f"tracking.uri='{SERVER}/${{oc.env:SECRET}}'"],
        NO_VARIABLE.format("SECRET"),
    ),
}

LOGGING = "{version: 1, handlers: {x: {class: stranger.Thing}}, root: {handlers: [x]}}"
EXPERIMENT, MODEL = "experiment/mine.yaml", "model/mine.yaml"
GLOBAL, SVD = "# @package _global_\n", "_target_: recgauge.models.svd.SVD\n"
SWEEP = "hydra: {mode: MULTIRUN, sweeper: {params: {model: 'random,svd'}}}"
GRID = "hydra: {{mode: MULTIRUN, sweeper: {{params: {{{}}}}}}}"
CHOSEN = {EXPERIMENT: "experiment=mine", MODEL: "model=mine"}
NO_OBJECT = "could not determine a constructor for the tag"
NOT_TYPED = "allowed_targets: a file of settings, not you, names ['stranger']"
# text of model/mine.yaml in a folder given by --config-dir, and the message
IN_A_MODEL = {
    "model": (THING, OUTSIDE.format("model")),
    "model with our class on top": (f"{SVD}n_factors: {POPEN}", IN_FACTORS),
    "defaults list": ("defaults:\n  - svd\n  - _self_\n_target_: stranger.Thing", OUTSIDE.format("model")),
    "python object": (f"{SVD}n_factors: !!python/object/apply:os.system ['touch marker']", NO_OBJECT),
    "python name": (f"{SVD}n_factors: !!python/name:stranger.Thing", NO_OBJECT),
    "oc.create": (f"{SVD}n_factors: '${{oc.create:{THING}}}'", IN_FACTORS),
    "oc.decode": (f"{SVD}n_factors: \"${{oc.decode:'{THING}'}}\"", IN_FACTORS),
    "variable by a name in parts": (
        f"{SVD}a: SECRET\nvalues: ${{oc.env:${{.a}}}}",
        NO_VARIABLE.format("SECRET"),
    ),
    "variable by a resolver in parts": (
        f"{SVD}a: env\nvalues: ${{oc.${{.a}}:SECRET}}",
        NO_VARIABLE.format("SECRET"),
    ),
}
# text of experiment/mine.yaml, and the message
IN_AN_EXPERIMENT = {
    "in a sweep": (f"study: {THING}\n{SWEEP}", OUTSIDE.format("study")),
    "data": (f"dataset: {THING}\n{SWEEP}", OUTSIDE.format("dataset")),
    "callbacks": (f"hydra: {{callbacks: {{x: {POPEN}}}}}", CALLBACKS),
    "callback by interpolation": (f"study: {{x: {POPEN}}}\nhydra: {{callbacks: '${{study}}'}}", CALLBACKS),
    "launcher": (f"hydra: {{mode: MULTIRUN, launcher: {THING}}}", LAUNCHER),
    "logging": (f"hydra: {{job_logging: {LOGGING}}}", LOGS),
    "logging that depends on the job's number": (
        f"study: {{'0': {LOGGING}}}\n"
        "hydra: {mode: MULTIRUN, job_logging: '${study.${hydra.job.id}}', sweeper: {params: {model: svd}}}",
        LOGS,
    ),
    "widens allowed_targets": (f"allowed_targets: [stranger]\nmodel: {THING}", NOT_TYPED),
    "grid that widens allowed_targets": (
        GRID.format("allowed_targets: '[stranger]', model._target_: stranger.Thing"),
        NOT_TYPED,
    ),
    "grid that adds a callback": (GRID.format("+hydra.callbacks.x._target_: stranger.Thing"), CALLBACKS),
    "grid that sets the environment": (GRID.format("+hydra.job.env_set.PATH: .."), "hydra.job.env_set"),
    "grid that names a server": (GRID.format(f"tracking.uri: '{SERVER}'"), HOST.format("tracking.uri")),
    "words that nobody has typed": (
        "hydra: {mode: MULTIRUN, sweeper: {params: {seed: '1,2'}},"
        f" overrides: {{hydra: ['allowed_targets=[stranger]', 'model={THING}']}}}}",
        "hydra.overrides: ",
    ),
    "server": (f"tracking: {{uri: '{SERVER}'}}", HOST.format("tracking.uri")),  # nobody answers there
}
# file, its text, more words, and the message
IN_A_FILE = {
    "option of Hydra's groups": ("hydra/job_logging/mine.yaml", LOGGING, ["hydra/job_logging=mine"], LOGS),
    "experiment that widens what the user allows": (
        EXPERIMENT,
        f"{GLOBAL}allowed_targets: [mine, stranger]\nmodel: {THING}",
        ["+allowed_targets=[mine]"],
        "'stranger.Thing' is not one of recgauge.*, mine.*",
    ),
    "swept option that widens allowed_targets": (
        "debug/mine.yaml",
        f"{GLOBAL}allowed_targets: [stranger]\nmodel: {THING}",
        ["-m", "debug=mine,default"],
        NOT_TYPED,
    ),
    "logging of a swept option": (
        "debug/mine.yaml",
        f"{GLOBAL}hydra: {{job_logging: {LOGGING}}}",
        ["-m", "debug=mine,default", "hydra/launcher=basic"],
        LAUNCHER,
    ),
    # hosts; nobody answers there
    "server on another port than the user's": (
        EXPERIMENT,
        f"{GLOBAL}tracking: {{uri: '{SERVER}'}}",
        ["data.mirror=http://127.0.0.1:99"],
        HOST.format("tracking.uri"),
    ),
    "server as a group's option": (
        "tracking/mine.yaml",
        f"_target_: recgauge.tracking.Store\nuri: {SERVER}",
        ["tracking=mine"],
        HOST.format("tracking.uri"),
    ),
    "mirror": (
        EXPERIMENT,
        f"{GLOBAL}data: {{mirror: [/nowhere, '{SERVER}/${{oc.env:RECGAUGE_TOKEN}}']}}",
        ["dataset=ml_100k"],
        HOST.format("data.mirror"),
    ),
    "mirror of a data set": (
        "dataset/mine.yaml",
        f"defaults: [ml_100k, _self_]\nmirror: '{SERVER}/'",
        ["dataset=mine"],
        HOST.format("dataset.mirror"),
    ),
}
IN_A_FILE |= {f"model: {name}": (MODEL, text, [], told) for name, (text, told) in IN_A_MODEL.items()}
IN_A_FILE |= {
    f"experiment: {name}": (EXPERIMENT, GLOBAL + text, [], told)
    for name, (text, told) in IN_AN_EXPERIMENT.items()
}
PROBES = ON_THE_COMMAND_LINE | {f"file: {name}": probe for name, probe in IN_A_FILE.items()}


def prepare(folder: Path) -> None:
    """Put the stranger's modules and files where the probes expect them."""
    (folder / "modules").mkdir()
    (folder / "modules" / "stranger.py").write_text(MODULE)
    (folder / "rerun.pkl").write_bytes(b"cposix\nsystem\n(S'touch marker'\ntR.")
    program = folder / "git"
    program.write_text(f"#!/bin/sh\n: > {folder}/work/marker\n")
    program.chmod(0o755)


def words_of(name: str, folder: Path) -> list[str]:
    """Return the command line of a probe; its file is written into the folder."""
    if name in ON_THE_COMMAND_LINE:
        words = ON_THE_COMMAND_LINE[name][0]
    else:
        file, text, more, _ = IN_A_FILE[name.removeprefix("file: ")]
        path = folder / "conf" / file
        path.parent.mkdir(parents=True)
        path.write_text(text)
        words = [f"--config-dir={folder / 'conf'}", *([CHOSEN[file]] if file in CHOSEN else []), *more]
    about_the_store = any("tracking" in word for word in words) or "tracking" in str(PROBES[name])
    alone = any(word.startswith("--exp") for word in words)
    return words if about_the_store or alone else [*words, "tracking=off"]


@pytest.mark.parametrize("name", PROBES)
def test_a_hostile_setting_has_no_effect_and_is_refused_by_its_own_check(tmp_path, name):
    prepare(tmp_path)
    (tmp_path / "work").mkdir()
    variables = VARIABLES | {"PYTHONPATH": str(tmp_path / "modules"), "RECGAUGE_CACHE": str(tmp_path / "own")}
    done = Workplace(tmp_path / "work").run(*words_of(name, tmp_path), **variables)
    assert not list(tmp_path.rglob("marker"))
    assert done.code != 0
    assert done.err.count("error:") == 1, done.err
    assert PROBES[name][-1] in done.err
    assert "Traceback" not in done.err + done.out
    written = [path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(SECRET in text for text in [done.out, done.err, *written])


def test_modules_in_a_folder_of_settings_are_not_imported(tmp_path):
    plugin = tmp_path / "conf" / "hydra_plugins" / "mine"
    plugin.mkdir(parents=True)
    (plugin / "__init__.py").write_text(MODULE)
    workplace = Workplace(tmp_path / "work")
    workplace.folder.mkdir()
    workplace.succeed(f"--config-dir={tmp_path / 'conf'}", "tracking=off", "model=random", "cutoffs=[5]")
    assert not list(tmp_path.rglob("marker"))


def test_an_address_of_a_file_is_used_where_the_user_names_it_too(workplace):
    own = workplace.folder / "settings" / "experiment"
    own.mkdir(parents=True)
    (own / "mine.yaml").write_text(
        f"{GLOBAL}tracking: {{uri: 'http://127.0.0.1:9/x'}}\ncutoffs: [5]\nmodel: {{}}\n"
    )
    words = ["--config-dir=settings", "experiment=mine", "model=random"]
    quick = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"}
    for typed, variables in (
        ([], {"MLFLOW_TRACKING_URI": "http://127.0.0.1:9/x"}),
        (["data.mirror=[http://127.0.0.1:9/x]"], {}),
        (["tracking.uri=http://127.0.0.1:9"], {}),
    ):
        done = workplace.run(*words, *typed, **quick, **variables)
        assert "not you" not in done.err
        assert "tracking.uri=http://127.0.0.1:9" in done.err


OWN_MODEL = """from recgauge.models.popularity import Popularity


class Mine(Popularity):
    pass
"""


def test_a_class_of_the_users_runs_if_the_command_line_trusts_its_package(workplace):
    (workplace.folder / "mypackage").mkdir()
    (workplace.folder / "mypackage" / "models.py").write_text(OWN_MODEL)
    own = workplace.folder / "settings" / "model"
    own.mkdir(parents=True)
    (own / "mine.yaml").write_text("_target_: mypackage.models.Mine\nby: sum\n")
    words = ["--config-dir=settings", "model=mine", "tracking=off", "cutoffs=[5]"]
    refused = workplace.fail(*words, PYTHONPATH=str(workplace.folder))
    assert "model._target_: 'mypackage.models.Mine' is not one of recgauge.*" in refused.err
    done = workplace.succeed(*words, "allowed_targets=[mypackage]", PYTHONPATH=str(workplace.folder))
    assert "mine on demo" in done.out


def test_a_configuration_may_read_variables_that_are_meant_for_it(workplace):
    words = ["--cfg=job", "--resolve", "dataset=table", "dataset.path=${oc.env:RECGAUGE_ROWS}"]
    done = workplace.run(*words, RECGAUGE_ROWS="rows.csv")
    assert "path: rows.csv" in done.out, done.err
