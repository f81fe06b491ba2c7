"""What the embedded data set promises: size, shape and something for every model to find."""


def test_it_is_the_same_on_every_machine(demo):
    """If this changes, every number of the demo set does: see "Move a number" in CONTRIBUTING.md."""
    assert demo.sha256 == "0b5e63109d1577fd4a2a5e47680f5994177039050c5bc7f22263f6c92e410873"
