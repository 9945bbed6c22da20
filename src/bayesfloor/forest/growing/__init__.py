"""Rows that keep arriving: forests that are extended instead of computed anew.

`forests` keeps the rows of `Forests` in an append-only buffer, and their tiles from one `extend` to the next. `batch`
joins new points to forests that are there: the blocks of distances between the new points and every part of the old
ones go through `sweep.driver` together. In few dimensions `linked` does so instead: each new point searches for its
edges, and the trees exchange a few links (`link_kernels`). `classes` extends each class that has new
rows, and looks, in each pair of classes, only at distances that are new.
"""
