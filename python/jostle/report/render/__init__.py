"""The forms of a report: terminal, page, notebook, files."""
