"""What the first message of a process would wait for, loaded before it comes."""

from typing import Final

from agents import sql
from agents.models import Agent
from agents.providers import embedding_builtin
from memory import detector

_HAS_VECTORS: Final = """
    SELECT EXISTS (SELECT FROM memory_memoryscope s
        JOIN memory_indexversion v ON v.id = s.version_id AND v.state = 'active'
        JOIN memory_embeddingspace e ON e.id = v.space_id
        WHERE s.vectors > 0 AND e.identity = %s)
"""


def warm() -> bool:
    """Load what noting and recalling need; return whether nothing is left to load.

    Rules are compiled for 0.2 s, and the built-in model takes longer to load than a turn waits
    for a query's vector. It takes 65 MB, so it is loaded once there is something to compare with:
    whoever made those vectors has it loaded already, or is another worker.
    """
    if not Agent.objects.filter(keeps_memory=True).exists():
        return False
    detector.scan("")
    # Arrays, which only those who search load.
    from memory.search import ranking

    assert ranking  # noqa: S101 — imported, and that is all
    if not Agent.objects.filter(keeps_memory=True, auto_recall=True).exists():
        return False
    ((has_vectors,),) = sql.fetch(_HAS_VECTORS, [embedding_builtin.IDENTITY])
    if has_vectors:
        embedding_builtin.warm()
    return bool(has_vectors)
