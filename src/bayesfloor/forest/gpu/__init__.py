"""Forests on a device, edge by edge those of the CPU.

`device` chooses a device. `rows` holds the points there, some of which are on it already: in float64, and rounded so
that products are exact. `engine` grows forests from near neighbours and a `sweep` over all pairs. The kernels are in
Triton (`triton_kernels`), or by torch alone where there is no Triton (`torch_kernels`); what they let pass is decided
in float64. Kruskal's walk, and the bounds, are the CPU's.
"""
