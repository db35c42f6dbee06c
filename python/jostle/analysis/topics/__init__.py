"""Questions of their own: starvation, phased load, goodput, threads, iterations."""
