"""LayoutVAE, Diffusion-LM and NDN: networks with known answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import baseline_cases as cases
from layoutdm.baselines.common import Common
from layoutdm.baselines.diffusionlm import (
    DiffusionLM,
    DiffusionLMOptions,
    Tables,
    log_snr,
    scales,
    step,
)
from layoutdm.baselines.layoutvae import LayoutVAE, LayoutVAEOptions
from layoutdm.baselines.learn.layoutvae import divergence
from layoutdm.baselines.learn.ndn import graphs_of
from layoutdm.baselines.ndn import NDN, PLACE_IDS, SIZE_IDS, Graph, NDNOptions
from layoutdm.baselines.session import Session
from layoutdm.baselines.vocabulary import PLACE_FIRST, Vocabulary
from layoutdm.diffusion.streams import stream
from layoutdm.relations import Relation, detect_all
from layoutdm.spec import Condition, Spec
from layoutdm.tokens import Tokenizer, uniform_bins

TOKENIZER = Tokenizer(("a", "b", "c"), uniform_bins(4), 8)
COMMON = Common(TOKENIZER, histogram=np.ones(8))


def condition(spec: dict[str, Any]) -> Condition:
    return Condition.from_spec(Spec.parse(spec), TOKENIZER.labels, 8)


# LayoutVAE -------------------------------------------------------------------------------------


class Boxes:
    """The k-th box of a layout is at left 0.1 k; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def __call__(self, **inputs: Any) -> tuple[Any, ...]:
        self.asked.append({key: value.copy() for key, value in inputs.items()})
        k = len(self.asked) - 1
        box = np.tile(np.array([0.1 * k, 0.2, 0.3, 0.4], np.float32), (len(inputs["label"]), 1))
        return box, inputs["hidden"] + 1, inputs["cell"]


def rate(**inputs: Any) -> tuple[Any, ...]:
    """Label 1 comes often, the others once."""
    return (np.where(inputs["label"] == 1, np.log(2.0), -20.0),)


def test_layoutvae_decides_boxes_by_label_and_remembers_them() -> None:
    network = Boxes()
    system = LayoutVAE(COMMON, network, rate, 4)
    asked = condition({"elements": [{"label": "b"}, {"label": "a", "width": 0.5, "height": 0.25}]})
    drawn = system.draw([asked], LayoutVAEOptions(), [stream(0, 0)])
    assert [int(call["label"][0]) for call in network.asked] == [0, 1]  # a, then b
    np.testing.assert_allclose(drawn.box[0, 1], [0.15, 0.4, 0.5, 0.25], atol=1e-6)  # first
    np.testing.assert_allclose(drawn.box[0, 0], [0.25, 0.4, 0.3, 0.4], atol=1e-6)  # second
    first, second = network.asked
    np.testing.assert_allclose(first["sizes"], [[0.5, 0.25]])
    assert first["given"].tolist() == [1.0] and second["given"].tolist() == [0.0]
    np.testing.assert_allclose(second["before"], [[1, 0, 0, 0.0, 0.2, 0.3, 0.4]])
    assert first["before"].sum() == 0 and second["hidden"].tolist() == [[1.0] * 4]
    np.testing.assert_allclose(first["counts"], [[1, 1, 0]])


def test_layoutvae_draws_counts_where_there_may_be_more() -> None:
    system = LayoutVAE(COMMON, Boxes(), rate, 4)
    asked = condition({"elements": [{"label": "b"}, {"label": "c"}], "more": True})
    assert system.refuses(asked) is None
    counts = []
    for index in range(200):
        system = LayoutVAE(COMMON, Boxes(), rate, 4)
        drawn = system.draw([asked], LayoutVAEOptions(), [stream(0, index)])
        labels = drawn.label[0][drawn.mask[0]].tolist()
        assert labels[:2] == [1, 2] and set(labels) == {1, 2} and labels.count(2) == 1
        counts.append(labels.count(1))
    assert np.mean(counts) == pytest.approx(3.0, abs=0.3)  # Poisson(2) + 1


def test_layoutvae_refuses_places_with_more() -> None:
    system = LayoutVAE(COMMON, Boxes(), rate, 4)
    asked = condition({"elements": [{"label": "b", "x": 0.5}], "more": True})
    assert "layoutvae" in str(system.refuses(asked))


def test_divergence_is_that_of_gaussians() -> None:
    one = torch.distributions.Normal(torch.tensor([0.3]), torch.tensor([0.5]))
    two = torch.distributions.Normal(torch.tensor([-1.0]), torch.tensor([2.0]))
    wanted = torch.distributions.kl_divergence(one, two)
    got = divergence((one.mean, 2 * one.stddev.log()), (two.mean, 2 * two.stddev.log()))
    assert float(got) == pytest.approx(float(wanted), rel=1e-5)


