"""Pages by index: a maker lives in each worker, holds the model, and makes any page of the set.

>>> maker = PageMaker(Recipe(height=300, seed=4))
>>> from layoutdm.layout import Layout
>>> layout = Layout.create(["text"], [[0.5, 0.5, 0.8, 0.5]])
>>> made = list(maker.make(range(7, 8), [layout]))[0]
>>> made.record["id"], sorted(made.files)
('4-7', ['images/train/4-7.jpg', 'truth/train/4-7.json'])
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from layoutdm.jobs.making import Made
from layoutdm.layout import Layout
from layoutdm.pages import balance, choices
from layoutdm.pages.recipe import IMAGES, Recipe
from layoutdm.pages.render import LETTER, Look, Page, render
from layoutdm.scale.layouts import check_weights

if TYPE_CHECKING:
    from layoutdm.model import Model

QUALITY = 90


class PageMaker:
    """Makes pages of one recipe; the model and the fonts are loaded when they are first needed."""

    def __init__(self, recipe: Recipe, threads: int | None = 1) -> None:
        self.recipe = recipe
        self._threads = threads

    @cached_property
    def model(self) -> Model:
        from layoutdm.model import load

        model = load(self.recipe.model, threads=self._threads)
        check_weights(self.recipe.model, model.generator.fingerprint, self.recipe.weights_of_model)
        return model

    @cached_property
    def look(self) -> Look:
        return self.recipe.look()

    def layouts(self, indices: range) -> Iterator[Layout]:
        """The layouts of these indices, from the model."""
        recipe = self.recipe
        if recipe.bags:
            numbered = ((index, self._labels(index)) for index in indices)
            results = self.model.stream_many(numbered, recipe.seed, **recipe.settings)
        else:
            results = self.model.stream(recipe.request, indices, recipe.seed, **recipe.settings)
        return (result.layout for result in results)

    def _labels(self, index: int) -> dict[str, Any]:
        recipe = self.recipe
        chosen = balance.choose(recipe.bags, recipe.weights, recipe.seed, index)
        return {"elements": [{"label": label} for label in recipe.bags[chosen]]}

    def make(self, indices: range, layouts: Iterable[Layout] | None = None) -> Iterator[Made]:
        """What is to be written for each page: its record, and its files by name."""
        some = self.layouts(indices) if layouts is None else layouts
        for index, layout in zip(indices, some, strict=True):
            yield self.page(index, layout)

    def page(self, index: int, layout: Layout) -> Made:
        recipe = self.recipe
        own = layout.width / layout.height if layout.width != layout.height else LETTER
        shape = choices.shape(recipe.seed, index, own, recipe.sizes, recipe.landscape)
        split = choices.split(recipe.seed, index, recipe.splits)
        page = render(layout, recipe.seed, index, self.look, shape)
        name = f"{split}/{recipe.seed}-{index}"
        picture = f"images/{name}.{recipe.image}"
        files = {picture: encode(page, recipe.image)}
        if recipe.words:
            text = json.dumps(page.truth.as_dict(), separators=(",", ":"), ensure_ascii=False)
            files[f"truth/{name}.json"] = text.encode()
        if recipe.pdf:
            from layoutdm.pages.pdf import to_pdf

            files[f"pdf/{name}.pdf"] = to_pdf(page)
        record = page.truth.layout(boxes=recipe.boxes, file_name=picture, split=split).as_dict()
        return Made(record, files)


def encode(page: Page, kind: str) -> bytes:
    store = io.BytesIO()
    options: dict[str, Any] = {"quality": QUALITY} if kind == "jpg" else {"compress_level": 3}
    page.image.save(store, IMAGES[kind], **options)
    return store.getvalue()
