"""Model folders: the ONNX file computes what torch computes, small, and can be trained on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import nn

from layoutdm.diffusion import Schedule
from layoutdm.errors import LayoutdmError
from layoutdm.model.store import embedded
from layoutdm.tokens import MODALITIES, Tokenizer, uniform_bins
from layoutdm.train.export import count_numbers, export_model, load_network, round_weights
from layoutdm.train.networks import NetworkConfig, Query, build

TOKENIZER = Tokenizer(("a", "b", "c"), uniform_bins(8), 6)
BASIC: dict[str, Any] = {"sizes": TOKENIZER.sizes, "max_elements": 6, "width": 32, "layers": 2,
                         "heads": 4, "feedforward": 64}  # fmt: skip
CENTRES = tuple(tuple(map(float, part)) for part in TOKENIZER.bins.centres)
CONFIGS = {
    "element": NetworkConfig(**BASIC, about_levels=2),
    "element without drafts": NetworkConfig(**BASIC),
    "element with edges": NetworkConfig(**BASIC, edges=9, centres=CENTRES),
    "element with space": NetworkConfig(**BASIC, edges=9, centres=CENTRES, space=True),
    "element that avoids others more": NetworkConfig(
        **BASIC, edges=9, centres=CENTRES, space=True, cover_most=30.0
    ),
    "element that repeats": NetworkConfig(
        **BASIC, edges=9, centres=CENTRES, space=True, repeats=True, ordered=True
    ),
    "element that learns in turn": NetworkConfig(
        **BASIC, about_levels=2, edges=9, centres=CENTRES, space=True, repeats=True, ordered=True,
        in_turn=True,
    ),
    "element with time": NetworkConfig(**BASIC, time="adaln"),
    "paper": NetworkConfig(**BASIC, kind="paper", time="adaln", number=False),
    "paper as published": NetworkConfig(**BASIC, kind="paper", time="adaln", number=False,
                                        positions="flat", block="published",
                                        normalise="vocabulary"),
}  # fmt: skip


def make(config: NetworkConfig) -> nn.Module:
    torch.manual_seed(0)
    network = build(config)
    assert isinstance(network, nn.Module)
    for parameter in network.parameters():  # as far from zero as trained weights
        parameter.data.add_(0.1 * torch.randn_like(parameter))
    return network.eval()


def query(batch: int, slots: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(batch)
    tokens = torch.stack(
        [torch.randint(0, n + 2, (batch, slots), generator=generator) for n in TOKENIZER.sizes], -1
    )
    valid = torch.arange(slots) < torch.randint(1, slots + 1, (batch, 1), generator=generator)
    tokens = torch.where(valid[..., None], tokens, torch.tensor(TOKENIZER.sizes))  # PAD
    return {
        "tokens": tokens,
        "level": torch.randint(1, 101, (batch,), generator=generator),
        "valid": valid,
        "about": torch.randint(0, 17, (batch, slots, 4), generator=generator),
        "position": torch.randint(0, 7, (batch, slots), generator=generator),
        "asked": torch.randint(0, slots, (batch, max(1, slots - 2)), generator=generator),
        "turn": torch.rand((batch, slots), generator=generator).argsort(dim=1),
    }


@pytest.mark.parametrize("name", CONFIGS)
def test_onnx_equals_torch_for_any_batch_and_number_of_slots(name: str, tmp_path: Path) -> None:
    config = CONFIGS[name]
    network = make(config)
    export_model(network, TOKENIZER, Schedule(), tmp_path)
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    inputs = [entry.name for entry in session.get_inputs()]
    assert ("level" in inputs) == (config.time == "adaln")
    assert ("about" in inputs) == (config.about_levels > 0)
    assert ("position" in inputs) == ("asked" in inputs) == (config.kind == "element")
    rounded = round_weights(network)
    for batch, slots in ((1, 1), (3, 6), (5, 4)):
        given = query(batch, slots)
        names = [entry.name for entry in session.get_outputs()]
        outputs = dict(zip(names, session.run(None, {n: given[n].numpy() for n in inputs}),
                           strict=True))  # fmt: skip
        with torch.no_grad():
            expected = rounded(
                Query(given["tokens"], given["level"] if "level" in inputs else None,
                      given["valid"], given["about"] if "about" in inputs else None,
                      given["position"], turn=given["turn"] if "turn" in inputs else None)
            )  # fmt: skip
        asked = given["asked"].numpy() if "asked" in inputs else np.arange(slots)[None]
        take = np.arange(batch)[:, None], asked
        real = given["valid"].numpy()[take]
        for modality, part in zip(MODALITIES, expected.log_probs, strict=True):
            assert outputs[modality].dtype == np.float32
            found, wanted = outputs[modality][real], part.numpy()[take][real]
            assert np.abs(found - wanted).max(initial=0.0) < 1e-4
        if config.kind == "element":
            assert np.abs(outputs["number"] - expected.number.numpy()).max() < 1e-4
        else:
            assert "number" not in outputs


def test_weights_are_stored_once_in_half_precision_and_cast_once(tmp_path: Path) -> None:
    network = make(CONFIGS["element"])
    export_model(network, TOKENIZER, Schedule(), tmp_path)
    path = tmp_path / "model.onnx"
    parameters = sum(parameter.numel() for parameter in network.parameters())
    assert 2 * parameters < path.stat().st_size < 2 * parameters + 40_000
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    onnxruntime.InferenceSession(str(path), options)
    casts = [
        node for node in onnx.load(tmp_path / "optimised.onnx").graph.node if node.op_type == "Cast"
    ]
    assert [node.input[0] for node in casts] == ["valid"]  # no weight is cast at run time


@pytest.mark.parametrize("name", CONFIGS)
def test_weights_come_back(name: str, tmp_path: Path) -> None:
    network = make(CONFIGS[name])
    schedule = Schedule.preset("mask-and-replace", 50)
    export_model(
        network, TOKENIZER, schedule, tmp_path, number_histogram=[4, 3, 2, 1, 0, 0],
        canvas=(600, 800), about_noise=(0.05, 0.1), sampling={"default": {"steps": 25}},
        card="# Mine\n",
    )  # fmt: skip
    loaded = load_network(tmp_path)
    assert loaded.schedule == schedule
    assert loaded.tokenizer.labels == TOKENIZER.labels
    assert loaded.tokenizer.sizes == TOKENIZER.sizes
    assert loaded.network.config == network.config
    assert isinstance(loaded.network, nn.Module)
    for key, value in round_weights(network).state_dict().items():  # type: ignore[attr-defined]
        assert torch.equal(loaded.network.state_dict()[key], value), key
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["format"] == 1
    assert config["number_histogram"] == [4, 3, 2, 1, 0, 0]
    assert config["canvas"] == [600, 800]
    assert config["about_noise"] == [0.05, 0.1]
    assert config["sampling"] == {"default": {"steps": 25}}
    assert (tmp_path / "README.md").read_text() == "# Mine\n"


def test_what_is_no_model_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(LayoutdmError, match=r"no config\.json"):
        load_network(tmp_path)
    export_model(make(CONFIGS["element"]), TOKENIZER, Schedule(), tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"nonsense")
    with pytest.raises(LayoutdmError, match=r"model\.onnx: not a readable ONNX file"):
        load_network(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(LayoutdmError, match="not the config of a model"):
        load_network(tmp_path)


def test_weights_that_have_diverged_are_not_exported(tmp_path: Path) -> None:
    network = make(CONFIGS["element"])
    next(network.parameters()).data[0, 0] = 1e6
    with pytest.raises(LayoutdmError, match="too large for half precision"):
        export_model(network, TOKENIZER, Schedule(), tmp_path)


def test_numbers_of_elements_are_counted() -> None:
    assert count_numbers([1, 3, 3, 2], 4) == [1, 1, 2, 0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rico25", "publaynet"])
def test_embedded_networks_load_and_answer_as_their_files_do(name: str) -> None:
    """Trained on from there, they must begin where they are."""
    folder = embedded()[name]
    loaded = load_network(folder)
    assert loaded.network.config.ordered
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    inputs = {entry.name for entry in session.get_inputs()}
    sizes = loaded.tokenizer.sizes
    rng = np.random.default_rng(0)
    tokens = np.stack([rng.integers(0, n + 2, (2, 5)) for n in sizes], axis=-1)
    asked, valid = np.array([[0, 3], [1, 4]]), np.ones((2, 5), dtype=bool)
    position = np.tile(np.arange(5), (2, 1))
    about = np.zeros((2, 5, 4), dtype=np.int64)
    turn = np.stack([rng.permutation(5) for _ in range(2)])
    feed = {"tokens": tokens, "valid": valid, "asked": asked, "position": position,
            "about": about, "turn": turn}  # fmt: skip
    outputs = session.run([*MODALITIES, "number"], {n: feed[n] for n in inputs})
    named = [torch.from_numpy(feed[n]) for n in ("valid", "about", "position", "asked", "turn")]
    with torch.no_grad():
        assert isinstance(loaded.network, nn.Module)
        expected = loaded.network.eval()(Query(torch.from_numpy(tokens), None, *named))
    assert expected.number is not None
    for found, wanted in zip(outputs, [*expected.log_probs, expected.number], strict=True):
        assert np.abs(found - wanted.numpy()).max() < 2e-3
