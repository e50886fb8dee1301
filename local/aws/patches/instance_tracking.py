"""Objects may be forgotten.

moto keeps every model object it ever makes (each record, message, item and image) in a list of its class, to reset
them between unit tests. A run of hours would keep every message that was ever sent.
"""

from typing import Any

from moto.core.common_models import BaseModel

from local.aws.patches.replacing import replace


def apply() -> None:
    def new(cls: Any, *_args: Any, **_kwargs: Any) -> Any:
        return super(BaseModel, cls).__new__(cls)

    replace(BaseModel, "__new__", staticmethod(new))
