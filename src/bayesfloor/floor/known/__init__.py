"""Problems whose floor is known exactly: mixtures of known densities, and of Gaussians in particular.

`densities` integrates the posterior of one-dimensional mixtures; `gaussian` has closed forms and bounds. Everything
else in this room's parent is tested against them.
"""
