"""A real cluster of two nodes on this machine: same bytes as one process, nodes killed, resumed."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from killing import killed_after
from layoutdm.errors import LayoutdmError
from layoutdm.formats import read, write
from layoutdm.jobs import OUTPUTS, Job, maker, run
from layoutdm.model import load
from layoutdm.pages.making import PageMaker
from layoutdm.pages.recipe import Recipe
from layoutdm.scale import layouts, shards
from layoutdm.scale.parquet_shards import of_layouts, of_pages
from layoutdm.scale.work import Work, chunks
from page_cases import article

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
STORE = 100 * 2**20


def node() -> dict[str, Any]:
    return {"num_cpus": 1, "object_store_memory": STORE}


@pytest.fixture
def nodes() -> Iterator[Any]:
    """A cluster of a head and one more node, each with one processor."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={**node(), "include_dashboard": False})
    cluster.extra = cluster.add_node(**node())
    ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def digest(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("job.json", "files.txt", ".layoutdm.lock")
    }


def test_layouts_are_the_same_bytes_with_a_node_killed(nodes: Any, tmp_path: Path) -> None:
    from layoutdm.scale.cluster import cluster

    model = load("publaynet", threads=1)
    job = Job.of(model, None, 120, 3, formats=("jsonl", "coco"))
    run(job, tmp_path / "one", make=maker(model, job))
    killed: list[int] = []

    def progress(done: int) -> None:
        if done >= 20 and not killed:
            killed.append(done)
            nodes.remove_node(nodes.extra, allow_graceful=False)

    with cluster(nodes.address) as (runner, workers):
        assert workers == 2
        make = layouts.make(job, "publaynet", runner, workers)
        outcome = run(job, tmp_path / "ray", make=make, progress=progress)
    assert killed and outcome.made == 120
    assert digest(tmp_path / "ray") == digest(tmp_path / "one")


def test_evaluate_draws_the_same_layouts_on_a_cluster(nodes: Any, tmp_path: Path) -> None:
    """What is scored is the same, byte for byte: the figures are functions of it."""
    from layoutdm.evaluate.drawing import drawn_here
    from layoutdm.evaluate.plan import Cell, Plan
    from layoutdm.evaluate.run import generate, prepare
    from layoutdm.scale.cluster import cluster
    from layoutdm.scale.evaluation import drawn_by

    model = load("publaynet", threads=1)
    reference = [result.layout for result in model.generate({}, 8, seed=1)]
    plan = Plan("publaynet", model.generator.fingerprint, "few", "0", "test", 8, samples=10)
    with cluster(nodes.address) as (runner, workers):
        for cell, due in ((Cell("unconditional", 0), 10), (Cell("completion", 3), 8)):
            made = []
            for name, draw in (("one", drawn_here), ("ray", drawn_by(runner, workers))):
                prepare(tmp_path / name, plan)
                made.append(generate(model, cell, plan, reference, tmp_path / name, None, draw))
            files = [tmp_path / name / f"layouts/{cell.name}.jsonl" for name in ("one", "ray")]
            assert files[0].read_bytes() == files[1].read_bytes()
            assert len(made[0].layouts) == len(made[1].layouts) == due
            assert made[0].outside == made[1].outside and made[1].seconds > 0


def test_what_a_model_refuses_is_a_dash_from_workers_too() -> None:
    from layoutdm.errors import RefusedError
    from layoutdm.evaluate.plan import Cell, Plan
    from layoutdm.scale.evaluation import drawn_by
    from layoutdm.scale.processes import made_here

    model = load("publaynet", threads=1)
    plan = Plan("publaynet", model.generator.fingerprint, "few", "0", "test", 1)
    much = article().take([0] * (model.max_elements + 1))
    with pytest.raises(RefusedError, match=str(model.max_elements)):
        list(drawn_by(made_here, 1)(model, Cell("c", 0), plan, [much], range(1)))


def test_pages_in_shards_with_a_node_killed_and_resumed(nodes: Any, tmp_path: Path) -> None:
    path = write([article(str(i)) for i in range(10)], tmp_path / "layouts.jsonl")
    given = list(read(path))
    recipe = Recipe(seed=2, height=300)
    job = Job(40, seed=2, labels=tuple(sorted(set(article().labels))), kind="pages",
              formats=("jsonl", "parquet"), options=recipe.describe())  # fmt: skip

    def plan(name: str) -> shards.Shards:
        address = f"file://{tmp_path}/{name}"
        return shards.Shards(job, Work(PageMaker, (recipe,)), address, 4, of_pages)

    def some(part: range) -> list[Any]:
        return [given[i % 10] for i in part]

    shards.run(plan("one"), {}, layouts=some, on_cluster=False)

    def progress(done: int) -> None:
        if done >= 8 and nodes.extra is not None:
            nodes.remove_node(nodes.extra, allow_graceful=False)
            nodes.extra = None

    shards.run(plan("ray"), {}, layouts=some, on_cluster=True, progress=progress)
    assert nodes.extra is None
    assert digest(tmp_path / "ray") == digest(tmp_path / "one")
    # What a dead driver left: some shards are missing, and only those are made again.
    lost = tmp_path / "ray" / plan("ray").name(3)
    lost.unlink()
    with pytest.raises(LayoutdmError, match="--resume"):
        shards.run(plan("ray"), {}, layouts=some, on_cluster=True)
    assert shards.run(plan("ray"), {}, layouts=some, on_cluster=True, resume=True) == 4
    assert digest(tmp_path / "ray") == digest(tmp_path / "one")


