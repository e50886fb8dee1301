"""What holds for every test: no account can be reached, and a slow machine is no failure."""

import os

from hypothesis import settings

# Before any test module makes a client: a developer's own profile must never be what a test talks to.
for _name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[_name]
os.environ.update(
    AWS_ACCESS_KEY_ID="testing",
    AWS_SECRET_ACCESS_KEY="testing",
    AWS_DEFAULT_REGION="us-east-1",
    AWS_CONFIG_FILE=os.devnull,
    AWS_SHARED_CREDENTIALS_FILE=os.devnull,
    AWS_EC2_METADATA_DISABLED="true",
)

# Two busy cores make single examples slow; what must be fast has a benchmark.
settings.register_profile("relight", deadline=None)
settings.load_profile("relight")
