"""Statistics on arrays and histograms; nothing here knows of runs."""
