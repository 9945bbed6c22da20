"""The records that functions return, for annotations and ``isinstance``; each is loaded on first use.

Every result has ``frame()``, ``to_dict()`` and ``sentence()``, most have ``plot()``: `bayesfloor.runtime.results`.
"""

from bayesfloor.runtime.lazy_names import lazy_names

# the stub beside this file says where each name comes from, once for users and for type checkers
__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