# Diffusion-LM ----------------------------------------------------------------------------------

WORDS = Vocabulary(TOKENIZER.sizes, PLACE_FIRST, False, ("pad", "mask"))


def lm(local: Any) -> DiffusionLM:
    vectors = 5 * np.eye(WORDS.size)
    flat = WORDS.flatten(np.array(local))

    def network(**inputs: Any) -> tuple[Any, ...]:
        return (np.broadcast_to(vectors[flat], inputs["vectors"].shape).astype(np.float32),)

    tables = Tables(vectors, vectors, np.zeros(WORDS.size))
    return DiffusionLM(COMMON, network, tables, WORDS)


KNOWN = [[1, 0, 1, 2, 3], [2, 3, 2, 1, 0], *[TOKENIZER.pad.tolist()] * 6]


@pytest.mark.parametrize("ddim", [False, True])
@pytest.mark.parametrize("repaired_start", [False, True])
def test_diffusionlm_arrives_at_what_its_network_predicts(ddim: bool, repaired_start: bool) -> None:
    options = DiffusionLMOptions(steps=12, ddim=ddim, repaired_start=repaired_start, clamp=True)
    drawn = lm(KNOWN).draw([condition({})], options, [stream(0, 0)])
    assert drawn.label[0][drawn.mask[0]].tolist() == [1, 2]
    bins = TOKENIZER.bins.encode(drawn.box[0][drawn.mask[0]])
    assert bins.tolist() == [[0, 1, 2, 3], [3, 2, 1, 0]]


def test_diffusionlm_keeps_known_tokens() -> None:
    asked = condition({"elements": [{"label": "a", "width": 0.25}], "more": True})
    drawn = lm(KNOWN).draw([asked], DiffusionLMOptions(steps=5), [stream(0, 0)])
    assert drawn.label[0, :2].tolist() == [0, 2] and drawn.box[0, 0, 2] == 0.25


def test_a_step_with_the_true_vector_keeps_signal_and_noise() -> None:
    rng = np.random.default_rng(0)
    clean, noise, more = rng.standard_normal((3, 20_000))
    at, to = float(log_snr(0.8)), float(log_snr(0.5))
    (alpha, sigma), (alpha_to, sigma_to) = scales(at), scales(to)
    x = alpha * clean + sigma * noise
    by_ddim = step(x, clean, at, to, None, ddim=True)
    np.testing.assert_allclose(by_ddim, alpha_to * clean + sigma_to * noise, atol=1e-9)
    by_ddpm = step(x, clean, at, to, more, ddim=False) - alpha_to * clean
    assert by_ddpm.mean() == pytest.approx(0, abs=0.02)
    assert by_ddpm.std() == pytest.approx(float(sigma_to), rel=0.02)


# NDN -------------------------------------------------------------------------------------------

RELATED: dict[str, Any] = {
    "elements": [{"name": "b", "label": "b"}, {"name": "a", "label": "a"}],
    "relations": [
        {"of": "b", "is": "below", "to": "a"},
        {"of": "a", "is": "larger", "to": "b"},
        {"of": "b", "is": "top", "to": "canvas"},
    ],
}


def test_a_graph_holds_relations_by_label_order_with_the_canvas_first() -> None:
    graph = Graph([condition(RELATED)], canvas_label=3)
    assert graph.labels.tolist() == [[3, 0, 1]]  # canvas, a, b
    assert [*zip(graph.first.tolist(), graph.second.tolist(), strict=True)] == [
        (0, 1), (0, 2), (1, 2)
    ]  # fmt: skip
    above, below = PLACE_IDS[Relation.ABOVE], PLACE_IDS[Relation.BELOW]
    assert graph.places.tolist() == [[0, above, below]]  # b is in the upper third, and below a
    assert graph.sizes.tolist() == [[0, 0, SIZE_IDS[Relation.SMALLER]]]  # b relative to a


def test_ndn_completes_relations_draws_in_turn_and_refines() -> None:
    seen: list[Any] = []

    def relate(**inputs: Any) -> tuple[Any, ...]:
        place = np.zeros((*inputs["places"].shape, 5))
        place[..., 3] = 1.0  # below
        size = np.zeros((*inputs["sizes"].shape, 3))
        return place, size

    def generate(**inputs: Any) -> tuple[Any, ...]:
        seen.append((int(inputs["turn"][0]), inputs["boxes"].copy(), inputs["places"].copy()))
        return (np.full((len(inputs["turn"]), 4), 0.1 * inputs["turn"][0], np.float32),)

    def refine(**inputs: Any) -> tuple[Any, ...]:
        return (inputs["boxes"] + 0.01,)

    system = NDN(COMMON, relate, generate, refine, "ndn-partial")
    drawn = system.draw([condition(RELATED)], NDNOptions(), [stream(0, 0)])
    np.testing.assert_allclose(drawn.box[0, :2, 0], [0.21, 0.11], atol=1e-6)  # b second, a first
    assert [turn for turn, _, _ in seen] == [1, 2]
    np.testing.assert_allclose(seen[1][1][0, 1], 0.1)
    below, above = PLACE_IDS[Relation.BELOW], PLACE_IDS[Relation.ABOVE]
    assert seen[0][2].tolist() == [[below, above, below]]


