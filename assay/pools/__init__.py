"""Pools of documents to be judged: by depth, in an order, drawn at random; and topics to remove."""
