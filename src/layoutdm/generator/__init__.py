"""The interface that every system shares: conditions in, drawn layouts out.

LayoutDM, an autoregressive transformer, a GAN or a VAE are each one `Generator`. A generator knows
its system and its tokens, never files or users; `Model` knows requests and layouts, never tokens.
"""

from layoutdm.generator.protocol import Drawn, Frame, Generator, Options, check_drawn, empty

__all__ = ["Drawn", "Frame", "Generator", "Options", "check_drawn", "empty"]
