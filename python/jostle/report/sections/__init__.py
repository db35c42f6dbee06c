"""The sections of a report, one file each: what stands in them, whatever the form."""
