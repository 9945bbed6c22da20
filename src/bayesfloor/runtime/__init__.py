"""What every room stands on; this room knows no other.

- `kernels`: how kernels are compiled, and where their machine code is kept
- `threads`: threads over kernels, with progress, interrupts, and BLAS held to one thread
- `hashing`: hashes of rows, by one mixing function
- `checks`: parameters that mean the same everywhere, checked by one function for each kind
- `limits`: how many threads and how much memory this machine and process may use
- `findings`: `Finding`, something noticed in the data that a reader of the result should know
- `text`: names, values, counts and rates as they are shown to people
- `frames`: tables as data frames of whichever library is installed
- `files`: files that appear whole or not at all
"""
