"""What every room uses; this room imports no other.

- `kernels`: functions that are compiled on their first call, and when a plain version runs instead; `kernel_compiler`
  is numba as kernels need it, `kernel_cache` the folder where machine code is kept
- `threads`: threads over kernels, with interrupts, and BLAS held to one thread
- `progress`: whom to tell how far the work is: a bar, also one for several parts
- `task_graph`: pure functions that need each other's results; `cluster` has the workers of a Dask cluster run them
- `hash_kernels`: hashes of rows, for arrays and for kernels
- `arrays`: types of arrays, as signatures name them
- `checks`: parameters that mean the same everywhere, checked by one function for each kind
- `limits`: how many threads and how much memory this machine and process may use
- `findings`: `Finding`, something noticed in the data that a reader of the result should know; ``finding_pages`` has a
  page of Markdown for each code
- `text`: names, values, counts and rates as text for people
- `frames`: data frames of the library that the caller uses
- `results`: `Result`, a record whose text, table, JSON and picture follow from its fields, and its view in a notebook
- `files`: atomic writes; `lazy_names`: public names that are loaded on first use
"""
