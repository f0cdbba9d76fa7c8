"""Other estimates of a controller's return, on the same logs as hambo's; see ../peers.py."""
