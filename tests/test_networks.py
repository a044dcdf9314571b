"""The networks: sizes, initial weights, and what their answers may and may not depend on."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from torch import nn

from layoutdm.errors import LayoutdmError
from layoutdm.train.networks import ElementNetwork, NetworkConfig, Query, build
from layoutdm.train.networks.paper import paper_config

SIZES = (3, 4, 4, 4, 4)


def small(kind: str, **changes: object) -> nn.Module:
    torch.manual_seed(0)
    settings: dict[str, object] = {
        "kind": kind, "width": 16, "layers": 2, "heads": 2, "feedforward": 32, "max_elements": 6,
        "time": "adaln" if kind == "paper" else "none",
    }  # fmt: skip
    network = build(NetworkConfig(SIZES, **{**settings, **changes}))  # type: ignore[arg-type]
    assert isinstance(network, nn.Module)
    for parameter in network.parameters():  # away from the start, where much is zero
        nn.init.normal_(parameter, std=0.3)
    return network.eval()


def query(batch: int = 2, slots: int = 3, level: int = 50, seed: int = 0) -> Query:
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.stack(
        [torch.randint(0, n + 2, (batch, slots), generator=generator) for n in SIZES], dim=-1
    )
    return Query(tokens, torch.full((batch,), level))


def parameters(module: object) -> int:
    assert isinstance(module, nn.Module)
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize(("labels", "count"), [(25, 12_424_992), (5, 12_406_432)])
def test_the_paper_network_has_the_papers_size(labels: int, count: int) -> None:
    assert parameters(build(paper_config((labels, 32, 32, 32, 32)))) == count


def test_flat_positions_have_the_size_of_vqdiffusion() -> None:
    network = build(paper_config((25, 32, 32, 32, 32), positions="flat"))
    assert parameters(network) == 12_469_072


@pytest.mark.parametrize("kind", ["element", "paper"])
def test_initial_weights(kind: str) -> None:
    torch.manual_seed(0)
    network = build(NetworkConfig((25, 32, 32, 32, 32), kind=kind, width=128, feedforward=256))
    assert isinstance(network, nn.Module)
    for module in network.modules():
        if isinstance(module, nn.Linear | nn.Embedding) and module.weight.numel() > 4000:
            assert float(module.weight.detach().std()) == pytest.approx(0.02, rel=0.1)
        if isinstance(module, nn.Linear) and module.bias is not None:
            assert not module.bias.any()


@pytest.mark.parametrize("kind", ["element", "paper"])
def test_predictions_are_distributions_over_values_and_pad(kind: str) -> None:
    prediction = small(kind)(query())
    for size, part in zip(SIZES, prediction.log_probs, strict=True):
        assert part.shape == (2, 3, size + 1)
        assert torch.allclose(part.exp().sum(-1), torch.ones(2, 3), atol=1e-5)
    assert (prediction.number is None) == (kind == "paper")


def test_normalising_over_the_vocabulary_loses_mass_to_foreign_tokens() -> None:
    prediction = small("paper", normalise="vocabulary")(query())
    sums = torch.stack([part.exp().sum(-1) for part in prediction.log_probs])
    assert float(sums.detach().max()) < 1


@pytest.mark.parametrize("kind", ["element", "paper"])
def test_filling_slots_change_nothing(kind: str) -> None:
    network, short = small(kind), query(slots=3)
    extra = query(slots=5, seed=7).tokens[:, 3:]
    valid = torch.tensor([[True, True, True, False, False]] * 2)
    longer = Query(torch.cat([short.tokens, extra], 1), short.level, valid)
    for a, b in zip(network(short).log_probs, network(longer).log_probs, strict=True):
        assert torch.allclose(a, b[:, :3], atol=1e-5)


def test_the_element_network_does_not_know_an_order_unless_it_is_told() -> None:
    network, given = small("element", about_levels=2), query(slots=4)
    order = torch.tensor([2, 0, 3, 1])
    about = torch.randint(0, 9, (2, 4, 4))
    plain = network(Query(given.tokens, None, None, about, torch.zeros(2, 4, dtype=torch.long)))
    moved = network(
        Query(given.tokens[:, order], None, None, about[:, order],
              torch.zeros(2, 4, dtype=torch.long))
    )  # fmt: skip
    for a, b in zip(plain.log_probs, moved.log_probs, strict=True):
        assert torch.allclose(a[:, order], b, atol=1e-5)
    assert torch.allclose(plain.number, moved.number, atol=1e-5)
    ranks = 1 + torch.arange(4).expand(2, 4)
    ordered = network(Query(given.tokens, None, None, about, ranks))
    assert not torch.allclose(plain.log_probs[0], ordered.log_probs[0], atol=1e-3)


@pytest.mark.parametrize("kind", ["element", "paper"])
def test_time_conditioning_is_seen(kind: str) -> None:
    network = small(kind, time="adaln")
    early, late = network(query(level=1)), network(query(level=100))
    assert not torch.allclose(early.log_probs[0], late.log_probs[0], atol=1e-3)


def test_the_published_block_takes_its_residual_from_the_normalised_input() -> None:
    standard, published = small("paper"), small("paper", block="published")
    published.load_state_dict(standard.state_dict())
    a, b = standard(query()).log_probs[0], published(query()).log_probs[0]
    assert not torch.allclose(a, b, atol=1e-3)


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(LayoutdmError, match="multiple of its heads"):
        NetworkConfig(SIZES, width=10, heads=4)
    with pytest.raises(LayoutdmError, match="choose one of: element, paper"):
        NetworkConfig(SIZES, kind="other")
    config = NetworkConfig(SIZES, about_levels=3)
    assert NetworkConfig.from_dict(config.to_dict()) == config


CENTRES = ((0.25, 0.5, 0.75, 0.9), (0.2, 0.4, 0.6, 0.8), (0.1, 0.2, 0.5, 1.0), (0.1, 0.2, 0.3, 0.4))


def test_a_value_scores_as_its_edges_do_once_its_partner_is_known() -> None:
    """All weights zero but the score of one left edge: x = 0.5 and width 0.5 start at 0.25."""
    network = build(NetworkConfig(SIZES, width=16, heads=2, edges=101, centres=CENTRES))
    assert isinstance(network, nn.Module)
    for parameter in network.parameters():
        nn.init.zeros_(parameter)
    network.edge_heads.bias.data[25] = 20.0  # lines 0 to 100 are left edges
    mask = 5
    known_width = torch.tensor([[[0, mask, mask, 2, mask], [0, mask, mask, mask, mask]]])
    x = network(Query(known_width)).log_probs[1].exp()
    assert float(x[0, 0, 1]) == pytest.approx(1.0, abs=1e-6)
    assert x[0, 1].tolist() == pytest.approx([0.2] * 5)  # nothing is known: no edges to score
    known_x = torch.tensor([[[0, 1, mask, mask, mask]]])
    width = network(Query(known_x)).log_probs[3].exp()
    assert float(width[0, 0, 2]) == pytest.approx(1.0, abs=1e-6)
    height = network(Query(known_x)).log_probs[4].exp()
    assert height[0, 0].tolist() == pytest.approx([0.2] * 5)  # the other axis does not care


def test_free_space_is_found() -> None:
    """Covering costs: between two known elements of a column only one height of four fits."""
    network = build(NetworkConfig(SIZES, width=16, heads=2, edges=101, centres=CENTRES, space=True))
    assert isinstance(network, nn.Module)
    for parameter in network.parameters():
        nn.init.zeros_(parameter)
    network.cover.data[:] = -1.0
    mask = 5
    # y = 0.2 and 0.6 of height 0.2 leave 0.3 to 0.5 free around y = 0.4; x and width are shared.
    tokens = torch.tensor([[[0, 1, 0, 2, 1], [0, 1, 2, 2, 1], [0, 1, 1, 2, mask]]])
    height = network(Query(tokens)).log_probs[4][0, 2].exp()
    assert float(height[:2].sum()) == pytest.approx(float(height[4]) * 2, rel=1e-3)  # 0.1, 0.2 fit
    assert float(height[2:4].sum()) < 1e-3  # 0.3 and 0.4 would cover both
    beside = tokens.clone()
    beside[0, :2, 1], beside[0, :2, 3] = 3, 0  # the others now stand at the right edge
    free = network(Query(beside)).log_probs[4][0, 2].exp()
    assert free.tolist() == pytest.approx([0.2] * 5)
    assert torch.equal(  # slots that only fill up the batch cover nothing
        network(Query(tokens, valid=torch.tensor([[False, False, True]]))).log_probs[4][0, 2].exp(),
        free,
    )


def test_edges_need_the_bins() -> None:
    with pytest.raises(LayoutdmError, match="edges need the bin centres"):
        NetworkConfig(SIZES, edges=9)
    config = NetworkConfig(SIZES, edges=9, centres=CENTRES)
    assert NetworkConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def repeating(kind: int, *, label: int = 0) -> nn.Module:
    """A network that knows nothing but one kind of repeating, among elements of this label."""
    config = NetworkConfig(SIZES, width=16, heads=2, edges=101, centres=CENTRES, repeats=True)
    network = build(config)
    assert isinstance(network, nn.Module)
    for parameter in network.parameters():
        nn.init.zeros_(parameter)
    tables = network.get_parameter("repeat.tables").data.view(5, 5, -1)
    tables[..., -2:] = 1 / 3  # each gap counts for what it is
    tables[label, label, kind] = 2.0
    return network.eval()


def test_a_size_that_others_have_is_likelier() -> None:
    mask = 5
    tokens = torch.tensor([[[0, 1, 0, 2, 1], [0, 2, 2, 2, 0], [1, 1, 3, 0, 0], [0, *[mask] * 4]]])
    width = repeating(2)(Query(tokens)).log_probs[3][0, 3].exp()
    assert int(width.argmax()) == 2  # two of the same label have it
    assert float(width[0]) == pytest.approx(float(width[1]))  # the other label does not count
    height = repeating(2)(Query(tokens)).log_probs[4][0, 3].exp()
    assert height.tolist() == pytest.approx([0.2] * 5)


def test_an_edge_that_lines_up_is_likelier() -> None:
    """The other's left edge is at 0.25; x = 0.5 of width 0.5 has the same."""
    mask = 5
    tokens = torch.tensor([[[0, 1, 0, 2, 1], [0, mask, mask, 2, mask]]])
    x = repeating(4)(Query(tokens)).log_probs[1][0, 1].exp()  # left on left
    assert int(x.argmax()) == 1
    assert float(x[1]) > 0.9
    alone = repeating(4)(Query(tokens, valid=torch.tensor([[False, True]]))).log_probs[1][0, 1]
    assert alone.exp().tolist() == pytest.approx([0.2] * 5)


