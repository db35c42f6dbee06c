"""A workload as the engine takes it: plain data, in files named as those of `crates/engine/src/spec`."""
