"""The networks, behind one interface: a Query (tokens, level, what is known) to a Prediction."""

from layoutdm.train.networks.config import NetworkConfig
from layoutdm.train.networks.element import ElementNetwork
from layoutdm.train.networks.interface import Lesson, Network, Prediction, Query
from layoutdm.train.networks.paper import PaperNetwork

__all__ = [
    "ElementNetwork",
    "Lesson",
    "Network",
    "NetworkConfig",
    "PaperNetwork",
    "Prediction",
    "Query",
    "build",
]


def build(config: NetworkConfig) -> Network:
    """A freshly initialised network of the configured kind."""
    return ElementNetwork(config) if config.kind == "element" else PaperNetwork(config)
