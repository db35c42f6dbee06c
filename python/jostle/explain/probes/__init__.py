"""The probes, one file each. A probe asks the server something and returns a finding with its evidence."""
