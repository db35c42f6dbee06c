"""The forms of a report: terminal, page, Markdown, notebook, data, JUnit, pictures; none decides anything."""
