"""What a training process tells Relight's agent on its node, and what it hears from it.

    from relight_training import beat, resume_point, save_requested, saved

Nothing here raises into training, waits, or needs more than Python's own library. Callbacks for frameworks lie in
`relight_training.lightning` and `relight_training.hf`, a save of several ranks in `relight_training.agree`.
"""

from relight_training.beats import beat, finish, save_requested, start
from relight_training.point import ResumePoint
from relight_training.resume import resume_point, saved
from relight_training.version import VERSION

__version__ = VERSION

__all__ = ["ResumePoint", "__version__", "beat", "finish", "resume_point", "save_requested", "saved", "start"]
