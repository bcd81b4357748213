"""Machine judges: what they are asked (`core.machine_prompts`), where (`chat_endpoint`), how often
(`asking`), and what they said (`answer_store`)."""
