"""The sweep's backend on a device.

`device` chooses a device, sends the points there and multiplies blocks of distances out, in float32 and lowered by more
than their rounding. `backend` holds these against the bounds of the last tree, chunk by chunk for `sweep.driver`. What
passes goes back to the CPU, where the same kernel decides in float64, so that the result is the same edge by edge.
"""
