"""Run every benchmark of the course. See `make bench`."""

from benchmarks import attention_length, widget_latency

attention_length.main()
print()
widget_latency.main()
