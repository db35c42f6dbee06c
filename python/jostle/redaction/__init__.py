"""Keeping secrets out of records, pages, messages and printed commands: one rule for all of them.

What counts as a secret is decided by the *name* of a value (`names`): a header, a parameter, an option, a key
of a query, a form or a JSON document. `texts` finds such values inside texts, `sent` in what requests send,
`commands` in the words of a command line, `data` in whole plans and records. docs/PLAN.md tells users the
same.
"""
