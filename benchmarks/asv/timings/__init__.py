"""Ten timings of the package, for its history from commit to commit: `make bench-history`.

They are small, and are to show that something became slow. How fast it is beside others, the scripts one folder up
measure. All work is done once before it is timed, so that no kernel is compiled within a timing, except in `ColdStart`.
"""
