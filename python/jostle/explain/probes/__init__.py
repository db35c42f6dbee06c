"""The probes: one file each, a function that asks the server something and returns a finding with its
evidence.
"""
