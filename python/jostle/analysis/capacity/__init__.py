"""How much load a server can carry: levels of load, the SLO at each, and where it ceases to hold."""
