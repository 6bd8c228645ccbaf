"""The version of the package: that of versions.yaml."""

__version__ = "0.1.0"
