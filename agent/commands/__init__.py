"""What the pipeline may ask of this node: fetched over the agent's own outbound connection, from a closed list."""
