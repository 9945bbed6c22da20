"""Warnings of their own class, so that they can be made errors or left out: `warnings.filterwarnings`."""


class TrustWarning(UserWarning):
    """Figures are too good for rows to come: `honest` of the result has those that hold."""
