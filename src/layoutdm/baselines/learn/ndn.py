"""The learn half of NDN: three parts that share no weights, trained side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from layoutdm.baselines.learn.graph import GraphLayer, Graphs, RelationNetwork, dense
from layoutdm.baselines.learn.layoutvae import divergence, drawn
from layoutdm.baselines.learn.packed import Ints, Packed, label_first
from layoutdm.baselines.learn.system import Recipe, SystemLearner, write_onnx
from layoutdm.baselines.learn.transformer import Size
from layoutdm.baselines.ndn import (
    GENERATE,
    LATENT,
    PLACE_IDS,
    PLACES,
    REFINE,
    RELATE,
    SIZE_IDS,
    UNKNOWN,
    pairs,
)
from layoutdm.relations import CANVAS_BOX, SIZES, detect
from layoutdm.train.learner import Batch
from layoutdm.train.settings import Optimiser

# Sources disagree on which part has 0.005 and which 1; with 1 latents are not used at all.
KL = 0.005
BOX_WEIGHT = 10.0  # of the mean absolute error, as in the public re-implementation
WOBBLE = 0.05  # refinement learns from boxes that are off by up to this much
GIVEN = {"ndn-none": 0.0, "ndn-partial": 0.1}  # share of relations that are known
ADAM = Optimiser(
    learning_rate=1e-4, betas=(0.5, 0.999), weight_decay=0.0, clip=0.0, warm_up=0,
    schedule="constant", average=0.0,
)  # fmt: skip
_PLACE = np.zeros(16, np.int64)
_SIZE = np.zeros(16, np.int64)
for _code, _id in PLACE_IDS.items():
    _PLACE[_code] = _id
for _code, _id in SIZE_IDS.items():
    _SIZE[_code] = _id


class NDNLearner(SystemLearner):
    recipe: ClassVar[Recipe] = Recipe(
        compact=Size(width=64, feedforward=256),  # of nodes, and inside graph layers
        published=Size(width=128, feedforward=512),
        optimiser=ADAM,
        short=replace(ADAM, learning_rate=5e-4, schedule="cosine"),
    )

    def build(self, size: Size) -> nn.Module:
        labels = len(self.tokenizer.labels)
        return nn.ModuleDict(
            {
                "relate": Relating(labels, size),
                "generate": Generating(labels, size),
                "refine": Refining(labels, size),
            }
        )

    def make(self, packed: Packed, layouts: Ints, rng: np.random.Generator) -> Batch:
        found = packed.gather(layouts, label_first(packed, layouts, left=False))
        size, slots = found.present.shape
        canvas = np.tile(CANVAS_BOX, (size, 1, 1))
        boxes = np.concatenate([canvas, found.boxes], axis=1)
        labels = np.full((size, slots + 1), len(self.tokenizer.labels))
        labels[:, 1:] = np.where(found.present, found.tokens[..., 0], 0)
        valid = np.concatenate([np.ones((size, 1), bool), found.present], axis=1)
        first, second = pairs(slots + 1)
        sizes, places = detect(boxes[:, second], boxes[:, first], first == 0)
        there = valid[:, second]
        place, area = _PLACE[places] * there, _SIZE[sizes] * there
        shown = rng.random((2, size, len(first))) < GIVEN[self.name]
        counts = found.present.sum(axis=1)
        turn = 1 + np.floor(rng.random(size) * counts).astype(np.int64)
        given = rng.random(size) < 0.5  # half of the layouts come with their sizes
        nodes = (size, slots + 1, LATENT)
        arrays = {
            "labels": labels, "valid": valid, "places": place, "sizes": area,
            "known_places": np.where(shown[0], place, UNKNOWN),
            "known_sizes": np.where(shown[1], area, UNKNOWN), "turn": turn, "given": given,
        }  # fmt: skip
        floats = {
            "boxes": boxes, "place_noise": rng.standard_normal(nodes),
            "size_noise": rng.standard_normal(nodes), "noise": rng.standard_normal((size, LATENT)),
            "wobble": WOBBLE * (2 * rng.random(boxes.shape) - 1),
        }  # fmt: skip
        return {
            **{name: torch.from_numpy(np.asarray(value)) for name, value in arrays.items()},
            **{name: torch.from_numpy(value).float() for name, value in floats.items()},
        }

    def loss_of(self, module: nn.Module, batch: Batch) -> Tensor:
        parts = (module[name] for name in ("relate", "generate", "refine"))  # type: ignore[index]
        return torch.stack([part.loss(batch) for part in parts]).sum(dim=0)

    def files(self, module: nn.Module, folder: Path) -> dict[str, Any]:
        assert isinstance(module, nn.ModuleDict)
        first, second = (torch.from_numpy(part) for part in pairs(4))
        ids = torch.zeros(2, 6, dtype=torch.long)
        labels, noise = torch.zeros(2, 4, dtype=torch.long), torch.zeros(2, 4, LATENT)
        shape = {
            "labels": labels, "valid": torch.ones(2, 4, dtype=torch.bool), "first": first,
            "second": second, "places": ids, "sizes": ids.clone(),
        }  # fmt: skip
        node, pair = {0: "batch", 1: "nodes"}, {0: "batch", 1: "pairs"}
        free: dict[str, dict[int, str]] = {
            "labels": node, "valid": node, "first": {0: "pairs"}, "second": {0: "pairs"},
            "places": pair, "sizes": pair,
        }  # fmt: skip
        relate = {**shape, "place_noise": noise, "size_noise": noise.clone()}
        more = {"place_noise": node, "size_noise": node, "place_scores": pair, "size_scores": pair}
        outputs = ("place_scores", "size_scores")
        write_onnx(module["relate"], folder / RELATE, relate, outputs, {**free, **more})
        boxes = torch.zeros(2, 4, 4)
        one = {0: "batch"}
        generate = {**shape, "boxes": boxes, "turn": torch.ones(2, dtype=torch.long)}
        generate["noise"] = torch.zeros(2, LATENT)
        more = {"boxes": node, "turn": one, "noise": one, "box": one}
        write_onnx(module["generate"], folder / GENERATE, generate, ("box",), {**free, **more})
        refine = {**shape, "boxes": boxes}
        more = {"boxes": node, "refined": node}
        write_onnx(module["refine"], folder / REFINE, refine, ("refined",), {**free, **more})
        return {}


class Relating(nn.Module):
    """Predicts relations of place and of size, by one network each."""

    def __init__(self, labels: int, size: Size) -> None:
        super().__init__()
        self.place = RelationNetwork(labels, len(PLACES), size)
        self.size = RelationNetwork(labels, len(SIZES), size)

    def forward(
        self, labels: Tensor, valid: Tensor, first: Tensor, second: Tensor, places: Tensor,
        sizes: Tensor, place_noise: Tensor, size_noise: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        graphs = Graphs(labels, valid, first, second)
        return self.place(graphs, places, place_noise), self.size(graphs, sizes, size_noise)

    def loss(self, batch: Batch) -> Tensor:
        graphs = graphs_of(batch)
        place = self.place.loss(
            graphs, batch["places"], batch["known_places"], batch["place_noise"], KL
        )
        size = self.size.loss(graphs, batch["sizes"], batch["known_sizes"], batch["size_noise"], KL)
        return place + size


class _Embedding(nn.Module):
    """Nodes and pairs of a complete graph as vectors."""

    def __init__(self, labels: int, width: int) -> None:
        super().__init__()
        self.label = nn.Embedding(labels + 1, width)  # the canvas is one more label
        self.place = nn.Embedding(len(PLACES) + 1, width)
        self.size = nn.Embedding(len(SIZES) + 1, width)

    def forward(self, labels: Tensor, places: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
        return self.label(labels), self.place(places) + self.size(sizes)


class Generating(nn.Module):
    """The box of the element whose turn it is, from the graph and the boxes before it."""

    def __init__(self, labels: int, size: Size) -> None:
        super().__init__()
        width, inner, half = size.width, size.feedforward, size.width // 2
        self.embed = _Embedding(labels, half)
        self.layers = nn.ModuleList(
            GraphLayer(start, inner, width) for start in (half, width, width)
        )
        self.join = nn.Linear(width + 4, width)
        self.update = GraphLayer(width, inner, width)
        self.read_box, self.read_graph = nn.Linear(4, width), nn.Linear(width, width)
        self.posterior = nn.Linear(2 * width, LATENT)
        self.prior = dense(width, width, width, LATENT)
        self.means, self.logs = (
            nn.ModuleList(nn.Linear(LATENT, LATENT) for _ in "ab") for _ in "ab"
        )
        self.decoder = dense(LATENT + width, width, half, 4)

    def forward(
        self, labels: Tensor, valid: Tensor, first: Tensor, second: Tensor, places: Tensor,
        sizes: Tensor, boxes: Tensor, turn: Tensor, noise: Tensor,
    ) -> Tensor:  # fmt: skip
        known = self._known(Graphs(labels, valid, first, second), places, sizes, boxes, turn)
        latent = drawn(self._gaussian(self.prior(known), 1), noise)
        box: Tensor = self.decoder(torch.cat([latent, known], dim=-1))
        return box

    def loss(self, batch: Batch) -> Tensor:
        turn, boxes = batch["turn"], batch["boxes"]
        at = torch.arange(boxes.shape[1], device=boxes.device)
        decided = (at < turn[:, None])[..., None]
        given = batch["given"][:, None, None] & (torch.arange(4, device=boxes.device) >= 2)
        seen = torch.where(decided | given, boxes, torch.zeros_like(boxes))
        known = self._known(graphs_of(batch), batch["places"], batch["sizes"], seen, turn)
        truth = boxes[torch.arange(len(turn)), turn]
        both = torch.cat([self.read_box(truth), self.read_graph(known)], dim=-1)
        posterior = self._gaussian(self.posterior(torch.relu(both)), 0)
        latent = drawn(posterior, batch["noise"])
        found = self.decoder(torch.cat([latent, known], dim=-1)).float()
        far = (found - truth).abs().mean(dim=-1)
        prior = self._gaussian(self.prior(known), 1)
        loss: Tensor = BOX_WEIGHT * far + KL * divergence(posterior, prior)
        return loss

    def _known(
        self, graphs: Graphs, places: Tensor, sizes: Tensor, boxes: Tensor, turn: Tensor
    ) -> Tensor:
        """(B, width): the mean of the graph, and the node whose turn it is."""
        nodes, edges = self.embed(graphs.labels, places, sizes)
        for layer in self.layers:
            nodes, edges = layer(graphs, nodes, edges)
        nodes = self.join(torch.cat([nodes, boxes], dim=-1))
        nodes, edges = self.update(graphs, nodes, edges)
        own = torch.gather(nodes, 1, turn[:, None, None].expand(-1, 1, nodes.shape[-1]))[:, 0]
        return own + graphs.mean(nodes, edges)

    def _gaussian(self, x: Tensor, which: int) -> tuple[Tensor, Tensor]:
        x = torch.relu(x)
        return self.means[which](x), self.logs[which](x)


class Refining(nn.Module):
    """All boxes at once, nudged into place."""

    def __init__(self, labels: int, size: Size) -> None:
        super().__init__()
        width, inner, half = size.width, size.feedforward, size.width // 2
        self.embed = _Embedding(labels, half)
        self.join = nn.Linear(half + 4, half)
        shapes = [(half, inner), (width, inner), (width, inner), (width, width)]
        self.layers = nn.ModuleList(GraphLayer(start, mid, width) for start, mid in shapes)
        self.out = nn.Linear(width, 4)

    def forward(
        self, labels: Tensor, valid: Tensor, first: Tensor, second: Tensor, places: Tensor,
        sizes: Tensor, boxes: Tensor,
    ) -> Tensor:  # fmt: skip
        graphs = Graphs(labels, valid, first, second)
        nodes, edges = self.embed(labels, places, sizes)
        nodes = self.join(torch.cat([nodes, boxes], dim=-1))
        for layer in self.layers:
            nodes, edges = layer(graphs, nodes, edges)
        refined: Tensor = boxes + self.out(nodes)
        return refined

    def loss(self, batch: Batch) -> Tensor:
        graphs = graphs_of(batch)
        found = self(
            batch["labels"], batch["valid"], graphs.first, graphs.second, batch["places"],
            batch["sizes"], batch["boxes"] + batch["wobble"],
        )  # fmt: skip
        far = (found.float() - batch["boxes"]).abs().mean(dim=-1)[:, 1:]
        there = batch["valid"][:, 1:].float()
        loss: Tensor = BOX_WEIGHT * (far * there).sum(dim=1) / there.sum(dim=1)
        return loss


def graphs_of(batch: Batch) -> Graphs:
    first, second = (torch.from_numpy(part) for part in pairs(batch["labels"].shape[1]))
    device = batch["labels"].device
    return Graphs(batch["labels"], batch["valid"], first.to(device), second.to(device))
