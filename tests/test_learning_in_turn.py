"""Networks that learn in turn: one pass says what the network would say in every single state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from layoutdm.train.networks import ElementNetwork, Lesson, NetworkConfig, Query

SIZES = (3, 9, 9, 5, 5)
CENTRES = (
    tuple((k + 0.5) / 9 for k in range(9)), tuple((k + 0.5) / 9 for k in range(9)),
    (0.1, 0.2, 0.3, 0.5, 1.0), (0.05, 0.1, 0.2, 0.4, 0.8),
)  # fmt: skip
MASK = torch.tensor(SIZES) + 1
ORDER = torch.tensor([0, 3, 4, 1, 2])  # when label, x, y, width, height are decided


def network() -> ElementNetwork:
    torch.manual_seed(1)
    config = NetworkConfig(
        SIZES, width=16, layers=3, heads=2, feedforward=32, max_elements=6, about_levels=2,
        edges=33, centres=CENTRES, space=True, repeats=True, ordered=True, in_turn=True,
    )  # fmt: skip
    made = ElementNetwork(config)
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.3)
    return made.eval()


NETWORK = network()


def lesson(seed: int, batch: int = 3, slots: int = 5) -> tuple[Lesson, Tensor]:
    """Random layouts, some of whose fields and elements are given; the stage of each element."""
    rng = np.random.default_rng(seed)
    clean = torch.from_numpy(rng.integers(0, SIZES, (batch, slots, 5)))
    count = torch.from_numpy(rng.integers(1, slots + 1, batch))
    valid = torch.arange(slots) < count[:, None]
    known = torch.from_numpy(rng.random((batch, slots, 5)) < rng.random((batch, 1, 1)))
    known |= torch.from_numpy(rng.random((batch, slots, 1)) < 0.2)
    stage = torch.from_numpy(rng.integers(0, 5, (batch, slots)))
    turn = torch.from_numpy(rng.permuted(np.tile(np.arange(slots), (batch, 1)), axis=1))
    turn = torch.where(known.all(-1), turn - slots, turn)
    clean = torch.where(valid[..., None], clean, torch.tensor(SIZES))
    known = known & valid[..., None]
    begun = known | (stage[..., None] > ORDER)
    about = torch.from_numpy(rng.integers(0, 11, (batch, slots, 4)))
    position = torch.from_numpy(rng.integers(0, 6, (batch, slots)))
    made = Lesson(
        clean, torch.where(known, clean, MASK), torch.where(begun, clean, MASK), valid, turn,
        about, position,
    )  # fmt: skip
    return made, stage


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31))
@torch.no_grad()
def test_one_pass_says_what_each_single_state_says(seed: int) -> None:
    made, _ = lesson(seed)
    together = NETWORK.learn(made)
    for row in range(len(made.valid)):
        for slot in range(int(made.valid[row].sum())):
            turn = made.turn[row]
            tokens = torch.where((turn < turn[slot])[:, None], made.clean[row], made.listed[row])
            tokens[slot] = made.begun[row, slot]
            if not (tokens[slot] == MASK).any():
                continue  # all of it is known: nobody asks
            alone = NETWORK(
                Query(
                    tokens[None], None, made.valid[row][None], made.about[row][None],
                    made.position[row][None], torch.tensor([[slot]]), turn[None],
                )
            )  # fmt: skip
            for one, every in zip(alone.log_probs, together, strict=True):
                torch.testing.assert_close(one[0, 0], every[row, slot], atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_an_element_in_turn_does_not_know_what_comes_later() -> None:
    made, _ = lesson(5)
    before = NETWORK.learn(made)
    last = torch.where(made.valid, made.turn, -99).argmax(dim=1)
    other = made.clean.clone()
    rows = torch.arange(len(last))
    other[rows, last] = (other[rows, last] + 1) % torch.tensor(SIZES)
    for a, b in zip(before, NETWORK.learn(replace(made, clean=other)), strict=True):
        torch.testing.assert_close(a[made.valid], b[made.valid])


@torch.no_grad()
def test_asking_about_more_elements_changes_no_answer() -> None:
    made, _ = lesson(7, batch=2)
    common = (made.listed, None, made.valid, made.about, made.position)
    every = NETWORK(Query(*common, None, made.turn))
    some = NETWORK(Query(*common, torch.tensor([[3, 1], [0, 2]]), made.turn))
    for a, b in zip(every.log_probs, some.log_probs, strict=True):
        torch.testing.assert_close(a[[[0], [1]], [[3, 1], [0, 2]]], b)
    torch.testing.assert_close(every.number, some.number)


@pytest.mark.parametrize("slots", [3, 6])
@torch.no_grad()
def test_filling_slots_change_nothing(slots: int) -> None:
    made, _ = lesson(9, batch=1, slots=slots)
    fill = {
        name: torch.cat([getattr(made, name), torch.tensor(SIZES).expand(1, 2, 5)], dim=1)
        for name in ("clean", "listed", "begun")
    }
    more = torch.zeros(1, 2, dtype=torch.long)
    longer = Lesson(
        **fill, valid=torch.cat([made.valid, more.bool()], 1), turn=torch.cat([made.turn, more], 1),
        about=torch.cat([made.about, more[..., None].expand(-1, -1, 4)], 1),
        position=torch.cat([made.position, more], 1),
    )  # fmt: skip
    for a, b in zip(NETWORK.learn(made), NETWORK.learn(longer), strict=True):
        torch.testing.assert_close(a[made.valid], b[:, :slots][made.valid], atol=1e-5, rtol=1e-5)
