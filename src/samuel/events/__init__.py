"""What can happen: 24 events with typed payloads, and the rules by which answers become one result."""

from samuel.events.catalogue import BY_NAME, EVENTS, event_type
from samuel.events.event import Event, EventType, LoopEvent, Plugin
from samuel.events.lifecycle import InitAfter, InitBefore, SyncAfter, SyncBefore
from samuel.events.loop import (
    AfterAgentInvoke,
    AfterIteration,
    AfterLoop,
    AgentInvoke,
    BeforeAgentInvoke,
    BeforeIteration,
    BeforeLoop,
    ContextExtra,
    ContextProgress,
    ContextSnapshot,
    ContextTask,
    IterationGate,
    QualityCheck,
    Sandbox,
)
from samuel.events.names import canonical
from samuel.events.session import (
    PostAbilityCall,
    PreAbilityCall,
    SessionEnd,
    SessionStart,
    SessionStop,
    TurnEnd,
    UserPromptSubmit,
)

__all__ = [
    "BY_NAME",
    "EVENTS",
    "AfterAgentInvoke",
    "AfterIteration",
    "AfterLoop",
    "AgentInvoke",
    "BeforeAgentInvoke",
    "BeforeIteration",
    "BeforeLoop",
    "ContextExtra",
    "ContextProgress",
    "ContextSnapshot",
    "ContextTask",
    "Event",
    "EventType",
    "InitAfter",
    "InitBefore",
    "IterationGate",
    "LoopEvent",
    "Plugin",
    "PostAbilityCall",
    "PreAbilityCall",
    "QualityCheck",
    "Sandbox",
    "SessionEnd",
    "SessionStart",
    "SessionStop",
    "SyncAfter",
    "SyncBefore",
    "TurnEnd",
    "UserPromptSubmit",
    "canonical",
    "event_type",
]
