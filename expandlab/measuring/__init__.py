"""Measuring: interleaved timing beside the limits of the device, sweeps over grids, and what they found.

Named so, and not `measure`, because the public function has that name.
"""

from expandlab.measuring.grid import GRIDS, Cell, GridError
from expandlab.measuring.measurements import Contender, Measurements, MeasurementsError, PassTime, Spread
from expandlab.measuring.progress import Progress
from expandlab.measuring.protocol import measure
from expandlab.measuring.store import StoreError
from expandlab.measuring.sweep import Sweep, sweep
from expandlab.measuring.workloads import runnable

__all__ = [
    "GRIDS",
    "Cell",
    "Contender",
    "GridError",
    "Measurements",
    "MeasurementsError",
    "PassTime",
    "Progress",
    "Spread",
    "StoreError",
    "Sweep",
    "measure",
    "runnable",
    "sweep",
]
