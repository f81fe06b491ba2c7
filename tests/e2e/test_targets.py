"""A configuration of a stranger runs no code of the stranger's choice, whatever it says."""

from pathlib import Path

import pytest

from e2e.conftest import Workplace

pytestmark = pytest.mark.e2e

# Each probe leaves a file `marker` in its folder if it takes effect. The modules `stranger` and
# `recgauge_stranger` leave it when they are imported, the files *.pkl and *.npy when they are unpickled.
MODULE = "open('marker', 'w').close()\n\n\nclass Thing:\n    def __init__(self, **_):\n        pass\n"
TOUCH = "[touch,marker]"

ON_THE_COMMAND_LINE = {
    # a component as a whole
    "function of os": ["model._target_=os.system", "+model.command='touch marker'"],
    "builtin": ["~model", '+model={_target_:builtins.eval,_args_:[\'open("marker","w")\']}'],
    "subprocess": ["~model", f"+model={{_target_:subprocess.Popen,args:{TOUCH}}}"],
    "importlib": ["~model", "+model={_target_:importlib.import_module,name:stranger}"],
    "class of a module that acts when imported": ["~model", "+model={_target_:stranger.Thing}"],
    "package with our name as a prefix": ["~model", "+model={_target_:recgauge_stranger.Thing}"],
    "relative name": ["~model", "+model={_target_:.stranger.Thing}"],
    "empty parts": ["~model", "+model={_target_:recgauge..stranger.Thing}"],
    "name with a space": ["~model", "+model={_target_:'recgauge.models.svd. stranger.Thing'}"],
    "no text": ["~model", "+model={_target_:[stranger.Thing]}"],
    "module seen through one of ours": ["~model", "+model={_target_:recgauge.app.main.os.mkdir,path:marker}"],
    "class seen through one of ours": [
        "~model",
        f"+model={{_target_:recgauge.app.tracking.environment.subprocess.Popen,args:{TOUCH}}}",
    ],
    "function of ours": [
        "~model",
        "+model={_target_:recgauge.app.tracking.environment._git,_args_:[init,marker]}",
    ],
    "function of ours by its public name": [
        "~model",
        "+model={_target_:recgauge.report.data_card.page.write_card,card:1,folder:marker}",
    ],
    "our own run command": ["~model", "+model={_target_:recgauge.app.main.run_command}"],
    "class of ours of another kind": [
        "~model",
        "+model={_target_:recgauge.app.tracking.store.MlflowTracker,uri:'sqlite:///marker'}",
    ],
    "class re-exported by ours": [
        "~model",
        "+model={_target_:recgauge.app.tracking.tracker.Path,_args_:[marker]}",
    ],
    "private name": ["~model", "+model={_target_:recgauge.datasets._download.Download}"],
    "attribute of a class": ["~model", "+model={_target_:recgauge.models.svd.SVD.fit}"],
    "dunder": ["~model", "+model={_target_:recgauge.__loader__.load_module,_args_:[stranger]}"],
    # inside a component
    "setting": [f"model.n_factors={{_target_:subprocess.Popen,args:{TOUCH}}}"],
    "pickle of pandas": ["model.n_factors={_target_:pandas.read_pickle,filepath_or_buffer:../pickle.pkl}"],
    "pickle": ["model.n_factors={_target_:pickle.loads,_args_:['cstranger\\nThing\\n.']}"],
    "numpy.load": ["model.n_factors={_target_:numpy.load,file:../array.npy,allow_pickle:true}"],
    "list": [f"model.n_factors=[1,{{_target_:subprocess.Popen,args:{TOUCH}}}]"],
    "mapping in a mapping": [f"model.n_factors={{a:{{b:{{_target_:subprocess.Popen,args:{TOUCH}}}}}}}"],
    "list in a list": [f"model.n_factors=[[{{_target_:subprocess.Popen,args:{TOUCH}}}]]"],
    "class of ours inside": ["model.n_factors={_target_:recgauge.app.commands.cli.main,arguments:[ui]}"],
    "interpolation": [
        f"study={{a:{{_target_:subprocess.Popen,args:{TOUCH}}}}}",
        "model.n_factors=${study.a}",
    ],
    "_partial_": ["+model._partial_=true"],
    "_args_": ["+model._args_=[1]"],
    "_call_": ["+model._call_=stranger"],
    "_recursive_": [
        "+model._recursive_=true",
        f"model.n_factors={{_target_:subprocess.Popen,args:{TOUCH},_recursive_:false}}",
    ],
    "_convert_": ["+model._convert_=object"],
    # every group
    "dataset": ["~dataset", f"+dataset={{_target_:subprocess.Popen,args:{TOUCH}}}"],
    "setting of dataset": [f"dataset.relevant_from={{_target_:subprocess.Popen,args:{TOUCH}}}"],
    "split": [f"split.test_size={{_target_:subprocess.Popen,args:{TOUCH}}}"],
    "candidates": [f"+candidates.x={{_target_:subprocess.Popen,args:{TOUCH}}}"],
    "filter": [f"+filters.x={{_target_:subprocess.Popen,args:{TOUCH}}}"],
    "setting of a filter": ["+filters.x={_target_:recgauge.filters.NCore,n:{_target_:stranger.Thing}}"],
    "filters as a whole": ["+filters._target_=stranger.Thing"],
    "metric": [f"+metrics.x={{_target_:subprocess.Popen,args:{TOUCH}}}"],
    "setting of a metric": [
        "+metrics.x={_target_:recgauge.metrics.ndcg.NDCG,gain:{_target_:stranger.Thing}}"
    ],
    "conventions": ["~conventions", f"+conventions={{_target_:subprocess.Popen,args:{TOUCH}}}"],
    "name of conventions": ["conventions.name={_target_:stranger.Thing}"],
    "tracking": ["~tracking", f"+tracking={{_target_:subprocess.Popen,args:{TOUCH}}}"],
    "tracking.uri": ["tracking.uri={_target_:stranger.Thing}"],
    "study": [f"study={{_target_:subprocess.Popen,args:{TOUCH}}}"],
    "setting of a study": [
        "study={_target_:recgauge.studies.worked_examples.WorkedExamples,name:{_target_:stranger.Thing}}"
    ],
    "reuse": ["reuse=true", "~model", "+model={_target_:stranger.Thing}"],
    "setting beside the groups": ["data.mirror={_target_:stranger.Thing}"],
    # allowed_targets
    "allowed_targets: a part of Python": [
        "allowed_targets=[os]",
        "~model",
        "+model={_target_:os.system,command:'touch marker'}",
    ],
    "allowed_targets: builtins": [
        "allowed_targets=[builtins]",
        "~model",
        "+model={_target_:builtins.open,file:marker,mode:w}",
    ],
    "allowed_targets: empty": ["allowed_targets=['']", "~model", "+model={_target_:stranger.Thing}"],
    "allowed_targets: dot": ["allowed_targets=['.']", "~model", "+model={_target_:stranger.Thing}"],
    "allowed_targets: star": ["allowed_targets=['*']", "~model", "+model={_target_:stranger.Thing}"],
    "allowed_targets: another package": [
        "allowed_targets=[strange]",
        "~model",
        "+model={_target_:stranger.Thing}",
    ],
    "allowed_targets: a function": [
        "allowed_targets=[pandas]",
        "~model",
        "+model={_target_:pandas.read_pickle,filepath_or_buffer:../pickle.pkl}",
    ],
    "allowed_targets: a class of another kind": [
        "allowed_targets=[numpy]",
        "~model",
        "+model={_target_:numpy.memmap,filename:marker,mode:w+,shape:3}",
    ],
    # Hydra's own part
    "callback": [f"+hydra.callbacks.x={{_target_:subprocess.Popen,args:{TOUCH}}}"],
    "callback of a module": ["+hydra.callbacks.x={_target_:stranger.Thing}"],
    "our callback with a setting": ["+hydra.callbacks.sweep.x={_target_:stranger.Thing}"],
    "callback in a sweep": ["-m", "model=random,svd", "+hydra.callbacks.x={_target_:stranger.Thing}"],
    "callback by interpolation": ["study={_target_:stranger.Thing}", "+hydra.callbacks.x=${study}"],
    "launcher": ["-m", "hydra.launcher._target_=stranger.Thing"],
    "setting of the launcher": ["-m", "+hydra.launcher.x={_target_:stranger.Thing}"],
    "sweeper": ["-m", "hydra.sweeper._target_=stranger.Thing"],
    "setting of the sweeper": [
        "-m",
        f"hydra.sweeper.max_batch_size={{_target_:subprocess.Popen,args:{TOUCH}}}",
    ],
    "logging to a file": [
        "++hydra.job_logging={version:1,handlers:{x:{class:logging.FileHandler,filename:marker}},root:{handlers:[x]}}"
    ],
    "logging that imports": ["hydra.job_logging={version:1,root:{level:'ext://stranger.Thing'}}"],
    "environment of the job": ["+hydra.job.env_set.PATH=.."],  # .. holds a program `git`
    "environment that is copied": ["hydra.job.env_copy=[SECRET]", "hydra.output_subdir=marker"],
    "variable that is not set": ["hydra.job.env_copy=[NOT_SET]"],
    "Hydra's own copies of the settings": ["hydra.output_subdir=marker"],
    "package in the search path": ["hydra.searchpath=['pkg://stranger']"],
    "package as the config path": ["--config-path=pkg://stranger"],
    "pickle of a run": ["--experimental-rerun=../rerun.pkl"],
    # the environment
    "variable": ["model.n_factors=${oc.env:SECRET}"],
    "variable with a default": ["model.n_factors=${oc.env:SECRET,3}"],
    "variable by the old resolver": ["model.n_factors=${env:SECRET}"],
    "variable that decides where results go": ["tracking.uri='http://stranger/${oc.env:SECRET}'"],
}

