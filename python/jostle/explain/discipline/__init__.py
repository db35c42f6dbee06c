"""How a server orders the requests that it has, inferred from bursts."""
