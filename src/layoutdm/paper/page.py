"""Fill a page with tables and figures: the text is written by people, the figures by the command.

What stands between `<!-- table2 -->` and `<!-- /table2 -->` is replaced; all else stays.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from layoutdm.atomic import write_bytes

NOTHING = "*Not made yet.*"


def fill(page: Path, titles: Mapping[str, str], out: Path) -> None:
    """Put these tables and figures into their places; a page that is missing is begun."""
    if page.exists():
        text = page.read_text(encoding="utf-8")
    else:
        places = [f"## {title}\n\n{_place(name, NOTHING)}\n" for name, title in titles.items()]
        text = "# The paper's tables and figures\n\n" + "\n".join(places)
    for name, title in titles.items():
        pattern = re.compile(f"<!-- {name} -->.*?<!-- /{name} -->", re.DOTALL)
        body = _place(name, content(name, title, out, page.parent))
        text = pattern.sub(lambda match, body=body: body, text)  # type: ignore[misc]
    page.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(page, text.encode())


def content(name: str, title: str, out: Path, folder: Path) -> str:
    """The table without its title, and the pictures, as they are linked from `folder`."""
    parts = []
    table = out / f"{name}.md"
    if table.exists():
        _, _, body = table.read_text(encoding="utf-8").partition("\n\n")
        parts.append(re.sub("^## ", "### ", body.strip(), flags=re.MULTILINE))
    for picture in sorted([*out.glob(f"{name}.png"), *out.glob(f"{name}_*.png")]):
        where = Path(os.path.relpath(picture, folder)).as_posix()
        parts.append(f"![{title}: {picture.stem}]({where})")
    return "\n\n".join(parts) or NOTHING


def _place(name: str, body: str) -> str:
    return f"<!-- {name} -->\n{body}\n<!-- /{name} -->"
