"""Questions of their own: starvation, phased load, goodput, threads, earlier runs, journeys."""
