"""More than one process: a pool on this machine, or Ray over many machines."""
