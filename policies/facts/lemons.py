"""How much of a lemon a node is: a number from 0 to 100 out of four counts over 28 days.

Source: Kokolis et al., "Revisiting Reliability in Large-Scale Machine Learning Research Clusters" (arXiv 2410.21680,
section on lemon nodes). Of tens of signals these told lemons best over 28 days: different Xids of a node, repair
tickets, how often it was taken out of service, failures of multi-node and of single-node jobs that it caused, and the
rate of the latter; thresholds were set by hand on the distribution. How many jobs exclude a node told next to nothing,
so it does not count here either. Ours are the nearest to these that coordinate sees by itself.

The weights are ours. Of nodes that fail 6.5 times in 1,000 node-days (the larger cluster there), 0.18 times in 28
days, not one in a thousand fails three times by chance; so whoever is taken out three times, each time with a run
stopped or in spite of a repair, has more than `LIKELY`, and whoever failed twice has less.
"""

LIKELY = 60
_TAKEN_OUT, _STOPPED, _ANOTHER_FAULT, _CAME_BACK = 12, 8, 6, 14
_AT_MOST = 3  # more of one signal says nothing new
_OTHERS_AT_MOST = 2


def lemon_score(*, taken_out: int, stopped: int, faults: int, came_back: int) -> int:
    """Return the score.

    *taken_out*: incidents that took it out of service. *stopped*: incidents that stopped a run. *faults*: different
    faults (kind and Xid) among its incidents. *came_back*: incidents within a week after a repair.
    """
    return (
        _TAKEN_OUT * min(taken_out, _AT_MOST)
        + _STOPPED * min(stopped, _AT_MOST)
        + _ANOTHER_FAULT * min(max(faults - 1, 0), _OTHERS_AT_MOST)
        + _CAME_BACK * min(came_back, _OTHERS_AT_MOST)
    )
