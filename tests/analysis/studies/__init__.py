"""Tests that make whole study folders from small inputs."""
