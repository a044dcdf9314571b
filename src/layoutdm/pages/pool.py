"""The user's own elements: crops by label (`folder/table/*.png`), fitted without distortion."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random

from PIL import Image, ImageOps

from layoutdm.errors import LayoutdmError
from layoutdm.pages.sheet import Sheet
from layoutdm.pages.truth import Box

ENDINGS = {".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff"}
ORIENTATION = 0x0112  # of Exif: how a camera was held
LONGEST = 2000  # pixels of a crop's longer side that are kept
CHOICE = 12  # crops that are looked at for one box; the one of the most like shape is taken


@dataclass(frozen=True)
class Pool:
    """Files with their width over height, by label in small letters."""

    crops: dict[str, tuple[tuple[str, float], ...]]

    def pick(self, label: str, box: Box, random: Random) -> str | None:
        some = self.crops.get(label.casefold())
        if not some:
            return None
        shape = (box[2] - box[0]) / max(box[3] - box[1], 1)
        looked = random.sample(some, min(CHOICE, len(some)))
        return min(looked, key=lambda crop: (max(crop[1] / shape, shape / crop[1]), crop[0]))[0]

    def fingerprint(self) -> str:
        """By names and contents, not by where the folder is."""
        digest = hashlib.sha256()
        for label, crops in sorted(self.crops.items()):
            for path, _ in crops:
                opened(path)  # a broken file is told before the first page is made
                digest.update(f"{label}/{Path(path).name}".encode())
                digest.update(hashlib.sha256(Path(path).read_bytes()).digest())
        return digest.hexdigest()[:16]


def load(folder: Path) -> Pool:
    """A pool from `folder/label/*.png`; capitals of labels do not matter."""
    if not folder.is_dir():
        raise LayoutdmError(f"--pool {folder}: should be a folder with one folder for each label")
    crops: dict[str, tuple[tuple[str, float], ...]] = {}
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        found = []
        for file in sorted(place.iterdir()):
            if file.suffix.lower() not in ENDINGS:
                continue
            with _told(file), Image.open(file) as image:
                wide, tall = image.size
                lying = image.getexif().get(ORIENTATION, 1) >= 5
                found.append((str(file), tall / wide if lying else wide / tall))
        if found:
            name = place.name.casefold()
            crops[name] = (*crops.get(name, ()), *found)
    if not crops:
        raise LayoutdmError(
            f"--pool {folder}: holds no pictures; it should look like {folder}/table/1.png"
        )
    return Pool(crops)


@contextmanager
def _told(file: str | Path) -> Iterator[None]:
    """One sentence for all that a picture may have wrong."""
    try:
        yield
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise LayoutdmError(f"{file}: cannot be opened as a picture ({error})") from None


@lru_cache(64)
def opened(path: str) -> Image.Image:
    """A crop in colours on white, upright, and no larger than a page can show."""
    with _told(path), Image.open(path) as image:
        image.draft("RGB", (LONGEST, LONGEST))  # a large JPEG is read smaller at once
        image.thumbnail((LONGEST, LONGEST))
        upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith("I"):  # sixteen bits: the upper eight
        upright = upright.point(lambda value: value / 257).convert("L")
    if upright.mode not in ("RGBA", "LA", "PA", "P") and "transparency" not in upright.info:
        return upright.convert("RGB")
    clear = upright.convert("RGBA")
    white = Image.new("RGBA", clear.size, (255, 255, 255, 255))
    return Image.alpha_composite(white, clear).convert("RGB")


def paste(sheet: Sheet, path: str, box: Box) -> None:
    """The crop as large as the box allows with its own shape, in the box's middle."""
    left, top, right, bottom = (round(v) for v in box)
    crop = opened(path)
    scale = min((right - left) / crop.width, (bottom - top) / crop.height)
    size = (max(1, int(crop.width * scale)), max(1, int(crop.height * scale)))
    image = crop.resize(size, Image.Resampling.LANCZOS if scale < 1 else Image.Resampling.BICUBIC)
    x = left + (right - left - size[0]) // 2
    y = top + (bottom - top - size[1]) // 2
    sheet.picture(image, x, y)
