"""LLM judges: prompts (`core.machine_prompts`), the endpoint, the labelling of many pairs, and
storage of the answers."""
