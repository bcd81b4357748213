"""What leaves a campaign and comes back: single files (exports), recipes, and the releases built
from them."""
