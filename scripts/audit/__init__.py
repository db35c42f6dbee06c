"""What jostle is made of, and whether anything is known against it. Needs no network: see __main__.py."""
