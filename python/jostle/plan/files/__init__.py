"""Files as people have them: TOML, CSV, lines of JSON."""