def test_a_gap_that_was_there_is_likelier() -> None:
    """Two of height 0.1 at 0.2 and 0.4 have a gap of 0.1; it is repeated at 0.6.

    So it is at 0.4, behind the first, where the second stands: that this is taken, `space` knows.
    """
    mask = 5
    tokens = torch.tensor([[[0, 1, 0, 2, 0], [0, 1, 1, 2, 0], [0, 1, mask, 2, 0]]])
    y = repeating(13)(Query(tokens)).log_probs[2][0, 2].exp()
    assert float(y[2]) == pytest.approx(float(y[1]))
    assert float(y[2]) > 0.4
    assert float(y[3]) < 0.01
    beside = tokens.clone()
    beside[0, :2, 1], beside[0, :2, 3] = 3, 0  # another column
    apart = repeating(13)(Query(beside)).log_probs[2][0, 2].exp()
    assert apart.tolist() == pytest.approx([0.2] * 5)


def test_only_what_is_asked_is_predicted() -> None:
    network, given = small("element", edges=9, centres=CENTRES, space=True, repeats=True), query()
    asked = torch.tensor([[2, 0], [1, 1]])
    some = network(Query(given.tokens, asked=asked)).log_probs
    whole = network(Query(given.tokens)).log_probs
    for a, b in zip(some, whole, strict=True):
        assert torch.allclose(a, b[torch.arange(2)[:, None], asked], atol=1e-5)


def test_numbers_of_elements_begin_as_in_the_data() -> None:
    network = build(NetworkConfig(SIZES, width=16, heads=2, max_elements=4))
    assert isinstance(network, ElementNetwork)
    network.expect_numbers(np.repeat([1, 2, 4], [100, 300, 600]))
    nn.init.zeros_(network.number.weight)
    number = network(query(slots=2)).number
    assert number is not None
    assert number.exp()[0].tolist() == pytest.approx([0.1, 0.3, 0.0, 0.6], abs=0.01)
