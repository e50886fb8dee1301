"""A wrapper around a port that loses answers: the effect happens, then the call fails as a broken connection does."""

from typing import Any

from policies.contract.errors import DependencyError


class LosesAnswers:
    """Forwards to *inner*; the first call of each method in *methods* takes effect and raises."""

    def __init__(self, inner: object, *methods: str) -> None:
        self._inner = inner
        self._methods = set(methods)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - stands for any port
        found = getattr(self._inner, name)
        if name not in self._methods:
            return found

        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as above
            self._methods.discard(name)
            found(*args, **kwargs)
            raise DependencyError(f"the answer of {name} was lost.")

        return call
