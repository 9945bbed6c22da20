"""What every room stands on: how kernels are compiled and where their machine code is kept."""
