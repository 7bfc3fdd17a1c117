"""Pictures of maps and timings: matplotlib's object-oriented interface, and the only package that imports it."""
