"""The files that a command is asked for by ``--out``: their endings, and each written whole or not at all."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from recgauge.errors import ConfigError, listed


def check_formats(files: Sequence[Path], formats: Sequence[str]) -> None:
    """Refuse files whose ending does not say what they are to hold."""
    if wrong := [str(file) for file in files if file.suffix not in formats]:
        raise ConfigError(f"--out: {listed(wrong)} must end in one of {', '.join(formats)}.")


def write_files(writers: Mapping[Path, Callable[[Path], object]]) -> list[Path]:
    """Write each file by its function, whole or not at all, and return them."""
    for file, write in writers.items():
        hidden = file.with_name(f".unfinished-{file.name}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write(hidden)
            hidden.replace(file)
        except OSError as error:
            raise ConfigError(f"--out: {file} cannot be written: {error.strerror or error}.") from error
        finally:
            with suppress(OSError):
                hidden.unlink(missing_ok=True)
    return list(writers)


def text_writer(text: str) -> Callable[[Path], object]:
    """Return what writes a text as UTF-8."""
    return lambda path: path.write_text(text, encoding="utf-8")
