"""Studies: whole folders from small inputs."""
