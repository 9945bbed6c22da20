"""Forests of mutual reachability distances: an edge weighs its length, and no less than either end's core distance.

`core` finds each point's core distance, the distance to its k-th nearest other point, exactly: lists of near points in
the tiles of `sweep`, and a sweep for every pair that may be nearer. `grow` starts from these lists and sweeps once
more, for forests this time. Distances are lower bounds of mutual reachability distances, so that all of `sweep` skips
what it may skip; only the decision in float64 knows of core distances (`reach_kernels`).
"""
