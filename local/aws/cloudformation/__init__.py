"""CloudFormation that makes what the template says, or says what it did not make."""
