"""Forests of mutual reachability distances: an edge weighs its length, and no less than either end's core distance.

`grow` finds each point's core distance, the distance to its k-th nearest other point, exactly: lists of near points in
the tiles of `sweep`, and a sweep for every pair that may be nearer (`reach_kernels`). Points that have core distances
are then grown by `sweep.grow`, as any others. Distances are lower bounds of mutual reachability distances, so that all
of `sweep` skips what it may skip; only the decision in float64 knows of core distances.
"""
