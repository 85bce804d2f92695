"""What confines the processes of a plugin: bubblewrap or landlock, the paths it was granted, resource limits."""
