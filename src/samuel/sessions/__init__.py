"""What a session has gathered: messages, hints for routing, and what hooks propose to do next."""
