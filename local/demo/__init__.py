"""The demo: a GPU falls off the bus on the embedded AWS, and the run goes on. Its parts serve integration tests too."""
