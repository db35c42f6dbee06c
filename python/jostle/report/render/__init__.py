"""The output formats of a report: terminal, page, Markdown, notebook, data, JUnit and pictures. They do not
decide anything about its content.
"""
