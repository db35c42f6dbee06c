"""The requests of a mix and of journeys, each by itself, and how many of them are of use."""
