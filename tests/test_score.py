"""`layoutdm score` and what stands behind it: every metric, every odd file."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layoutdm import Layout, LayoutdmError, __version__, formats, metrics
from layoutdm.evaluate.corruptions import STRENGTHS, corrupt
from layoutdm.evaluate.files import choose_network, score_files
from layoutdm.evaluate.reading import mend, read_set
from layoutdm.evaluate.requests import asked_relations, read_requests
from layoutdm.evaluate.score import METRICS, Options, all_relations, score
from layoutdm.metrics.features import FeatureNetwork, load_features
from layoutdm.spec import Spec

LABELS = ("text", "title", "figure")  # all of them known to the publaynet network


def pages(count: int, seed: int = 0, labels: tuple[str, ...] = LABELS) -> list[Layout]:
    rng = np.random.default_rng(seed)
    result = []
    for index in range(count):
        n = int(rng.integers(1, 5))
        size = rng.uniform(0.1, 0.4, (n, 2))
        boxes = np.hstack([size / 2 + rng.random((n, 2)) * (1 - size), size])
        names = [labels[i] for i in rng.integers(0, len(labels), n)]
        result.append(Layout.create(names, boxes, id=f"p{index}"))
    return result


def save(layouts: list[Layout], path: Path) -> Path:
    return formats.write(layouts, path)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "layoutdm", "score", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def network() -> FeatureNetwork:
    return load_features("publaynet", threads=1)


# The sheet -----------------------------------------------------------------------------------


def test_sheet_has_the_metrics_own_figures(network: FeatureNetwork) -> None:
    made, real = pages(40, 1), pages(60, 2)
    sheet = score(made, real, network=network, options=Options(fid_resamples=5))
    first, second = (metrics.pack(x, LABELS) for x in (made, real))
    fake, true = network.extract(made), network.extract(real)
    four = metrics.prdc(fake, true, k=5)
    expected = {
        "fid": metrics.fid(fake, true),
        **four._asdict(),
        "max_iou": metrics.max_iou(first, second),
        "alignment": metrics.alignment(first.bbox, first.mask),
        "overlap": metrics.overlap(first.bbox, first.mask),
        "average_iou": metrics.average_iou(first.bbox, first.mask),
    }
    for name, value in expected.items():
        assert sheet[name]["value"] == pytest.approx(value, rel=1e-9), name
    for name in ("fid", "alignment", "overlap", "average_iou"):
        low, high = sheet[name]["interval"]
        assert low <= sheet[name]["value"] <= high
    assert sheet["docsim"]["value"] is None and "--paired" in sheet["docsim"]["reason"]
    assert sheet["violation"]["value"] is None
    assert sheet["features"] == {"name": "publaynet", "hash": network.hash}
    assert sheet["version"] == __version__
    json.dumps(sheet, allow_nan=False)


def test_a_set_against_itself(network: FeatureNetwork) -> None:
    made = pages(30)
    sheet = score(
        made, made, network=network, floor=made, options=Options(paired=True, fid_resamples=5)
    )
    assert sheet["fid"]["value"] == pytest.approx(0, abs=1e-6)
    assert sheet["max_iou"]["value"] == sheet["precision"]["value"] == 1
    assert sheet["violation"]["value"] == 0 and sheet["violation"]["layouts"] == 30
    assert sheet["fid"]["floor"] == pytest.approx(sheet["fid"]["value"], abs=1e-6)
    assert "note" in sheet["fid"]  # 30 layouts are too few for 256 dimensions


def test_pairs_must_be_as_many() -> None:
    with pytest.raises(LayoutdmError, match="as many generated"):
        score(pages(3), pages(4), options=Options(paired=True))


def test_empty_layouts_are_left_out_of_means_but_fail_their_pair() -> None:
    made = pages(4)
    with_empty = [*made, Layout.create([], [])]
    plain, more = score(made, made), score(with_empty, made)
    assert more["alignment"]["value"] == plain["alignment"]["value"]
    pair = score(with_empty, [*made, made[0]], options=Options(paired=True))
    full = score(made, made, options=Options(paired=True))
    assert pair["docsim"]["value"] == pytest.approx(full["docsim"]["value"] * 4 / 5)


def test_published_figures_stand_beside_the_right_ones() -> None:
    made = pages(20, 1)
    sheet = score(made, made, options=Options(paired=True, published=True))
    packed = metrics.pack(made, LABELS)
    padding = metrics.batch_padding(packed.mask)
    assert sheet["alignment"]["published"] == metrics.alignment(
        packed.bbox, packed.mask, published=True, padding=padding
    )
    assert {"max_iou", "docsim", "alignment", "violation"} <= {
        name for name in METRICS if "published" in sheet[name]
    }
    assert set(sheet["alignment"]["variants"]) == {"attribute-conditioned", "ndn"}


def test_relations_that_were_asked() -> None:
    page = Layout.create(["title", "text"], [[0.5, 0.2, 0.8, 0.1], [0.5, 0.7, 0.8, 0.4]])
    wishes = {
        "elements": [{"name": "a", "label": "title"}, {"name": "b", "label": "text"}],
        "relations": [
            {"of": "a", "is": "above", "to": "b"},
            {"of": "a", "is": "larger", "to": "b"},
            {"of": "b", "is": "bottom", "to": "canvas"},
        ],
    }
    asked = asked_relations(Spec.parse(wishes))
    sheet = score([page], [page], relations=[asked])
    assert sheet["violation"]["value"] == pytest.approx(1 / 3)
    # An element that was asked for and is missing breaks what was asked of it.
    short = score([page.take([1])], [page], relations=[asked])
    assert short["violation"]["value"] == 1.0


def test_all_relations_hold_where_they_come_from() -> None:
    layouts = pages(10)
    edges = metrics.relation_edges(all_relations(x) for x in layouts)
    packed = metrics.pack(layouts, LABELS)
    assert metrics.violation(packed.bbox, packed.mask, edges) == 0
    n = len(layouts[0])
    assert len(all_relations(layouts[0])) == n * (n + 1)


# Reading -------------------------------------------------------------------------------------


def test_mend_cuts_and_rejects() -> None:
    boxes = np.array(
        [
            [0.5, 0.5, 0.2, 0.2],
            [1.0, 0.5, 0.2, 0.2],  # sticks out: cut
            [1.5, 0.5, 0.2, 0.2],  # outside altogether
            [0.5, 0.5, -0.1, 0.2],
            [np.nan, 0.5, 0.1, 0.2],
        ]
    )
    mended, good, cut = mend(boxes)
    assert good.tolist() == [True, True, False, False, False]
    assert cut.tolist() == [False, True, False, False, False]
    np.testing.assert_allclose(mended[1], [0.95, 0.5, 0.1, 0.2])
    np.testing.assert_array_equal(mended[0], boxes[0])


def test_reading_counts_what_is_wrong(tmp_path: Path) -> None:
    good = '{"labels": ["a", "b"], "boxes": [[0.5, 0.5, 0.2, 0.2], [0.5, 0.5, 0, 0.2]]}'
    lines = [good, "not json", '{"labels": ["a"]}', '{"labels": [], "boxes": []}', "[1, 2]"]
    lines.append('{"labels": ["a"], "boxes": [[NaN, 0.5, 0.2, 0.2]]}')
    path = tmp_path / "made.jsonl"
    path.write_text("\n".join(lines) + "\n")
    found = read_set(path)
    assert dict(found.counts) == {
        "layouts": 3, "elements": 1, "empty": 2, "invalid_layouts": 3, "invalid_elements": 2,
        "cut_elements": 0, "scored": 3,
    }  # fmt: skip
    assert "line 2" in found.first_problem
    with pytest.raises(LayoutdmError, match="line 2"):
        read_set(path, strict=True)


def test_reading_draws_the_same_places_from_files_of_one_length(tmp_path: Path) -> None:
    a, b = (save(pages(50, s), tmp_path / f"{s}.jsonl") for s in (1, 2))
    first, second = (read_set(p, limit=10, seed=3) for p in (a, b))
    assert [x.id for x in first.layouts] == [x.id for x in second.layouts]
    assert len(first.layouts) == 10 and first.counts["layouts"] == 50
    assert len(read_set(a, limit=0).layouts) == 50


def test_choosing_a_network(network: FeatureNetwork) -> None:
    assert choose_network(None, [pages(3)])[0] is not None
    none, why = choose_network(None, [[Layout.create(["ship"], [[0.5, 0.5, 0.1, 0.1]])]])
    assert none is None and "fit-features" in why
    none, why = choose_network(network, [[Layout.create(["ship"], [[0.5, 0.5, 0.1, 0.1]])]])
    assert none is None and "ship" in why


def test_requests_file(tmp_path: Path) -> None:
    made = save(pages(2), tmp_path / "made.jsonl")
    asked = tmp_path / "asked.jsonl"
    asked.write_text('{}\n{"elements": [{"labl": "x"}]}\n')
    with pytest.raises(LayoutdmError, match="line 2"):
        list(read_requests(asked))
    asked.write_text("{}\n")
    with pytest.raises(LayoutdmError, match="1 requests for 2"):
        score_files(made, made, requests=asked)


def test_other_formats_are_read(tmp_path: Path) -> None:
    layouts = pages(12)
    native, coco = save(layouts, tmp_path / "a.jsonl"), save(layouts, tmp_path / "a.json")
    sheet = score_files(coco, native, options=Options(fid_resamples=0))
    assert sheet["counts"]["generated"]["layouts"] == 12
    assert sheet["max_iou"]["value"] > 0.95


# Corruptions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STRENGTHS)
def test_corruptions_grow_from_nothing(kind: str) -> None:
    layouts = pages(60, 3)
    untouched = corrupt(layouts, kind, 0.0, seed=1)
    before = sorted((x.labels, x.boxes.round(9).tolist()) for x in layouts)
    assert sorted((x.labels, x.boxes.round(9).tolist()) for x in untouched) == before
    strong = corrupt(layouts, kind, STRENGTHS[kind][-1], seed=1)
    assert len(strong) == len(layouts) and all(len(x) for x in strong)
    assert sorted((x.labels, x.boxes.round(9).tolist()) for x in strong) != before
    same = corrupt(layouts, kind, STRENGTHS[kind][-1], seed=1)
    assert all(a == b for a, b in zip(strong, same, strict=True))


def test_what_each_corruption_keeps() -> None:
    layouts = pages(60, 3)
    elements = sum(map(len, layouts))
    boxes = np.sort(np.concatenate([x.boxes for x in layouts]), axis=0)
    shuffled = corrupt(layouts, "shuffled boxes", 0.8)
    np.testing.assert_allclose(
        np.sort(np.concatenate([x.boxes for x in shuffled]), axis=0), boxes, atol=1e-9
    )
    assert [x.labels for x in shuffled] == [x.labels for x in layouts]
    assert sum(map(len, corrupt(layouts, "duplicated elements", 1.0))) == 2 * elements
    assert sum(map(len, corrupt(layouts, "dropped elements", 0.5))) < 0.8 * elements
    collapsed = corrupt(layouts, "mode collapse", 0.9)
    assert len({x.id for x in collapsed}) == 6
    with pytest.raises(LayoutdmError, match="corruption 'rot' is unknown"):
        corrupt(layouts, "rot", 0.1)


@pytest.mark.parametrize("kind", STRENGTHS)
def test_fid_rises_with_each_corruption(kind: str) -> None:
    """On the sample set's screens, with the embedded network."""
    from layoutdm.data import open as open_data

    network = load_features("rico25", threads=1)
    screens = [x for x in open_data("sample").layouts() if network.fits(x.labels)]
    reference = network.extract(screens)
    weak, strong = (
        metrics.fid(network.extract(corrupt(screens, kind, strength)), reference)
        for strength in (STRENGTHS[kind][1], STRENGTHS[kind][-1])
    )
    assert 0 < weak < strong


