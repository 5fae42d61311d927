"""Read the fleet of a project from its store: workers, queue, schedules and shared limits."""

from toolmd._types.call_spec import Rate
from toolmd._types.fleet import Fleet, LimitUse, Queue, ScheduledSkill
from toolmd._types.registry import BoundTool
from toolmd._workspace.opened import OpenProject
from toolmd._workspace.runs.service import RunService


def read_fleet(project: OpenProject, service: RunService) -> Fleet:
    """Return the fleet; it blocks.

    Args:
        project: The open project.
        service: Its runs.

    Raises:
        UnreachableError: The store can't be used.
    """
    engines = service.engines
    limits = _limits(project)
    if not engines.keep:
        return Fleet((), Queue(0), dict(engines.unfinished()), (), limits)
    workers, queue = engines.durable().fleet()
    return Fleet(workers, queue, dict(engines.unfinished()), _schedules(service), limits)


def _schedules(service: RunService) -> tuple[ScheduledSkill, ...]:
    from toolmd._types.schedule import next_tick

    now, store = service.clock(), service.engines.durable().store
    found = []
    for spec in service.scheduled():
        schedule = spec.schedule or ""
        tick = store.last_tick(spec.name, schedule)
        last = None if tick is None else tick.isoformat()
        found.append(
            ScheduledSkill(spec.name, schedule, last, next_tick(schedule, now).isoformat())
        )
    return tuple(found)


def _limits(project: OpenProject) -> tuple[LimitUse, ...]:
    limited = [tool for tool in project.live.registry.tools.values() if _shares(tool)]
    # A project without such limits opens no store for them.
    use = project.store.limits.use() if limited else {}
    return tuple(_use(tool, use.get(tool.name, (None, 0, 0))) for tool in limited)


def _shares(tool: BoundTool) -> bool:
    limits = tool.spec.limits
    return bool(limits.rate or limits.max_concurrent or limits.max_calls)


def _use(tool: BoundTool, use: tuple[float | None, int, int]) -> LimitUse:
    limits, (last, running, most) = tool.spec.limits, use
    rate = None if limits.rate is None else _rate(limits.rate)
    return LimitUse(tool.name, rate, last, limits.max_concurrent, running, limits.max_calls, most)


def _rate(rate: Rate) -> str:
    return f"{rate.calls} in {rate.per_s:g} s"
