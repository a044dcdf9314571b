"""The studio: the web page in `static/`, which `layoutdm studio` serves.

>>> (FOLDER / "index.html").is_file()
True

Hand-written SVG and ES modules: no build step, nothing fetched from elsewhere.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "static"
