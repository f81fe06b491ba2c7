"""The page of the worked examples, from the rows of results.csv."""

from collections import Counter
from collections.abc import Sequence

from recgauge.studies import Row
from recgauge.studies.files import markdown_table
from recgauge.studies.verdicts import REPRODUCED, tally


def page(rows: Sequence[Row]) -> str:
    """Return counts an article, where an article is wrong and why, and every case."""
    articles = list(dict.fromkeys(row["article"] for row in rows))
    return "\n\n".join(
        [
            f"{len(rows)} worked examples: {tally(row['verdict'] for row in rows)}. Ours is compared with "
            "what the article's own code computes; the printed number is compared with that, too.",
            _counts(articles, rows),
            "### Where a printed number is wrong or cannot be repeated",
            _wrong_prints(rows),
            "### Where an article's code has no value",
            _crashes(rows),
            "### Left out on purpose",
            _left_out(rows),
            "### Every example",
            *(_every(article, rows) for article in articles),
        ]
    )


def _counts(articles: Sequence[str], rows: Sequence[Row]) -> str:
    lines = []
    for article in articles:
        own = [row for row in rows if row["article"] == article]
        verdicts = Counter(row["verdict"] for row in own)
        n_printed = sum(bool(row["printed"]) for row in own)
        n_right = sum(row["print"] == "right" for row in own)
        others = len(own) - verdicts[REPRODUCED]
        lines.append(
            [article, *map(str, (len(own), verdicts[REPRODUCED], others, n_printed, n_printed - n_right))]
        )
    header = ["article", "examples", "reproduced", "left out", "printed numbers", "wrong or not repeatable"]
    return markdown_table(lines, header, right=header[1:])


def _wrong_prints(rows: Sequence[Row]) -> str:
    header = ["article", "example", "printed", "its code gives", "ours", "why"]
    names = ("article", "case", "printed", "code", "ours")
    cells = [
        [*(row[name] for name in names), "; ".join(filter(None, (row["print"], row["note"])))]
        for row in rows
        if row["printed"] and row["print"] != "right"
    ]
    return markdown_table(cells, header, right=header[2:5])


def _crashes(rows: Sequence[Row]) -> str:
    header = ["article", "example", "its code gives", "ours", "why"]
    cells = [
        [row["article"], row["case"], row["code"], row["ours"], row["note"]]
        for row in rows
        if (row["code"] == "NaN" or row["code"].endswith("Error")) and row["verdict"] == REPRODUCED
    ]
    return markdown_table(cells, header)


def _left_out(rows: Sequence[Row]) -> str:
    header = ["article", "example", "its code gives", "why"]
    cells = [
        [row["article"], row["case"], row["code"], f"{row['why']}. {row['note']}"]
        for row in rows
        if row["verdict"] != REPRODUCED
    ]
    return markdown_table(cells, header)


def _every(article: str, rows: Sequence[Row]) -> str:
    header = ["example", "definition", "printed", "its code gives", "ours", "verdict"]
    names = ("case", "variant", "printed", "code", "ours", "verdict")
    cells = [[row[name] for name in names] for row in rows if row["article"] == article]
    table = markdown_table(cells, header, right=header[2:5])
    return f"<details><summary>{article}</summary>\n\n{table}\n\n</details>"