def test_ndn_learns_the_relations_that_are_detected() -> None:
    made = cases.learner("ndn-partial")
    batch = made.make(made.train, np.arange(3), np.random.default_rng(0))
    graphs = graphs_of(batch)
    boxes, valid = batch["boxes"].double().numpy(), batch["valid"].numpy()
    for row in range(3):
        n = int(valid[row].sum()) - 1
        sizes, places = detect_all(boxes[row, 1 : n + 1])
        pairs = zip(graphs.first.tolist(), graphs.second.tolist(), strict=True)
        for pair, (i, j) in enumerate(pairs):
            if j > n:
                assert batch["places"][row, pair] == 0
                continue
            assert int(batch["places"][row, pair]) == PLACE_IDS[int(places[j - 1, i])]
            assert int(batch["sizes"][row, pair]) == SIZE_IDS[int(sizes[j - 1, i])]


# Exported files --------------------------------------------------------------------------------


def close(session: Session, module: Any, inputs: dict[str, Any]) -> None:
    with torch.no_grad():
        wanted = module(**inputs)
    got = session(**{key: value.numpy() for key, value in inputs.items()})
    for one, other in zip(got, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        np.testing.assert_allclose(one, other.numpy(), rtol=1e-3, atol=3e-4)


def test_exported_files_equal_the_networks() -> None:
    rng = torch.Generator().manual_seed(0)
    made, folder = cases.strong("layoutvae"), cases.exported("layoutvae")
    count = len(made.tokenizer.labels)
    label = torch.tensor([0, 2, 1])
    inputs = {
        "counts": torch.rand(3, count, generator=rng), "label": label,
        "before": torch.rand(3, count + 4, generator=rng),
        "hidden": torch.rand(3, 32, generator=rng), "cell": torch.rand(3, 32, generator=rng),
        "noise": torch.rand(3, 32, generator=rng), "sizes": torch.rand(3, 2, generator=rng),
        "given": torch.tensor([0.0, 1.0, 0.0]),
    }  # fmt: skip
    close(Session(folder / "boxes.onnx", 1), made.module["boxes"], inputs)
    made, folder = cases.strong("diffusionlm"), cases.exported("diffusionlm")
    vectors = torch.randn(3, 5 * cases.MOST, 16, generator=rng)
    inputs = {"vectors": vectors, "log_snr": torch.tensor([-3.0, 0.0, 5.0])}
    close(Session(folder / "model.onnx", 1), made.module, inputs)
    made, folder = cases.strong("ndn-none"), cases.exported("ndn-none")
    batch = made.make(made.train, np.arange(5), np.random.default_rng(0))
    graphs = graphs_of(batch)
    shape = {"labels": batch["labels"], "valid": batch["valid"], "first": graphs.first}
    shape |= {"second": graphs.second, "places": batch["places"], "sizes": batch["sizes"]}
    noise = {"place_noise": batch["place_noise"], "size_noise": batch["size_noise"]}
    close(Session(folder / "relations.onnx", 1), made.module["relate"], {**shape, **noise})
    turn = {"boxes": batch["boxes"], "turn": batch["turn"], "noise": batch["noise"]}
    close(Session(folder / "boxes.onnx", 1), made.module["generate"], {**shape, **turn})
    boxes = {"boxes": batch["boxes"]}
    close(Session(folder / "refinement.onnx", 1), made.module["refine"], {**shape, **boxes})


def test_ndn_refuses_a_relation_that_its_paper_does_not_have() -> None:
    def never(**inputs: Any) -> Any:
        raise AssertionError("it should be refused before any network is asked")

    elements = [{"name": "one", "label": "a"}, {"name": "two", "label": "b"}]
    relations = [{"of": "one", "is": "left_aligned", "to": "two"}]
    system = NDN(COMMON, never, never, never, "ndn-partial")
    reason = system.refuses(condition({"elements": elements, "relations": relations}))
    assert "left_aligned" in str(reason) and "left_of" in str(reason)
    relations[0]["is"] = "left_of"
    assert system.refuses(condition({"elements": elements, "relations": relations})) is None
