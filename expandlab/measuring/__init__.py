"""Measuring: interleaved timing beside the limits of the device, sweeps over grids, and what they found.

Named so, and not `measure`, because the public function has that name.
"""

from expandlab.measuring.measurements import Contender, Measurements, MeasurementsError, PassTime, Spread
from expandlab.measuring.progress import Progress
from expandlab.measuring.protocol import measure
from expandlab.measuring.workloads import runnable

__all__ = ["Contender", "Measurements", "MeasurementsError", "PassTime", "Progress", "Spread", "measure", "runnable"]
