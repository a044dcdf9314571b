"""The diffusion algebra: schedule, forward process, exact posterior of any jump."""

from layoutdm.diffusion.process import corrupt, jump, jump_masses, posterior
from layoutdm.diffusion.schedule import Mass, Schedule

__all__ = ["Mass", "Schedule", "corrupt", "jump", "jump_masses", "posterior"]
