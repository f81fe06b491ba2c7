"""Draws docs/images/report.png: the report of README.md's sweep, without its notes, in a browser.

Needs chromium: ``python benchmarks/report_picture.py [FILE]``.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

RUN = Path(__file__).parents[1] / "run.py"
WORDS = ("-m", "model=popularity,item_knn,svd", "hydra.sweep.dir=out")
HIDDEN = "<style>.notes { display: none; } section h2 { margin-top: 1.6rem; }</style>"
SIZE = (1000, 1090)
COLOURS = 128


def draw(picture: Path) -> None:
    """Run the sweep in a folder of its own, and take the picture of its report."""
    with TemporaryDirectory() as name:
        for folder in (Path(name, "compiled"), Path(name, "drawn")):  # compiling would count as training
            folder.mkdir()
            subprocess.run([sys.executable, RUN, *WORDS], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        page = folder / "out" / "report.html"
        page.write_text(page.read_text(encoding="utf-8").replace("</head>", f"{HIDDEN}</head>"), "utf-8")
        taken = folder / "taken.png"
        size = f"--window-size={SIZE[0]},{SIZE[1]}"
        browser = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", size]
        subprocess.run([*browser, f"--screenshot={taken}", page.as_uri()], check=True, capture_output=True)
        with Image.open(taken) as image:
            image.convert("RGB").quantize(COLOURS).save(picture, optimize=True)


if __name__ == "__main__":
    draw(Path(sys.argv[1] if len(sys.argv) > 1 else RUN.parent / "docs" / "images" / "report.png"))
