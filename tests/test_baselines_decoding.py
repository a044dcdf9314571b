"""How the systems decode, with networks whose answers are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import baseline_cases as cases
from layoutdm.baselines.bart import Bart, OnnxReader
from layoutdm.baselines.blt import BLT, BLTOptions, BLTOriginalOptions
from layoutdm.baselines.choosing import TokenOptions
from layoutdm.baselines.common import Common, draw_number
from layoutdm.baselines.layouttrans import CachedDecoder, LayoutTrans
from layoutdm.baselines.maskgit import MaskGIT, MaskGITOptions, still_masked
from layoutdm.baselines.ruite import Ruite, RuiteOptions
from layoutdm.baselines.session import Session
from layoutdm.baselines.vocabulary import PLACE_FIRST, SIZE_FIRST, Vocabulary
from layoutdm.diffusion.streams import stream
from layoutdm.errors import LayoutdmError
from layoutdm.generator.protocol import Drawn
from layoutdm.spec import Condition, Spec
from layoutdm.tokens import Tokenizer, uniform_bins

TOKENIZER = Tokenizer(("a", "b", "c"), uniform_bins(4), 5)
COMMON = Common(TOKENIZER, histogram=np.array([0.0, 0.0, 1.0, 0.0, 0.0]))  # always 3 elements
AR = Vocabulary(TOKENIZER.sizes, SIZE_FIRST, True, ("pad", "bos", "eos"))
FILL = Vocabulary(TOKENIZER.sizes, PLACE_FIRST, True, ("pad", "mask"))


def condition(spec: dict[str, Any] | None = None) -> Condition:
    return Condition.from_spec(Spec.parse(spec), TOKENIZER.labels, TOKENIZER.max_elements)


def drawn_by(system: Any, asked: Condition, options: Any, seed: int = 0) -> Drawn:
    assert system.refuses(asked) is None
    return system.draw([asked], options, [stream(seed, 0)])


def elements(drawn: Drawn) -> list[tuple[int, list[int]]]:
    """Label and bins of each element of the first layout."""
    there = drawn.mask[0]
    bins = TOKENIZER.bins.encode(drawn.box[0][there])
    return [
        (int(label), row.tolist()) for label, row in zip(drawn.label[0][there], bins, strict=True)
    ]


class Writer:
    """Writes the given flat tokens, whatever it reads, and remembers what it read."""

    def __init__(self, text: list[int], vocabulary: Vocabulary) -> None:
        self.text, self.vocabulary, self.read = text, vocabulary, list[int]()

    def start(self, batch: int) -> None:
        return None

    def step(self, tokens: Any, position: int, state: None) -> tuple[Any, None]:
        self.read.append(int(tokens[0]))
        scores = np.full((len(tokens), self.vocabulary.size), -50.0)
        scores[:, self.text[min(position, len(self.text) - 1)]] = 50.0
        return scores, None


def text(vocabulary: Vocabulary) -> list[int]:
    """Two elements and EOS: (b, x 0, y 1, w 2, h 3), (c, x 3, y 2, w 1, h 0)."""
    flat = vocabulary.flatten(np.array([[1, 0, 1, 2, 3], [2, 3, 2, 1, 0]]))
    return [*flat.tolist(), vocabulary.special("eos")]


TWO = [(1, [0, 1, 2, 3]), (2, [3, 2, 1, 0])]


def test_layouttrans_writes_what_its_network_says_until_eos() -> None:
    writer = Writer(text(AR), AR)
    system = LayoutTrans(COMMON, writer, AR)
    assert elements(drawn_by(system, condition(), TokenOptions())) == TWO
    assert writer.read == [AR.special("bos"), *text(AR)[:-1]]  # one call a token, then EOS


def test_layouttrans_reads_what_is_known_instead_of_what_it_drew() -> None:
    writer = Writer(text(AR), AR)
    system = LayoutTrans(COMMON, writer, AR)
    asked = condition({"elements": [{"label": "a", "width": 0.25}], "more": True})
    found = elements(drawn_by(system, asked, TokenOptions()))
    assert found == [(0, [0, 1, 0, 3]), (2, [3, 2, 1, 0])]
    assert writer.read[1:3] == [0, 3]  # label a, width bin 0, in its order label, width, height


def test_layouttrans_cannot_end_before_what_is_listed_nor_go_on_after_it() -> None:
    early = Writer([AR.special("eos")], AR)
    asked = condition({"elements": [{"label": "a"}, {"label": "b"}]})
    found = drawn_by(LayoutTrans(COMMON, early, AR), asked, TokenOptions())
    assert found.label[0][found.mask[0]].tolist() == [0, 1]
    never = Writer([0], AR)
    found = drawn_by(LayoutTrans(COMMON, never, AR), asked, TokenOptions())
    assert found.counts.tolist() == [2]


def test_label_choices_are_honoured() -> None:
    asked = condition({"elements": [{"label": ["b", "c"]}]})
    writer = Writer([0], AR)  # wants label a everywhere
    found = drawn_by(LayoutTrans(COMMON, writer, AR), asked, TokenOptions())
    assert found.label[0, 0] in (1, 2)


def test_layouttrans_fixed_only_makes_whole_layouts() -> None:
    system = LayoutTrans(COMMON, Writer([0], AR), AR, "layouttrans-fixed")
    assert system.refuses(condition()) is None
    assert "layouttrans" in str(system.refuses(condition({"elements": [{"label": "a"}]})))


def test_the_cache_of_an_exported_decoder_equals_reading_all_at_once() -> None:
    made, folder = cases.strong("layouttrans"), cases.exported("layouttrans")
    read = made.make(made.train, np.arange(6), np.random.default_rng(0))["read"]
    with torch.no_grad():
        whole = made.module(read).numpy()
    decoder = CachedDecoder(Session(folder / "model.onnx", 1))
    state = decoder.start(6)
    for at in range(read.shape[1]):
        scores, state = decoder.step(read[:, at].numpy(), at, state)
        np.testing.assert_allclose(scores, whole[:, at], atol=2e-4)


def test_barts_two_files_equal_its_network() -> None:
    made, folder = cases.strong("bart"), cases.exported("bart")
    batch = made.make(made.train, np.arange(6), np.random.default_rng(0))
    with torch.no_grad():
        whole = made.module(batch["holes"], batch["read"]).numpy()
    reader = OnnxReader(Session(folder / "encoder.onnx", 1), Session(folder / "decoder.onnx", 1))
    decoder = reader(batch["holes"].numpy())
    state = decoder.start(6)
    for at in range(batch["read"].shape[1]):
        scores, state = decoder.step(batch["read"][:, at].numpy(), at, state)
        np.testing.assert_allclose(scores, whole[:, at], atol=2e-4)


@pytest.mark.parametrize("name", ["maskgit", "blt", "blt-original", "ruite"])
def test_an_exported_file_equals_its_network(name: str) -> None:
    made = cases.strong(name)
    batch = made.make(made.train, np.arange(6), np.random.default_rng(0))
    inputs = {key: value for key, value in batch.items() if key != "targets"}
    with torch.no_grad():
        wanted = made.module(*inputs.values()).numpy()
    session = Session(cases.exported(name) / "model.onnx", 1)
    (got,) = session(**{key: value.numpy() for key, value in inputs.items()})
    np.testing.assert_allclose(got, wanted, atol=2e-4)


class Answer:
    """Scores one flat token everywhere, most surely where `sure` says; remembers its inputs."""

    def __init__(self, tokens: Any, sure: Any = None) -> None:
        self.tokens, self.sure, self.asked = np.asarray(tokens), sure, list[Any]()

    def __call__(self, **inputs: Any) -> tuple[Any, ...]:
        tokens = inputs["tokens"]
        self.asked.append(tokens.copy())
        scores = np.zeros((*tokens.shape, FILL.size))
        sure = np.full(tokens.shape[1], 30.0) if self.sure is None else self.sure
        length = tokens.shape[1]
        scores[:, np.arange(length), self.tokens[:length]] = sure[:length]
        return (scores,)


def answer(sure: Any = None) -> Answer:
    local = [[1, 0, 1, 2, 3], [2, 3, 2, 1, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]
    return Answer(FILL.flatten(np.array(local)), sure)


def test_maskgit_fills_in_the_number_drawn_and_reveals_the_surest_first() -> None:
    sure = np.linspace(20, 60, 25)  # later tokens are surer
    network = answer(sure)
    system = MaskGIT(COMMON, network, FILL)
    found = drawn_by(system, condition(), MaskGITOptions(steps=5, choice_temperature=0.0))
    assert elements(found) == [*TWO, (0, [0, 0, 0, 0])]
    unknown = [int((tokens == FILL.special("mask")).sum()) for tokens in network.asked]
    assert unknown == [15, 14, 12, 8, 4]  # floor(15 cos(pi t / 10))
    for tokens in network.asked[1:]:
        masked = np.flatnonzero(tokens[0] == FILL.special("mask"))
        assert masked.tolist() == list(range(len(masked)))


def test_maskgit_skips_calls_that_would_change_nothing() -> None:
    network = answer()
    options = MaskGITOptions(steps=100)
    drawn_by(MaskGIT(COMMON, network, FILL), condition(), options)
    left = [int(np.floor(15 * np.cos(np.pi / 2 * (t + 1) / 100))) for t in range(99)] + [0]
    changes = sum(a != b for a, b in zip([15, *left[:-1]], left, strict=True))
    assert len(network.asked) == changes


def test_maskgits_original_reveals_one_and_keeps_one() -> None:
    options = MaskGITOptions(steps=16, reveal_one=True)
    assert still_masked(np.array([3]), np.array([3]), 0, options).tolist() == [2]
    assert still_masked(np.array([3]), np.array([1]), 14, options).tolist() == [1]
    assert still_masked(np.array([3]), np.array([1]), 15, options).tolist() == [0]


def test_maskgit_decides_the_number_in_completion_by_pad() -> None:
    local = np.tile(TOKENIZER.pad, (5, 1))
    local[:2] = [[1, 0, 1, 2, 3], [2, 3, 2, 1, 0]]
    network = Answer(FILL.flatten(local))
    asked = condition({"elements": [{"label": "a"}], "more": True})
    found = elements(drawn_by(MaskGIT(COMMON, network, FILL), asked, MaskGITOptions(steps=4)))
    assert found == [(0, [0, 1, 2, 3]), TWO[1]]
    assert (network.asked[0][0, 5:] == FILL.special("mask")).all()


def test_blt_fills_labels_then_sizes_then_places() -> None:
    network = answer()
    system = BLT(COMMON, network, FILL)
    found = drawn_by(system, condition(), BLTOptions(steps=9))
    assert elements(found) == [*TWO, (0, [0, 0, 0, 0])]
    mask = FILL.special("mask")
    open_ = [(tokens[0] == mask).reshape(5, 5)[:3].sum(axis=0).tolist() for tokens in network.asked]
    assert [row[0] for row in open_] == [3, 2, 1, 0, 0, 0, 0, 0, 0]
    assert [row[3] + row[4] for row in open_] == [6, 6, 6, 6, 4, 2, 0, 0, 0]
    assert [row[1] + row[2] for row in open_] == [6, 6, 6, 6, 6, 6, 6, 4, 2]


def test_blts_steps_must_be_shared_by_three_groups() -> None:
    with pytest.raises(LayoutdmError, match="multiple of 3"):
        BLTOptions(steps=100)


def test_the_original_blt_keeps_a_share_of_what_is_still_masked() -> None:
    network = answer()
    system = BLT(COMMON, network, FILL, "blt-original")
    drawn_by(system, condition(), BLTOriginalOptions(steps=12))
    mask = FILL.special("mask")
    labels = [int((tokens[0, ::5] == mask).sum()) for tokens in network.asked[:4]]
    assert labels == [3, 2, 1, 0]  # ceil(3 * 3/4) = 3 is idle; ceil(3/2) = 2; ceil(2/4) = 1; 0


def test_blt_refuses_a_draft_and_ruite_needs_one() -> None:
    draft = {f: {"about": 0.5} for f in ("x", "y", "width", "height")}
    asked = condition({"elements": [{"label": "a", **draft}]})
    assert "draft" in str(BLT(COMMON, answer(), FILL).refuses(asked))
    words = Vocabulary(TOKENIZER.sizes, PLACE_FIRST, True, ("pad",))
    ruite = Ruite(COMMON, answer(), words)
    assert ruite.refuses(asked) is None
    assert "draft" in str(ruite.refuses(condition({"elements": [{"label": "a"}]})))


def test_ruite_reads_the_draft_and_answers_in_one_pass() -> None:
    words = Vocabulary(TOKENIZER.sizes, PLACE_FIRST, True, ("pad",))
    seen: list[Any] = []

    def network(**inputs: Any) -> tuple[Any, ...]:
        seen.append(inputs["tokens"])
        scores = np.zeros((*inputs["tokens"].shape, words.size))
        scores[..., words.flatten(np.array([[2, 3, 2, 1, 0]]))[1]] = 9.0  # bin 3 everywhere
        return (scores,)

    draft = {"x": {"about": 0.3}, "y": {"about": 0.55}, "width": {"about": 0.24}, "height": 0.5}
    asked = condition({"elements": [{"label": "a", **draft}]})
    found = drawn_by(Ruite(COMMON, network, words), asked, RuiteOptions(argmax=True))
    assert seen[0].tolist() == [[0, 4, 5, 3, 4]]  # label a; x 1, y 2, width 0, height 1
    assert elements(found) == [(0, [3, 3, 3, 1])]  # height is fixed
    assert len(seen) == 1


def test_barts_encoder_sees_all_that_is_known_and_holes_elsewhere() -> None:
    words = Vocabulary(TOKENIZER.sizes, SIZE_FIRST, True, ("pad", "bos", "eos", "mask"))
    seen: list[Any] = []

    def reader(tokens: Any) -> Writer:
        seen.append(tokens)
        return Writer(text(words), words)

    system = Bart(COMMON, reader, words)
    assert elements(drawn_by(system, condition(), TokenOptions())) == TWO
    mask = words.special("mask")
    assert seen[0].tolist() == [[words.special("bos"), *[mask] * 25]]
    asked = condition({"elements": [{"label": "a"}, {"label": "b", "width": 0.25}]})
    drawn_by(system, asked, TokenOptions())
    begin, end, pad = words.special("bos"), words.special("eos"), words.pad
    known = [begin, 0, mask, mask, mask, mask, 1, 3, mask, mask, mask, end, *[pad] * 14]
    assert seen[1].tolist() == [known]


def test_the_number_of_elements_is_drawn_within_what_is_allowed() -> None:
    histogram = np.array([5.0, 3.0, 2.0, 0.0, 0.0])
    free, listed = condition(), condition({"elements": [{"label": "a"}] * 4, "more": True})
    found = [draw_number(histogram, free, stream(0, i)) for i in range(2000)]
    shares = np.bincount(found, minlength=4)[1:4] / 2000
    np.testing.assert_allclose(shares, [0.5, 0.3, 0.2], atol=0.04)
    assert {draw_number(histogram, listed, stream(0, i)) for i in range(50)} == {4, 5}
