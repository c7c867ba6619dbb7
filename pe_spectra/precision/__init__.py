"""What finite precision leaves of an encoding, stage by stage, as implementations compute it."""
