"""Every table and figure, by the name that the command takes, what matters most first."""

from __future__ import annotations

from types import ModuleType

from layoutdm.errors import LayoutdmError
from layoutdm.paper import (
    alignment_figure,
    anchor,
    density_figure,
    parameters,
    posterior_table,
    priors,
    samples_figure,
    sanity,
    state_space,
    table1,
    table2,
    table3,
    table4,
    time_figure,
    violation_figure,
)

ITEMS: dict[str, ModuleType] = {
    item.NAME: item
    for item in (
        table2, table1, table3, sanity, table4, parameters, violation_figure, density_figure,
        alignment_figure, priors, samples_figure, posterior_table, time_figure, state_space, anchor,
    )
}  # fmt: skip


# Drawing takes a while, so these wait for the end; tables are written again for every system.
FIGURES = ("violation", "time", "density", "alignment", "samples", "posterior")


def chosen(names: list[str]) -> list[ModuleType]:
    """The items of these names; `all` are all of them."""
    if "all" in names:
        return list(ITEMS.values())
    for name in names:
        if name not in ITEMS:
            raise LayoutdmError(
                f"{name!r} is no table or figure of the paper; choose all or some of: "
                f"{', '.join(ITEMS)}"
            )
    return [ITEMS[name] for name in names]
