"""Libraries that cannot be installed beside recgauge: uv runs a script for each in an environment of its own.

A script of `workers` names the packages that it needs, and pins the versions of all that come along. uv
installs them in its cache when the script first runs, and anew when the script names others.
"""
