"""The embedded AWS: a moto server on loopback, corrected and completed until our template runs on it for real."""
