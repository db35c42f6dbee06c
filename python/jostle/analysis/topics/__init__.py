"""Topics with an analysis of their own: starvation, phased load, goodput, threads, earlier runs, journeys."""