def test_the_driver_dies_and_the_job_is_resumed(tmp_path: Path) -> None:
    """The whole command is killed, its cluster with it, and started again with --resume."""
    words = [
        "generate", "--model", "publaynet", "--count", "60", "--seed", "9",
        "--out", str(tmp_path / "ray"), "--format", "jsonl,coco", "--ray", "local",
    ]  # fmt: skip
    killed_after(5, words)
    command = [sys.executable, "-m", "layoutdm", *words, "--resume"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "from before" in done.stderr
    model = load("publaynet", threads=1)
    job = Job.of(model, None, 60, 9, formats=("jsonl", "coco"), require=False, tries=20)
    run(job, tmp_path / "one", make=maker(model, job))
    assert digest(tmp_path / "ray") == digest(tmp_path / "one")


def test_shards_hold_what_one_file_holds_and_coco_is_merged(tmp_path: Path) -> None:
    """Without a cluster, at an address: the same code that workers run."""
    model = load("publaynet", threads=1)
    job = Job.of(model, None, 30, 1, formats=("jsonl", "parquet", "coco"))
    run(job, tmp_path / "one", make=maker(model, job))
    work = Work(layouts.LayoutMaker, (job, "publaynet", 64))
    plan = shards.Shards(job, work, f"file://{tmp_path}/parts", 8, of_layouts)
    assert shards.run(plan, OUTPUTS, on_cluster=False) == 30
    parts = sorted((tmp_path / "parts").glob("*.jsonl"))
    assert [p.name for p in parts] == [f"layouts-{i:05d}-of-00004.jsonl" for i in range(4)]
    joined = b"".join(p.read_bytes() for p in parts)
    assert joined == (tmp_path / "one/layouts.jsonl").read_bytes()
    merged = (tmp_path / "parts/coco.json").read_bytes()
    assert merged == (tmp_path / "one/coco.json").read_bytes()
    rows = [len(list(read(p))) for p in sorted((tmp_path / "parts").glob("*.parquet"))]
    assert rows == [8, 8, 8, 6]
    assert json.loads((tmp_path / "parts/job.json").read_bytes())["finished"] is True


def test_an_address_in_memory(tmp_path: Path) -> None:
    """Any fsspec address will do, such as the one that lives in this process."""
    recipe = Recipe(seed=5, height=200)
    job = Job(4, seed=5, labels=("Text",), kind="pages", options=recipe.describe())
    plan = shards.Shards(job, Work(PageMaker, (recipe,)), "memory://set", 2)
    given = article().take([2])
    shards.run(plan, {}, layouts=lambda part: [given for _ in part], on_cluster=False)
    system, root = shards.place("memory://set")
    names = [p.removeprefix(root) for p in system.find(root)]
    assert sum(name.endswith(".jpg") for name in names) == 4
    assert sum(name.endswith(".jsonl") for name in names) == 2


def test_other_weights_and_versions_are_refused() -> None:
    from layoutdm.scale.cluster import check_version

    job = Job(2, weights="deadbeef")
    with pytest.raises(LayoutdmError, match="other weights"):
        list(layouts.LayoutMaker(job, "publaynet", 8).make(range(2)))
    with pytest.raises(LayoutdmError, match="same version"):
        check_version("0.0.0")


@pytest.mark.parametrize(
    "command", [["generate", "--count", "2"], ["evaluate", "--model", "publaynet", "--data", "x"]]
)
def test_no_cluster_answers(command: list[str], tmp_path: Path) -> None:
    write([article()], tmp_path / "x.jsonl")
    command = [str(tmp_path / "x.jsonl") if word == "x" else word for word in command]
    done = subprocess.run(
        [sys.executable, "-m", "layoutdm", *command, "--out", str(tmp_path / "out"),
         "--ray", "127.0.0.1:1"],
        capture_output=True, text=True, timeout=900,
        env={**os.environ, "RAY_gcs_rpc_server_reconnect_timeout_s": "1",
             "RAY_gcs_server_request_timeout_seconds": "1"},
    )  # fmt: skip
    assert done.returncode == 1
    assert "no cluster answers" in done.stderr and "Traceback" not in done.stderr


def test_chunks_cover_the_range() -> None:
    assert [i for part in chunks(range(3, 50), 7) for i in part] == list(range(3, 50))
