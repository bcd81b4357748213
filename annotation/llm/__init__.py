"""LLM judges: prompts (`core.llm_prompts`), the endpoint, the labelling of many pairs, and
storage of the answers."""
