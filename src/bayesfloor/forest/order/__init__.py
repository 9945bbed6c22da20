"""The strict order of edges, and all that follows from it alone.

`points` hashes rows by value, ranks them and gathers identical rows into sites (`hash_kernels`). The hashes break ties
between edges of equal length, so that forests do not depend on the order of rows. `kruskal_kernels` sorts edges in the
strict order and walks them into k forests; `edges` is its face for Python: `settle` takes forests and new edges, and
returns forests. `bottleneck_kernels` writes a tree as a line, in which the heaviest edge between two points is a range
maximum. `label_kernels` sums over the edges of forests what counts of cross edges and their variance need. `arrays` has
the types.
"""
