"""The command line: words become settings here, and OmegaConf ends here."""
