"""Put the committed results into pages of docs/, between their markers.

python benchmarks/tables.py
"""

import json
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGES = [HERE.parent / "docs" / name for name in ("performance.md", "comparison.md", "models.md")]


def _cell(value):
    return (
        f"{value:,.3g}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )


def table(name):
    """Return one file of results as a table with the command and the machine above it."""
    result = json.loads((HERE / "results" / f"{name}.json").read_text(encoding="utf-8"))
    columns = list(dict.fromkeys(key for row in result["rows"] for key in row))
    lines = [columns, ["---"] * len(columns)]
    lines += [[_cell(row.get(column, "")) for column in columns] for row in result["rows"]]
    about = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in result["machine"].items())
    command = result.get("command", f"python benchmarks/{name}.py")
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"`{command}` on {about}\n\n{rows}"


def main():
    """Rewrite the pages."""
    marked = re.compile(r"(<!-- results: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(marked.sub(lambda m: f"{m[1]}{table(m[2])}\n{m[3]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
