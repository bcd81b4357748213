"""Long calculations as jobs, and what is stored of them."""
