"""Wishes hold in every layout that comes back, whatever the generator draws."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layoutdm
from layoutdm.errors import LayoutdmError
from layoutdm.generator import Drawn, Options, empty
from layoutdm.model import Model
from layoutdm.simplex import WORK, Effort, Simplex
from layoutdm.spec import Condition

sys.path.insert(0, str(Path(__file__).parent.parent / "bench"))
from wishes import DESIGNERS, holds, missed, random_request

LABELS = ("Text", "Image", "Icon", "Text Button", "Toolbar", "Input", "On/Off Switch", "text",
          "title", "figure", "table")  # fmt: skip


@dataclass(frozen=True)
class Scatter:
    """A system that knows nothing: boxes anywhere. Wishes hold all the same."""

    name: str = "scatter"
    labels: tuple[str, ...] = LABELS
    max_elements: int = 25
    fingerprint: str = "0"
    options: type[Options] = Options
    aliases: Any = None
    canvas: tuple[float, float] = (1440.0, 2560.0)

    def usual(self, task: str) -> Options:
        return Options()

    def refuses(self, condition: Condition) -> str | None:
        return None

    def draw(
        self,
        conditions: Sequence[Condition],
        options: Any,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        drawn = empty(len(conditions), self.max_elements)
        for row, (condition, stream) in enumerate(zip(conditions, streams, strict=True)):
            n = condition.min_elements
            size = stream.uniform(0.05, 0.5, (n, 2))
            drawn.box[row, :n, 2:] = size
            drawn.box[row, :n, :2] = size / 2 + stream.random((n, 2)) * (1 - size)
            drawn.label[row, : len(condition)] = condition.label_choices.argmax(axis=1)
            drawn.mask[row, :n] = True
        return drawn


MODEL = Model(Scatter(aliases={"Navbar": "Toolbar"}))


def boxes_of(request: dict[str, Any], seed: int = 0) -> list[list[float]]:
    return MODEL.generate(request, count=1, seed=seed)[0].layout.boxes.tolist()


@pytest.mark.parametrize("new", [False, True])
def test_random_requests_with_a_solution_are_met(new: bool) -> None:
    rng = np.random.default_rng(11)
    requests = [random_request(rng, LABELS, new) for _ in range(60)]
    results = MODEL.generate_many(requests, seed=1)
    wrong = [
        (k, missed(request, result.layout.boxes.tolist()))
        for k, (request, result) in enumerate(zip(requests, results, strict=True))
        if missed(request, result.layout.boxes.tolist())
    ]
    assert len(wrong) <= 1, wrong
    assert all(result.met == (k not in dict(wrong)) for k, result in enumerate(results))


@pytest.mark.parametrize("title", DESIGNERS)
def test_designers_requests_are_met(title: str) -> None:
    for result in MODEL.generate(DESIGNERS[title], count=5, seed=2):
        assert missed(DESIGNERS[title], result.layout.boxes.tolist()) == []
        assert result.met


PAIR = [{"name": "a", "label": "Text"}, {"name": "b", "label": "Image"}]


@pytest.mark.parametrize(
    "kind",
    ["above", "below", "left_of", "right_of", "overlapping", "inside", "apart", "left_aligned",
     "right_aligned", "top_aligned", "bottom_aligned", "centered_with", "level_with", "same_width",
     "same_height", "smaller", "equal_size", "larger"],
)  # fmt: skip
def test_every_relation_holds(kind: str) -> None:
    for seed in range(4):
        wish = {"of": "a", "is": kind, "to": "b"}
        one, other = boxes_of({"elements": PAIR, "relations": [wish]}, seed)
        assert holds(kind, one, other)


@pytest.mark.parametrize(
    "kind", ["top", "middle", "bottom", "left_aligned", "centered_with", "level_with", "same_width"]
)
def test_relations_to_the_canvas_hold(kind: str) -> None:
    wish = {"of": "a", "is": kind, "to": "canvas"}
    for seed in range(4):
        one = boxes_of({"elements": PAIR, "relations": [wish]}, seed)[0]
        assert holds(kind, one, None)


def test_a_wish_with_a_strength_only_pulls_and_guided_settles_nothing() -> None:
    soft = {"of": "a", "is": "left_aligned", "to": "b", "strength": 3}
    result = MODEL.generate({"elements": PAIR, "relations": [soft]}, count=1)[0]
    assert not result.met
    assert result.report.holds
    hard = {"of": "a", "is": "left_aligned", "to": "b"}
    request = {"elements": PAIR, "relations": [hard]}
    assert not MODEL.generate(request, count=1, relations="guided")[0].met
    assert MODEL.generate(request, count=1)[0].met
    with pytest.raises(LayoutdmError, match="relations must be hold or guided"):
        MODEL.generate(request, relations="maybe")


def test_groups_gaps_and_margins() -> None:
    names = ["a", "b", "c", "d"]
    elements = [{"name": name, "label": "Text"} for name in names]
    column = {"column": names, "gap": "equal", "align": "left", "same": "size"}
    boxes = np.array(boxes_of({"elements": elements, "groups": [column], "margins": 0.05}))
    low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
    gaps = low[1:, 1] - high[:-1, 1]
    assert np.ptp(gaps) < 1e-6
    assert gaps.min() > -1e-6
    assert np.ptp(low[:, 0]) < 1e-6
    assert np.ptp(boxes[:, 2]) < 1e-6
    assert np.ptp(boxes[:, 3]) < 1e-6
    assert low.min() > 0.05 - 1e-6
    assert high.max() < 0.95 + 1e-6
    grid = {"grid": [["a", "b"], ["c", "d"]], "gap": 0.02, "same": "size"}
    boxes = np.array(boxes_of({"elements": elements, "groups": [grid]}))
    low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
    np.testing.assert_allclose(low[[1, 3], 0] - high[[0, 2], 0], 0.02, atol=1e-6)
    np.testing.assert_allclose(low[[2, 3], 1] - high[[0, 1], 1], 0.02, atol=1e-6)


def test_columns_of_a_grid_stay_in_order_around_empty_cells() -> None:
    names = ["a", "b", "c", "d"]
    elements = [{"name": name, "label": "Text"} for name in names]
    for seed in range(6):  # no two of these share a row
        grid = {"grid": [["a", None, None], [None, "b", None], [None, None, "c"]], "gap": "equal"}
        boxes = np.array(boxes_of({"elements": elements, "groups": [grid]}, seed))
        right, left = boxes[:, 0] + boxes[:, 2] / 2, boxes[:, 0] - boxes[:, 2] / 2
        assert right[0] <= left[1] + 1e-6
        assert right[1] <= left[2] + 1e-6
    grid = {"grid": [["a", None, "b"], ["c", "d"]], "gap": 0.05, "same": "size"}
    result = MODEL.generate({"elements": elements, "groups": [grid]}, count=1)[0]
    assert result.met
    left = result.layout.boxes[:, 0] - result.layout.boxes[:, 2] / 2
    width = result.layout.boxes[0, 2]
    assert left[3] == pytest.approx(left[2] + width + 0.05)  # neighbours
    assert left[1] >= left[3] + width - 1e-6  # beyond the empty cell
    with pytest.raises(LayoutdmError, match="its columns side by side cannot hold"):
        wide = [{"name": name, "label": "Text", "width": 0.7} for name in names]
        MODEL.generate({"elements": wide, "groups": [{"grid": [["a", None], [None, "b"]]}]})


def test_what_was_drawn_lined_up_moves_together() -> None:
    from layoutdm.settle import settle

    names = ["d", "a", "b", "c"]
    request = {"elements": [{"name": name, "label": "Text"} for name in names],
               "relations": [{"of": "a", "is": "right_of", "to": "d"}]}  # fmt: skip
    drawn = np.array([[0.1, 0.2, 0.2, 0.1], *([0.4, y, 0.5, 0.1] for y in (0.2, 0.4, 0.6))])
    boxes = settle(MODEL.condition(request), drawn, np.zeros(4, np.intp)).boxes
    left = boxes[:, 0] - boxes[:, 2] / 2
    assert left[1] >= boxes[0, 0] + boxes[0, 2] / 2 - 1e-6  # the wish
    np.testing.assert_allclose(left[2:], left[1], atol=1e-6)  # the column
    np.testing.assert_allclose(boxes[2:, 2], boxes[1, 2], atol=1e-6)


def test_a_draw_that_would_move_far_is_drawn_again() -> None:
    elements = [{"name": name, "label": "Text"} for name in "abcdef"]
    column = [{"of": b, "is": "below", "to": a} for a, b in zip("abcde", "bcdef", strict=True)]
    far = MODEL.generate({"elements": elements, "relations": column}, count=1)[0]
    assert far.attempts > 1
    assert far.met
    assert MODEL.generate({"elements": elements[:1]}, count=1)[0].attempts == 1
    near = {"of": "a", "is": "larger", "to": "b"}
    results = MODEL.generate({"elements": PAIR, "relations": [near]}, count=8)
    assert {result.attempts for result in results} == {1, 2}  # half of them are larger as drawn


def test_jobs_know_other_words_for_labels_and_tell_all_that_is_wrong() -> None:
    from layoutdm.jobs import Job

    assert Job.of(MODEL, {"elements": [{"label": "navbar"}]}).request is not None
    wrong = {"elements": [{"name": "a", "label": "Txt"}, {"name": "b"}],
             "relations": [{"of": "a", "is": "under", "to": "b"}]}  # fmt: skip
    with pytest.raises(LayoutdmError, match=r"(?s)did you mean 'below'.*unknown label 'Txt'"):
        Job.of(MODEL, wrong)


def test_pixels_edges_and_the_users_canvas() -> None:
    request = {
        "canvas": {"width": 390, "height": 844},
        "unit": "px",
        "elements": [
            {"name": "bar", "label": "navbar", "left": 0, "right": 390, "top": 0, "height": 56},
            {"name": "cta", "label": "text button", "left": 24, "bottom": 800},
        ],
        "relations": [{"of": "cta", "is": "below", "to": "bar", "gap": 100}],
    }
    layout = MODEL.generate(request, count=1)[0].layout
    assert layout.labels == ("Toolbar", "Text Button")
    assert (layout.width, layout.height) == (390, 844)
    assert "1440 x 2560" in layout.metadata["trained_on"]
    bar, cta = layout.corners(pixels=True)
    np.testing.assert_allclose(bar, [0, 0, 390, 56], atol=1e-9)
    np.testing.assert_allclose(cta[[0, 1, 3]], [24, 156, 800], atol=1e-6)
    with pytest.raises(LayoutdmError, match="canvas: is missing"):
        MODEL.generate({"unit": "px", "elements": [{"label": "Text"}]})


def test_within_is_a_bound_and_about_is_not() -> None:
    wish = {"about": 0.2, "within": 0.01}
    for seed in range(3):
        box = boxes_of({"elements": [{"label": "Text", "y": wish, "height": 0.1}]}, seed)[0]
        assert abs(box[1] - 0.2) <= 0.01 + 1e-9
    with pytest.raises(LayoutdmError, match="no box on the canvas has the given y and height"):
        MODEL.generate({"elements": [{"label": "Text", "y": wish, "height": 0.9}]})


def test_a_bound_holds_when_the_drawn_box_would_have_to_shrink_a_lot() -> None:
    """Areas let sizes change by a factor a round: one round is not enough for it to fit."""
    from layoutdm.settle import settle

    wish = {"about": 0.117, "within": 0.034}
    request = {"elements": [{"label": "Text", "area": 0.01}, {"label": "Image", "y": wish}]}
    drawn = np.array([[0.5, 0.8, 0.3, 0.3], [0.5, 0.48, 0.3, 0.9]])
    settled = settle(MODEL.condition(request), drawn, np.zeros(2, np.intp))
    _, y, _, height = settled.boxes[1]
    assert y - height / 2 >= -1e-9
    assert abs(y - 0.117) <= 0.034 + 1e-9


def test_a_careful_draft_is_kept() -> None:
    rng = np.random.default_rng(0)
    truth = np.array([[0.5, 0.1, 0.8, 0.1], [0.5, 0.2, 0.8, 0.1], [0.5, 0.45, 0.8, 0.4]])
    draft = truth + 0.01 * rng.standard_normal(truth.shape)
    fields = ("x", "y", "width", "height")
    elements = [
        {"label": "Text", **{f: {"about": v} for f, v in zip(fields, box, strict=True)}}
        for box in draft.tolist()
    ]
    kept = np.array(boxes_of({"elements": elements}))
    assert np.abs(kept - truth).mean() < 0.02


def test_layouts_do_not_depend_on_the_batch() -> None:
    rng = np.random.default_rng(3)
    requests = [random_request(rng, LABELS, True) for _ in range(6)]
    together = MODEL.generate_many(requests, seed=4)
    for index, request in enumerate(requests):
        (alone,) = MODEL.stream_many([(index, request)], seed=4, batch_size=1)
        np.testing.assert_array_equal(alone.layout.boxes, together[index].layout.boxes)


def test_six_hundred_relations_of_25_elements() -> None:
    rng = np.random.default_rng(5)
    size = rng.uniform(0.02, 0.2, (25, 2))
    boxes = np.concatenate([size / 2 + rng.random((25, 2)) * (1 - size), size], axis=1).tolist()
    from wishes import place

    relations = [
        {"of": f"e{i}", "is": place(boxes[i], boxes[j]), "to": f"e{j}"}
        for i in range(25)
        for j in range(25)
        if i != j
    ]
    request = {"elements": [{"name": f"e{i}", "label": "Text"} for i in range(25)],
               "relations": relations * 10}  # fmt: skip
    assert missed(request, boxes_of(request)) == []


def test_the_check_knows_that_a_centre_moves_both_edges() -> None:
    request = {
        "elements": [
            {"name": "e1", "y": 0.297}, {"name": "e2", "y": 0.721}, {"name": "e3", "y": 0.67},
        ],
        "relations": [{"of": "e3", "is": "above", "to": "e2"},
                      {"of": "e1", "is": "left_of", "to": "e3"}],
    }  # fmt: skip
    with pytest.raises(LayoutdmError, match="'e1 left_of e3' cannot hold together with"):
        MODEL.generate(request)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(LayoutdmError) as caught:
        MODEL.generate({
            "elements": [{"name": "a", "label": "Txt", "hight": 0.3}, {"name": "canvas"}],
            "number_of_elements": 99,
            "groups": [{"column": ["a", "z"]}],
        })  # fmt: skip
    told = str(caught.value)
    assert "did you mean 'height'?" in told
    assert "did you mean 'Text'" in told
    assert "99 elements are more than the model's 25" in told
    assert "choose another name" in told
    assert "no element is named 'z'" in told


def test_wishes_that_are_in_each_others_way_are_named() -> None:
    from layoutdm.settle import obstacles

    request = {
        "elements": [{"name": "a", "label": "Text", "width": 0.9, "height": 0.9},
                     {"name": "b", "label": "Image"}],
        "relations": [{"of": "b", "is": kind, "to": "a"} for kind in ("larger", "apart")],
    }  # fmt: skip
    result = MODEL.generate(request, count=1)[0]
    assert not result.met
    assert obstacles(MODEL.condition(request), result.layout) == ["b larger a", "b apart a"]


@pytest.mark.slow
def test_hundreds_of_relations_hold_and_are_not_settled_again_and_again():
    names = [f"e{i}" for i in range(25)]
    pairs = [(of, to) for i, of in enumerate(names) for to in names[:i]]
    request = {
        "elements": [{"name": name, "label": "Image"} for name in names],
        "relations": [
            {"of": of, "is": kind, "to": to} for of, to in pairs for kind in ("below", "smaller")
        ],
    }
    (result,) = layoutdm.load("rico25").generate(request, count=1)
    assert result.met and result.attempts == 1  # each attempt takes seconds


def test_problems_together_end_when_their_effort_is_spent():
    effort = Effort(spent=WORK)
    problem = Simplex(np.array([0.2, 0.5]), np.zeros(2), np.ones(2), np.ones(2), effort)
    problem.add(np.array([-1.0, 1.0]), -0.1, 1000.0)
    assert effort.over and problem.values().tolist() == [0.2, 0.5]