POPEN = "{_target_: subprocess.Popen, args: [touch, marker]}"
LOGGING = "{version: 1, handlers: {x: {(): subprocess.Popen, args: [touch, marker]}}, root: {handlers: [x]}}"
GLOBAL = "# @package _global_\n"
SWEEP = "hydra: {mode: MULTIRUN, sweeper: {params: {model: 'random,svd'}}}"
# file in a folder given by --config-dir: its text, and the words that choose it
IN_A_FILE = {
    "model": ("model/mine.yaml", f"{POPEN}", ["model=mine"]),
    "model with our class on top": (
        "model/mine.yaml",
        "_target_: recgauge.models.svd.SVD\n"
        "n_factors: {_target_: pandas.read_pickle, filepath_or_buffer: ../pickle.pkl}",
        ["model=mine"],
    ),
    "defaults list": (
        "model/mine.yaml",
        "defaults:\n  - svd\n  - _self_\nn_factors: {_target_: stranger.Thing}",
        ["model=mine"],
    ),
    "python object": (
        "model/mine.yaml",
        "_target_: recgauge.models.svd.SVD\nn_factors: !!python/object/apply:os.system ['touch marker']",
        ["model=mine"],
    ),
    "experiment": ("experiment/mine.yaml", f"{GLOBAL}model:\n  n_factors: {POPEN}", ["experiment=mine"]),
    "experiment in a sweep": (
        "experiment/mine.yaml",
        f"{GLOBAL}reuse: true\nstudy: {POPEN}\n{SWEEP}",
        ["experiment=mine"],
    ),
    "data of an experiment": (
        "experiment/mine.yaml",
        f"{GLOBAL}reuse: true\ndataset: {POPEN}\n{SWEEP}",
        ["experiment=mine"],
    ),
    "experiment with callbacks": (
        "experiment/mine.yaml",
        f"{GLOBAL}hydra: {{callbacks: {{x: {POPEN}}}}}",
        ["experiment=mine"],
    ),
    "experiment with a launcher": (
        "experiment/mine.yaml",
        f"{GLOBAL}hydra: {{mode: MULTIRUN, launcher: {{_target_: stranger.Thing}}}}",
        ["experiment=mine"],
    ),
    "logging that depends on the job's number": (
        "experiment/mine.yaml",
        f"{GLOBAL}study: {{'0': {LOGGING}}}\n"
        "hydra: {mode: MULTIRUN, job_logging: '${study.${hydra.job.id}}', sweeper: {params: {model: svd}}}",
        ["experiment=mine"],
    ),
    "callback by interpolation in a file": (
        "experiment/mine.yaml",
        f"{GLOBAL}study: {{x: {POPEN}}}\nhydra: {{callbacks: '${{study}}'}}",
        ["experiment=mine"],
    ),
    "oc.create": (
        "model/mine.yaml",
        "_target_: recgauge.models.svd.SVD\nn_factors: ${oc.create:{_target_:stranger.Thing}}",
        ["model=mine"],
    ),
    "oc.decode": (
        "model/mine.yaml",
        """_target_: recgauge.models.svd.SVD\nn_factors: ${oc.decode:'{_target_:stranger.Thing}'}""",
        ["model=mine"],
    ),
    "variable by a name in parts": (
        "model/mine.yaml",
        "_target_: recgauge.models.svd.SVD\na: SECRET\nvalues: ${oc.env:${.a}}",
        ["model=mine"],
    ),
    "variable by a resolver in parts": (
        "model/mine.yaml",
        "_target_: recgauge.models.svd.SVD\na: env\nvalues: ${oc.${.a}:SECRET}",
        ["model=mine"],
    ),
    "experiment with logging": (
        "experiment/mine.yaml",
        f"{GLOBAL}hydra: {{job_logging: {LOGGING}}}",
        ["experiment=mine"],
    ),
    "option of Hydra's groups": (
        "hydra/job_logging/mine.yaml",
        LOGGING,
        ["hydra/job_logging=mine"],
    ),
    "experiment that widens allowed_targets": (
        "experiment/mine.yaml",
        f"{GLOBAL}allowed_targets: [stranger]\nmodel: {{_target_: stranger.Thing}}",
        ["experiment=mine"],
    ),
    "experiment that widens what the user allows": (
        "experiment/mine.yaml",
        f"{GLOBAL}allowed_targets: [mine, stranger]\nmodel: {{_target_: stranger.Thing}}",
        ["experiment=mine", "+allowed_targets=[mine]"],
    ),
    "grid that widens allowed_targets": (
        "experiment/mine.yaml",
        f"{GLOBAL}hydra: {{mode: MULTIRUN, "
        "sweeper: {params: {allowed_targets: '[stranger]', model._target_: stranger.Thing}}}",
        ["experiment=mine"],
    ),
    "grid of the sweeper": (
        "experiment/mine.yaml",
        f"{GLOBAL}hydra: {{mode: MULTIRUN, sweeper: {{params: {{model: {POPEN}}}}}}}",
        ["experiment=mine"],
    ),
    "grid that adds a callback": (
        "experiment/mine.yaml",
        f"{GLOBAL}hydra: {{mode: MULTIRUN, "
        "sweeper: {params: {+hydra.callbacks.x._target_: stranger.Thing}}}",
        ["experiment=mine"],
    ),
    "grid that sets the environment": (
        "experiment/mine.yaml",
        f"{GLOBAL}hydra: {{mode: MULTIRUN, sweeper: {{params: {{+hydra.job.env_set.PATH: ..}}}}}}",
        ["experiment=mine"],
    ),
    "whole configuration": (
        "mine.yaml",
        "defaults: [config, _self_]\nallowed_targets: [stranger]\nmodel: {_target_: stranger.Thing}",
        ["--config-name=mine"],
    ),
    "whole configuration of its own": (
        "mine.yaml",
        f"model: {POPEN}\nhydra: {{callbacks: {{x: {POPEN}}}}}",
        ["--config-name=mine"],
    ),
    "whole configuration with a search path": (
        "mine.yaml",
        "defaults: [config, _self_]\nplace: 'pkg://stranger'\nhydra: {searchpath: ['${place}']}",
        ["--config-name=mine"],
    ),
    "plugin beside the files": ("hydra_plugins/mine/__init__.py", MODULE, ["model=nothing"]),
    "variable in a file": (
        "model/mine.yaml",
        "_target_: recgauge.models.svd.SVD\nvalues: ${oc.env:SECRET}",
        ["model=mine"],
    ),
}
PROBES = [*ON_THE_COMMAND_LINE, *(f"file: {name}" for name in IN_A_FILE)]


