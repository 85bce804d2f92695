"""What confines the processes of a plugin: bubblewrap or landlock, the places it was granted, and resource limits."""
