"""A team of many years, written by SQL: 100,000 conversations with a million entries."""

from typing import Final

from django.db import connections

from agents.models import Agent, Membership, User
from qanot_site.bench import report
from sessions import conversations
from sessions.models import ChannelAccount

SESSIONS: Final = 100_000
ENTRIES: Final = 1_000_000
PEOPLE: Final = 20_000
AGENTS: Final = 20
TURNS: Final = 2 * SESSIONS
# A person's words, two of the agent's, a tool's result, and the answer.
ENTRIES_A_TURN: Final = ENTRIES // TURNS

# Each row's number is its key; what another row is asked for follows from it. Two in a hundred
# rows are another team's.
_STATEMENTS: Final[tuple[tuple[str, str], ...]] = (
    (
        "agents",
        """INSERT INTO agents_agent (public_id, team_id, name, slug, description, language,
            time_zone, prompt_preset, max_iterations, managed_by, daily_cap_usd, created_at)
        SELECT gen_random_uuid(), %(team)s, 'Agent ' || n, 'bench-' || n, 'Answers', 'en', 'UTC',
            'default', 25, '', 5, now() FROM generate_series(1, %(agents)s) n""",
    ),
    (
        "people",
        """INSERT INTO agents_person (public_id, team_id, display_name, language, time_zone,
            created_at)
        SELECT gen_random_uuid(), %(team)s, 'Person ' || n, 'en', 'UTC', now()
        FROM generate_series(1, %(people)s) n""",
    ),
    (
        "identities",
        """INSERT INTO agents_identity (team_id, person_id, channel, external_id, created_at)
        SELECT team_id, id, 'telegram', id::text, now() FROM agents_person""",
    ),
    (
        "conversations",
        """INSERT INTO bot_sessions_chatsession (public_id, team_id, agent_id, account_id, kind,
            peer, thread, person_id, title, created_at, last_interaction_at)
        SELECT gen_random_uuid(), %(team)s, a.ids[1 + n %% array_length(a.ids, 1)], %(account)s,
            'direct', 'p' || n, '', p.ids[1 + n %% array_length(p.ids, 1)], 'Conversation ' || n,
            now(), now() - n * interval '1 minute'
        FROM generate_series(1, %(sessions)s) n,
            (SELECT array_agg(id) ids FROM agents_agent WHERE slug LIKE 'bench-%%') a,
            (SELECT array_agg(id) ids FROM agents_person) p""",
    ),
    (
        "generations",
        """INSERT INTO bot_sessions_generation (session_id, number, opened_at, input_tokens,
            cache_read_tokens, cache_write_tokens, output_tokens, context_tokens)
        SELECT id, 1, now(), 900, 0, 0, 80, 1000 FROM bot_sessions_chatsession""",
    ),
    (
        "turns",
        """INSERT INTO bot_sessions_turn (public_id, session_id, generation_id, state,
            viewer_person_id, is_private, attempt, orphaned, quarantine_attempts, accepted_at,
            claimed_at, committed_at, delivered_at)
        SELECT gen_random_uuid(), s.id, g.id, 'answered', s.person_id, true, 1, 0, 0,
            now() - n * interval '10 seconds', now(), now(), now()
        FROM generate_series(1, %(turns)s) n
        JOIN (SELECT *, row_number() OVER (ORDER BY id) place FROM bot_sessions_chatsession) s
            ON s.place = 1 + n %% %(sessions)s
        JOIN bot_sessions_generation g ON g.session_id = s.id""",
    ),
    (
        "texts",
        """INSERT INTO bot_sessions_content (team_id, text)
        SELECT %(team)s, 'What the northern shops ordered in week ' || n || ', and who told them: '
            || repeat(md5(n::text) || ' ', 8) FROM generate_series(1, %(entries)s) n""",
    ),
    (
        "messages",
        """INSERT INTO bot_sessions_inboundmessage (public_id, account_id, sender, external_id,
            body_digest, session_id, person_id, turn_id, content_id, status, received_at)
        SELECT gen_random_uuid(), %(account)s, 's', t.id::text, repeat('0', 64), t.session_id,
            t.viewer_person_id, t.id, c.least + t.place, 'answered', t.accepted_at
        FROM (SELECT *, row_number() OVER (ORDER BY id) place FROM bot_sessions_turn) t,
            (SELECT min(id) - 1 least FROM bot_sessions_content) c""",
    ),
    (
        "entries",
        """INSERT INTO bot_sessions_transcriptentry (generation_id, turn_id, role, content_id,
            is_partial, tool_call_id, tool_name, is_error, created_at)
        SELECT t.generation_id, t.id,
            (ARRAY['user', 'assistant', 'tool', 'assistant', 'assistant'])[k],
            c.least + (t.place - 1) * %(per_turn)s + k, false, '',
            CASE WHEN k = 3 THEN 'current_time' ELSE '' END, false, t.accepted_at
        FROM (SELECT *, row_number() OVER (ORDER BY id) place FROM bot_sessions_turn) t
        CROSS JOIN generate_series(1, %(per_turn)s) k,
            (SELECT min(id) - 1 least FROM bot_sessions_content) c""",
    ),
    (
        "steps",
        """INSERT INTO bot_sessions_turnstep (turn_id, number, kind, name, call_id, attempt,
            content_id, is_error, error, started_at, finished_at)
        SELECT t.id, k, (ARRAY['model', 'tool', 'model'])[k], 'claude', '', 1,
            c.least + t.place, false, '', t.accepted_at, t.accepted_at
        FROM (SELECT *, row_number() OVER (ORDER BY id) place FROM bot_sessions_turn) t
        CROSS JOIN generate_series(1, 3) k,
            (SELECT min(id) - 1 least FROM bot_sessions_content) c""",
    ),
    (
        "answers",
        """INSERT INTO bot_sessions_outgoing (public_id, kind, account_id, session_id, turn_id,
            peer, thread, reply_to, state, attempts, error, created_at, sent_at)
        SELECT gen_random_uuid(), 'answer', s.account_id, s.id, t.id, '', '', '', 'sent', 1, '',
            now(), now()
        FROM bot_sessions_turn t JOIN bot_sessions_chatsession s ON s.id = t.session_id""",
    ),
    (
        "usage",
        """INSERT INTO agents_usagerecord (public_id, origin, kind, team_id, agent_id, person_id,
            channel, job, provider, model, input_tokens, cache_read_tokens, cache_write_tokens,
            output_tokens, reasoning_tokens, is_estimate, was_broken, created_at, cost_usd)
        SELECT gen_random_uuid(), 'turn:' || t.id, 'chat', s.team_id, s.agent_id, s.person_id,
            'webchat', '', 'Anthropic', 'claude', 900, 0, 0, 80, 0, false, false, t.accepted_at,
            0.01
        FROM bot_sessions_turn t JOIN bot_sessions_chatsession s ON s.id = t.session_id""",
    ),
    (
        "facts",
        """INSERT INTO memory_walentry (team_id, scope, agent_id, person_id, category, text,
            is_durable, origin, source, thread, created_at)
        SELECT team_id, 'person', agent_id, person_id, 'remember', 'Remember week ' || id, true,
            'person', 'message:' || id, 'session:' || id || '/1', last_interaction_at
        FROM bot_sessions_chatsession""",
    ),
    (
        "memories",
        """INSERT INTO memory_memorydocument (team_id, scope, agent_id, person_id, name, text,
            version_number, updated_at)
        SELECT DISTINCT ON (agent_id, person_id) team_id, 'person', agent_id, person_id,
            'MEMORY.md', 'Short answers, please.', 1, last_interaction_at
        FROM bot_sessions_chatsession""",
    ),
    (
        "memories' versions",
        """INSERT INTO memory_memorydocumentversion (document_id, number, text, source, created_at)
        SELECT id, 1, text, 'message:1', updated_at FROM memory_memorydocument""",
    ),
    (
        "notes",
        """INSERT INTO memory_dailynote (team_id, scope, agent_id, person_id, day, occurred_at,
            time_zone, question, answer, source)
        SELECT s.team_id, 'person', s.agent_id, s.person_id, t.accepted_at::date, t.accepted_at,
            'UTC', 'What is new?', 'Nothing yet.', 'turn:' || t.id
        FROM bot_sessions_turn t JOIN bot_sessions_chatsession s ON s.id = t.session_id""",
    ),
    (
        "acts",
        """INSERT INTO agents_auditevent (team_id, actor, action, subject, reason, created_at)
        SELECT team_id, 'user:1', 'agent.changed', 'agent:' || agent_id, '', created_at
        FROM bot_sessions_chatsession""",
    ),
)


def load() -> User:
    """Fill the first team; return an owner of it, who is no superuser."""
    agent = Agent.objects.select_related("team").order_by("id")[0]
    account = conversations.channel_account(agent.team, ChannelAccount.Channel.WEBCHAT)
    values = {
        "team": agent.team_id,
        "account": account.pk,
        "agents": AGENTS,
        "people": PEOPLE,
        "sessions": SESSIONS,
        "turns": TURNS,
        "entries": ENTRIES,
        "per_turn": ENTRIES_A_TURN,
    }
    # The owner of the tables: an import is no business of the application's role.
    connection = connections["owner"]
    with report.bar("Writing rows", len(_STATEMENTS)) as count, connection.cursor() as cursor:
        for what, statement in _STATEMENTS:
            cursor.execute(statement, values)
            count(what)
        # As the server does by itself, a while after such an import.
        cursor.execute("VACUUM ANALYZE")
    owner = User.objects.create_user("bench-owner")
    Membership.objects.create(user=owner, team=agent.team, role=Membership.Role.OWNER)
    return owner
