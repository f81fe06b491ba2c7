"""Train and evaluate recommenders: ``python run.py model=svd metrics=ranking``; ``--help`` shows more."""

import sys

try:
    from recgauge.utils import collecting

    if __name__ == "__main__":  # before the imports that take long
        collecting.pause()
    from recgauge.app.tracking import process

    if __name__ == "__main__":
        process.start(sys.argv[1:])
    from recgauge.app.main import run_command
except ModuleNotFoundError as error:
    sys.exit(f"{error}. Run `make install`, then activate the environment: source .venv/bin/activate")
except KeyboardInterrupt:  # Ctrl-C while libraries are imported
    print("error: stopped.", file=sys.stderr)  # noqa: T201 - what prints is not there yet
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(run_command(sys.argv[1:]))
