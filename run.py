"""Train and evaluate recommenders: ``python run.py model=svd metrics=ranking``; ``--help`` shows more."""

import sys

try:
    import hydra
    from omegaconf import DictConfig

    from recgauge.cli.main import command_line, run
except ModuleNotFoundError as error:
    sys.exit(f"{error}. Run `make install`, then activate the environment: source .venv/bin/activate")


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(config: DictConfig) -> None:
    """Run one job; the jobs of a sweep (``-m``) go to recgauge's launcher."""
    run(config)


if __name__ == "__main__":
    sys.exit(command_line(main))
