"""The examples of docs/extend.md, run as they stand there; and what the protocol promises."""

from __future__ import annotations

import json
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layoutdm
from layoutdm.errors import LayoutdmError

PAGE = Path(__file__).resolve().parent.parent / "docs" / "extend.md"
EXAMPLES = dict(
    re.findall(r"```python\n# example: (\w+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
)


def run(name: str) -> dict[str, Any]:
    scope: dict[str, Any] = {}
    exec(EXAMPLES[name], scope)
    return scope


def test_every_example_is_short() -> None:
    assert set(EXAMPLES) == {"generator", "denoiser", "term", "sampler"}
    for name, code in EXAMPLES.items():
        lines = [line for line in code.splitlines() if line.strip()]
        assert len(lines) < 30, name


def test_a_generator_of_ones_own() -> None:
    scope = run("generator")
    model, result = scope["model"], scope["result"]
    assert result.layout.labels[0] == "title" and result.layout.boxes[0, 0] == 0.4
    wish = {
        "elements": [{"name": "a", "label": "text"}, {"name": "b", "label": "figure"}],
        "relations": [{"of": "a", "is": "below", "to": "b"}],
    }
    assert all(one.met for one in model.generate(wish, count=5))
    draft = {name: {"about": 0.5} for name in ("x", "y", "width", "height")}
    with pytest.raises(LayoutdmError, match="does not read drafts"):
        model.generate({"elements": [{"label": "text", **draft}]})
    together = model.generate_many([wish, None] * 3, seed=2)
    for index, one in enumerate(together):
        (alone,) = model.stream([wish, None][index % 2], [index], 2)
        assert alone.layout == one.layout
    with pytest.raises(LayoutdmError, match="cannot be pickled"):
        pickle.dumps(model)


@pytest.mark.parametrize(
    ("part", "value", "told"),
    [
        ("label", 3, "labels that are not from 0 to 2"),
        ("box", np.nan, "boxes that are no numbers"),
        ("box", np.zeros((1, 12)), "as shapes of label, box, mask"),
    ],
)
def test_what_a_generator_does_wrong_is_told(part: str, value: Any, told: str) -> None:
    class Wrong(run("generator")["Stack"]):  # type: ignore[misc]
        def draw(self, *given: Any) -> Any:
            drawn = super().draw(*given)
            if np.ndim(value):
                return replace(drawn, **{part: value})
            getattr(drawn, part)[:] = value
            return drawn

    with pytest.raises(LayoutdmError, match=f"generator 'stack' drew .*{told}"):
        layoutdm.Model(Wrong()).generate(count=1)


def test_evaluate_tells_its_arguments() -> None:
    with pytest.raises(LayoutdmError, match="evaluate has no 'count'; there are: tasks, split"):
        layoutdm.evaluate("rico25", "sample", count=3)


def test_a_denoiser_of_ones_own() -> None:
    layouts = run("denoiser")["layouts"]
    assert all(one.layout.labels == ("text",) * 3 for one in layouts)


def test_a_term_of_ones_own() -> None:
    layouts = run("term")["layouts"]
    assert min(float(one.layout.boxes[:, 2].min()) for one in layouts) > 0.45


def test_a_sampler_of_ones_own() -> None:
    layouts = run("sampler")["layouts"]
    assert [one.layout.labels[0] for one in layouts] == ["title"] * 2
    assert all(one.layout.boxes[0, 2] == 0.5 for one in layouts)


def test_a_folder_names_its_generator(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"generator": "os.system", "labels": ["a"]}))
    with pytest.raises(LayoutdmError, match=r"'os\.system' is unknown; there are: layoutdm"):
        layoutdm.load(tmp_path)


def test_a_model_travels_and_is_used_from_threads() -> None:
    model = layoutdm.load("rico25", threads=1)
    expected = [one.layout for one in model.generate({}, count=6, seed=3)]
    copied = pickle.loads(pickle.dumps(model))
    assert [one.layout for one in copied.generate({}, count=6, seed=3)] == expected
    with ThreadPoolExecutor(3) as pool:
        parts = list(pool.map(lambda i: next(iter(model.stream({}, [i], 3))).layout, range(6)))
    assert parts == expected


def test_a_model_works_after_a_fork() -> None:
    import multiprocessing

    model = layoutdm.load("publaynet", threads=1)
    expected = [np.asarray(one.layout.boxes) for one in model.generate({}, count=2, seed=1)]
    context = multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        found = pool.apply_async(_boxes, (model,)).get(timeout=900)
    assert all((a == b).all() for a, b in zip(found, expected, strict=True))


def _boxes(model: layoutdm.Model) -> list[np.ndarray]:
    return [np.asarray(one.layout.boxes) for one in model.generate({}, count=2, seed=1)]
