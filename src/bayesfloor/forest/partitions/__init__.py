"""Rows that are too many for one process, or lie on a cluster, cut into partitions.

`dispatch` says which input goes where. The rows of an array, of a file (`files`, read in `chunks`) or of a Dask
collection (`cluster_rows`) are ranked without being in memory all at once, and cut into partitions of neighbouring
points (`layout`). `graph` plans the `tasks`: grow the forests of every partition, join every two, and merge what these
keep, in a tree. `planning` puts all of that together. Threads run it on partitions that `out_of_core` sorted to
disk (`runtime.task_graph`), or Dask workers (`runtime.cluster`).
"""
