"""Points become exact forests: tiles, a seed, bounds, and one sweep over blocks of distances.

`tiling` cuts points into the tiles of a k-d tree (`kdtree_kernels`) and keeps their float32 coordinates (`records`).
`grow` starts from near neighbours and a sample's trees (`seed_kernels`). `driver` then holds blocks of distances
against the last tree so far: `bound_kernels` says how far every point must look, `tile_kernels`, over
`distance_kernels`, propose edges in float32 and decide them in float64, and Kruskal's walk settles the forests. A whole
set, a pair of classes and a partition are all swept by this driver; `gpu` has a sweep of its own.

Sets of rows with up to four features have `boruvka` in place of the sweep: rounds (`boruvka_kernels`) over lists of
near rows and searches (`search_kernels`) in a k-d tree of the rows themselves (`cloud_kernels`).
"""
