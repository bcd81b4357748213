"""Figures that the methods for sampled and ordered pools, machine labels and late runs were asked
to reach, measured."""
