"""LLM judges: client of the endpoint, labelling of many pairs, and storage of the answers. Prompts
are in `annotation.core.llm_prompts`."""
