"""What AWS Lambda does around our code: deadlines, error payloads, asynchronous retries, destinations."""