# The command ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_command_writes_the_sheet(tmp_path: Path) -> None:
    made, real = (
        save(pages(20, 1), tmp_path / "a.jsonl"),
        save(pages(20, 2), tmp_path / "b.jsonl.gz"),
    )
    out = tmp_path / "deep" / "sheet.json"
    done = run(made, "--reference", real, "--paired", "--floor", real, "--out", out)
    assert done.returncode == 0, done.stderr
    sheet: dict[str, Any] = json.loads(out.read_text())
    assert set(sheet) == {*METRICS, "counts", "features", "regularity", "version"}
    assert all("value" in sheet[name] for name in METRICS)
    assert "FID" in done.stdout and sheet["features"]["hash"] in done.stdout
    printed = run(made, "--reference", real, "--json", "--resamples", "0")
    assert json.loads(printed.stdout)["max_iou"]["value"] == sheet["max_iou"]["value"]
    assert sheet["max_iou"]["floor"] == 1.0  # the reference against itself


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ('{"labels": ["a"], "boxes": 3}\n', "holds no layout that can be scored"),
    ],
)
def test_command_on_files_without_layouts(tmp_path: Path, content: str, message: str) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(content)
    real = save(pages(5), tmp_path / "real.jsonl")
    done = run(bad, "--reference", real)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ") and message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_command_on_odd_but_readable_files(tmp_path: Path) -> None:
    one = save([Layout.create(["text"], [[0.5, 0.5, 0.2, 0.2]])], tmp_path / "one.jsonl")
    foreign = save([Layout.create(["ship"], [[0.5, 0.5, 0.2, 0.2]])] * 8, tmp_path / "f.csv")
    sheet = json.loads(run(one, "--reference", one, "--json").stdout)
    assert sheet["fid"]["value"] is None and "at least 2" in sheet["fid"]["reason"]
    assert sheet["max_iou"]["value"] == 1 and sheet["alignment"]["value"] == 0
    done = run(one, "--reference", foreign, "--json")
    sheet = json.loads(done.stdout)
    assert done.returncode == 0
    assert sheet["fid"]["value"] is None and sheet["features"]["name"] is None
    assert sheet["max_iou"]["value"] is None
    assert "do not occur in the reference: text" in sheet["counts"]["warnings"][0]
    damaged = tmp_path / "cut.jsonl.gz"
    damaged.write_bytes(gzip.compress(one.read_bytes() * 50)[:-12])
    broken = run(damaged, "--reference", one)
    assert broken.returncode == 1 and "Traceback" not in broken.stderr
    missing = run(tmp_path / "none.jsonl", "--reference", one)
    assert missing.returncode == 1 and "no such file" in missing.stderr
    unknown = run(one, "--reference", one, "--features", "rico99")
    assert unknown.returncode == 1 and "no feature network of this name" in unknown.stderr
