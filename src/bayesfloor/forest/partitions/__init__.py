"""Rows that are too many for one process, or lie on a cluster, cut into partitions.

`dispatch` says which input goes where, and puts all of this together. The rows of an array, of a file (`files`) or of a
Dask collection, the last two in `chunks`, are ranked without being in memory all at once, and cut into partitions of
neighbouring points (`layout`). `graph` plans the `tasks`: grow the forests of every partition, join every two, and
merge what these keep, in a tree. Threads run it on partitions that were sorted to disk (`runtime.task_graph`), or Dask
workers (`runtime.cluster`).
"""
