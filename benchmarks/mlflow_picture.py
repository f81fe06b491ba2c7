"""Draws docs/images/mlflow.png: the page in MLflow of README.md's sweep, in a browser.

Needs chromium, and port 5000: ``python benchmarks/mlflow_picture.py [FILE]``.
"""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

RECGAUGE = (sys.executable, "-m", "recgauge")
SWEEP = ("run", "-m", "model=popularity,item_knn,svd")
SIZE = (1600, 780)
ASSISTANT = 412  # pixels of MLflow's own panel at the right, which is cut off
WAIT = 60_000  # milliseconds of the page's clock: MLflow draws its page with scripts
COLOURS = 128


def draw(picture: Path) -> None:
    """Run the sweep in a folder of its own, and take the picture of its page in MLflow."""
    with TemporaryDirectory() as folder:
        done = subprocess.run([*RECGAUGE, *SWEEP], cwd=folder, check=True, capture_output=True, text=True)
        address = re.search(r"^mlflow +([^\s;]+)", done.stdout, re.MULTILINE)
        if not address:
            sys.exit(f"no address in:\n{done.stdout}")
        command = [*RECGAUGE, "ui", "--port", "5000"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
            try:
                next(line for line in server.stdout or () if line.startswith("http"))
                take(address[1], picture)
            finally:
                server.terminate()


def take(address: str, picture: Path) -> None:
    """Write what a browser shows of an address, without the panel at its right."""
    size, wait = f"--window-size={SIZE[0]},{SIZE[1]}", f"--virtual-time-budget={WAIT}"
    # a mouse, without which plotly shows its tools on every chart
    mouse = "--blink-settings=primaryHoverType=2,availableHoverTypes=2"
    browser = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    browser += [mouse, size, wait]
    subprocess.run([*browser, f"--screenshot={picture}", address], check=True, capture_output=True)
    with Image.open(picture) as image:
        page = image.convert("RGB").crop((0, 0, SIZE[0] - ASSISTANT, SIZE[1]))
    page.quantize(COLOURS).save(picture, optimize=True)


if __name__ == "__main__":
    image = Path(__file__).parents[1] / "docs" / "images" / "mlflow.png"
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else image)
