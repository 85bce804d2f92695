"""Sessions: the messages, the hints for routing and the follow-up actions that hooks returned."""
