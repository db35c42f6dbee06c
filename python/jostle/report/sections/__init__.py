"""The sections of a report, one file each: their content, independently of the output format."""
