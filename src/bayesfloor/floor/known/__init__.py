"""Problems whose floor is known exactly: mixtures of known densities, and of Gaussians in particular.

`densities` integrates the posterior of one-dimensional mixtures; `gaussian` has closed forms and bounds. The
estimates of `floor` are tested against them.
"""
