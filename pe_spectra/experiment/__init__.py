"""Does an encoding matter to a network that learns: one small transformer, trained with one encoding after another.

`design` holds what is fixed before arms are compared and lists the trials; `arms` makes of a SPEC what is added to
tokens or enters attention; `tasks` draws windows with a planted answer; `network`, `training` and `trial` train one
network and judge it. JAX and Optax are needed (`pip install 'pe-spectra[experiment]'`), and imported by this room
alone, inside the functions that use them.
"""
