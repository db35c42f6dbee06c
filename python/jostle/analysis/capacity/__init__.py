"""What a server carries: levels of load, the SLO at each, and where it stops to hold."""
