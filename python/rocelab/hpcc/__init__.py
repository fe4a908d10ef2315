"""The HPCC ns-3 simulator: its experiments, its results, and how far runs agree with it."""
