"""kinetix: chemical reaction kinetics on JAX."""
