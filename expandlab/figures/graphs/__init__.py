"""Pictures of a frame graph's plan: levels and lanes, barriers, memory, and the simulated timeline."""
