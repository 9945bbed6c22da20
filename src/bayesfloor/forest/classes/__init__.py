"""The forests of every pair of classes, and the whole set from the pairs.

`class_forests` grows each class once (`sweep.grow`). `joining` adds to every pair of classes the block of distances
between them, and records its edges and sums: small pairs many at a time and moderate ones one by one, each in one
compiled call (`pair_kernels`), large ones by `sweep.driver`. Since forests compose, what the pairs keep, walked once
more in the strict order, is the forest of the whole set.
"""
