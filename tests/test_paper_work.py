"""`layoutdm paper` as shared work: its order, its locks, what fails, the page it fills."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from layoutdm import Layout
from layoutdm.errors import LayoutdmError
from layoutdm.paper import table1, table2
from layoutdm.paper.cells import Bench, Cell
from layoutdm.paper.items import ITEMS, chosen
from layoutdm.paper.page import fill
from layoutdm.paper.results import NOT_YET, Results
from layoutdm.paper.run import Shop, read_results
from layoutdm.paper.sanity import write as write_sanity
from layoutdm.paper.work import FIRST, Piece, claimed, pieces, work_through

DATA = ("rico25", "publaynet")
PAGE = Layout.create(["Text"], [[0.5, 0.5, 0.4, 0.2]])


def record(cell: Cell, fid: float, layouts: int = 1) -> dict[str, Any]:
    scores = {"fid": fid, "max_iou": 0.5, "alignment": 0.1, "overlap": None, "docsim": 0.2}
    return {"cell": cell.name, "layouts": layouts, "seconds": 2.0, "scores": scores}


def results(records: dict[tuple[str, str], Any], out: Path) -> Results:
    benches = {name: Bench(name, [PAGE], ("Text",), out / name, None) for name in DATA}
    return Results(benches, records, {name: {} for name in DATA})


def test_tables_1_and_2_come_first_on_every_data_set() -> None:
    work = pieces(chosen(["all"]), DATA)
    of_first = {cell.name for name in FIRST for cell in ITEMS[name].cells("rico25")}
    kinds = [any(cell.name in of_first for cell in piece.cells) for piece in work]
    assert kinds == sorted(kinds, reverse=True)
    assert [piece.data for piece in work if any(c.name in of_first for c in piece.cells)] == sorted(
        (piece.data for piece, first in zip(work, kinds, strict=True) if first), reverse=True
    )
    names = [(piece.data, cell.name) for piece in work for cell in piece.cells]
    assert len(names) == len(set(names))
    wanted = {(d, cell.name) for d in DATA for item in ITEMS.values() for cell in item.cells(d)}
    assert set(names) == wanted


def test_two_processes_never_do_the_same_piece(tmp_path: Path) -> None:
    one, other = Piece("rico25", "bart", ()), Piece("rico25", "blt", ())
    done: list[str] = []
    told: list[str] = []
    waits = iter(range(9))
    with ExitStack() as elsewhere:
        assert elsewhere.enter_context(claimed(one, tmp_path))

        def wait() -> None:
            assert done == ["blt"]  # the free one first, the other only when it is let go
            if next(waits) == 2:
                elsewhere.close()

        failed = work_through(
            [one, other], tmp_path, lambda piece: done.append(piece.system), told.append, wait
        )
    assert done == ["blt", "bart"] and not failed
    assert told == ["waiting for another process that is at: bart on rico25"]  # not three times


def test_clg_lo_waits_for_the_training_that_it_borrows(tmp_path: Path) -> None:
    with claimed(Piece("rico25", "layoutgan++", ()), tmp_path) as mine:
        assert mine
        with claimed(Piece("rico25", "clg-lo", ()), tmp_path) as also:
            assert not also
        with claimed(Piece("publaynet", "clg-lo", ()), tmp_path) as also:
            assert also


def test_what_fails_does_not_stop_the_rest(tmp_path: Path) -> None:
    work = [Piece("rico25", name, ()) for name in ("bart", "blt", "ruite")]
    told: list[str] = []

    def do(piece: Piece) -> None:
        if piece.system == "bart":
            raise LayoutdmError("the loss became nan")
        if piece.system == "blt":
            raise KeyError("a bug")

    failed = work_through(work, tmp_path, do, told.append, lambda: None)
    assert set(failed) == {"bart on rico25", "blt on rico25"}
    assert "nan" in told[0] and "Traceback" not in told[0]
    assert "Traceback" in told[1]


def test_a_table_tells_what_is_not_trained_from_what_is_not_done(tmp_path: Path) -> None:
    cell = Cell("layoutvae", "c")
    found = results({("rico25", cell.name): record(cell, 31.5)}, tmp_path)
    table1.write(found, tmp_path)
    text = (tmp_path / "table1.md").read_text()
    row = next(line for line in text.splitlines() if line.startswith("| LayoutVAE |"))
    assert "31.50 [33.30]" in row and f"{NOT_YET} [30.60]" in row and row.endswith("| – | – |")
    assert "1 generated layouts" in text
    table2.write(found, tmp_path)
    assert NOT_YET in (tmp_path / "table2.md").read_text()


def test_claims_are_told_as_they_are(tmp_path: Path) -> None:
    low, high = (Cell(name, "unconditional") for name in ("layoutdm-paper", "maskgit"))
    for fids, word in (((5.0, 9.0), "yes"), ((9.0, 5.0), "**no**")):
        records = {
            ("rico25", cell.name): record(cell, fid)
            for cell, fid in zip((low, high), fids, strict=True)
        }
        write_sanity(results(records, tmp_path), tmp_path)
        lines = (tmp_path / "sanity.md").read_text().splitlines()
        row = next(line for line in lines if "MaskGIT" in line and "rico25" in line)
        assert row.endswith(f"| {word} |")


def test_results_are_read_from_the_files_of_any_process(tmp_path: Path) -> None:
    bench = Bench("rico25", [PAGE] * 3, ("Text",), tmp_path, None, limit=2)
    cell, stale = Cell("bart", "unconditional"), Cell("blt", "unconditional")
    for own, layouts in ((cell, 2), (stale, 1)):
        bench.scores_of(own).parent.mkdir(exist_ok=True)
        bench.scores_of(own).write_text(json.dumps(record(own, 7.0, layouts)))
    shops = {"rico25": Shop(bench, None, {})}  # type: ignore[arg-type]
    found = read_results(chosen(["table2"]), shops, tmp_path)
    assert found.value("rico25", cell, "fid") == 7.0
    assert found.record("rico25", stale) is None  # made with another number of layouts


def test_the_page_keeps_its_words_and_gets_new_tables(tmp_path: Path) -> None:
    out, page = tmp_path / "paper", tmp_path / "paper.md"
    out.mkdir()
    titles = {"table2": "Table 2", "violation": "FID against violation"}
    fill(page, titles, out)  # begun
    text = page.read_text()
    assert text.count("Not made yet") == 2
    page.write_text(text.replace("## Table 2\n", "## Table 2\n\nOur own words.\n"))
    (out / "table2.md").write_text("# Table 2\n\n## rico25\n\n| a |\n|---|\n| \\1 |\n")
    (out / "violation.png").write_bytes(b"png")
    (out / "table20.md").write_text("# Other\n\nnot this\n")
    for _ in range(2):
        fill(page, titles, out)
    text = page.read_text()
    assert "Our own words." in text and text.count("| \\1 |") == 1 and "### rico25" in text
    assert "![FID against violation: violation](paper/violation.png)" in text
    assert "not this" not in text and "Not made yet" not in text
