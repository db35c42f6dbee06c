"""The page of `jostle web`: watch a run while it goes on, and open those that are over.

A process of its own, which reads what runs record and writes nothing: it needs the extra `web`.

    serve(app(runs, access), listener)
"""