def prepare(folder: Path) -> None:
    """Put the stranger's modules and files where the probes expect them."""
    modules = folder / "modules"
    modules.mkdir()
    for name in ("stranger", "recgauge_stranger"):
        (modules / f"{name}.py").write_text(MODULE)
    harm = b"cposix\nsystem\n(S'touch marker'\ntR."
    for name in ("pickle.pkl", "rerun.pkl"):
        (folder / name).write_bytes(harm)
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
    header += b" " * (118 - len(header) - 1) + b"\n"
    (folder / "array.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00" + header + harm)
    git = folder / "git"
    git.write_text("#!/bin/sh\n: > marker\n")
    git.chmod(0o755)


def untracked(words):
    """Leave the store alone, unless the probe is about it or has no setting of that name."""
    return (
        []
        if any(word.startswith(("tracking", "~tracking", "--config-name")) for word in words)
        else ["tracking=off"]
    )


def commands_of(folder: Path) -> list[list[str]]:
    """Return the probes' command lines, in the order of PROBES; files are written into the folder."""
    commands = [[*words, *untracked(words)] for words in ON_THE_COMMAND_LINE.values()]
    for number, (file, text, words) in enumerate(IN_A_FILE.values()):
        path = folder / f"conf{number}" / file
        path.parent.mkdir(parents=True)
        path.write_text(text)
        commands.append([f"--config-dir={folder / f'conf{number}'}", *words, *untracked(words)])
    return commands


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """How each probe ended: exit code and output, and the folder in which it ran."""
    commands = commands_of(tmp_path_factory.mktemp("conf"))
    folder = tmp_path_factory.mktemp("probes")
    prepare(folder)
    variables = {"PYTHONPATH": str(folder / "modules"), "SECRET": "hunter2hunter2"}
    done = Workplace(folder).run_each(commands, environment=variables)
    folders = [folder / f"command{number}" for number in range(len(PROBES))]
    return dict(zip(PROBES, zip(done, folders, strict=True), strict=True))


@pytest.mark.parametrize("name", PROBES)
def test_a_hostile_setting_has_no_effect_and_is_refused_with_one_message(ended, name):
    done, folder = ended[name]
    assert not list(folder.rglob("marker"))
    assert done.code != 0
    assert done.err.count("error:") == 1, done.err
    assert "Traceback" not in done.err + done.out
    written = [path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()]
    assert not any("hunter2hunter2" in text for text in written)


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
    refused = workplace.run(*words, PYTHONPATH=str(workplace.folder))
    assert refused.code == 1
    assert "model._target_: 'mypackage.models.Mine' is not one of recgauge.*" in refused.err
    done = workplace.run(*words, "allowed_targets=[mypackage]", PYTHONPATH=str(workplace.folder))
    assert done.code == 0, done.err
    assert "mine on demo" in done.out


def test_a_configuration_may_read_variables_that_are_meant_for_it(workplace):
    words = ["--cfg=job", "--resolve", "dataset=table", "dataset.path=${oc.env:RECGAUGE_ROWS}"]
    done = workplace.run(*words, RECGAUGE_ROWS="rows.csv")
    assert "path: rows.csv" in done.out, done.err
