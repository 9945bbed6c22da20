"""Tests of the scripts: `make test-bench`."""
