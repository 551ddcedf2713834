"""The sizes that arrays are filled up to, so that one compiled program serves many problems."""

SIZES = (4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
"""Of species, reactions, parameters, experiments and times."""


def padded(size: int) -> int:
    """The smallest padded size that holds `size`; beyond the last, `size` itself, since compilation no longer matters there.

    >>> padded(3), padded(9), padded(1000)
    (4, 12, 1000)
    """
    return next((s for s in SIZES if s >= size), size)
