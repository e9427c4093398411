"""Conversations with their messages and shared answers, and the jobs of the worker with their files."""

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE conversations (
            id text PRIMARY KEY, holder text NOT NULL, title text NOT NULL, draft text NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(), changed_at timestamptz NOT NULL DEFAULT now(),
            deleted_at timestamptz
        );
        CREATE INDEX conversations_holder ON conversations (holder, changed_at);
        CREATE TABLE messages (
            id bigserial PRIMARY KEY, conversation_id text NOT NULL REFERENCES conversations ON DELETE CASCADE,
            question text NOT NULL, reader text NOT NULL, state text NOT NULL, filters jsonb NOT NULL,
            turns jsonb NOT NULL, arrived jsonb NOT NULL, problem jsonb NOT NULL, answer jsonb, waits_for bigint,
            asked_at timestamptz NOT NULL DEFAULT now(), ended_at timestamptz
        );
        CREATE INDEX messages_conversation ON messages (conversation_id, id);
        CREATE TABLE shared_answers (
            token text PRIMARY KEY, message_id bigint NOT NULL REFERENCES messages ON DELETE CASCADE,
            shared_at timestamptz NOT NULL DEFAULT now(), CONSTRAINT shared_answers_message UNIQUE (message_id)
        );
        CREATE TABLE jobs (
            id bigserial PRIMARY KEY, kind text NOT NULL, title text NOT NULL, state text NOT NULL,
            worker text NOT NULL, message text NOT NULL, hint text NOT NULL, task jsonb NOT NULL, runs jsonb NOT NULL,
            cancelled boolean NOT NULL DEFAULT false, dismissed boolean NOT NULL DEFAULT false,
            created_at timestamptz NOT NULL DEFAULT now(), started_at timestamptz, beat_at timestamptz,
            finished_at timestamptz
        );
        CREATE INDEX jobs_state ON jobs (state, id);
        CREATE TABLE job_files (
            job_id bigint NOT NULL REFERENCES jobs ON DELETE CASCADE, place integer NOT NULL, name text NOT NULL,
            uri text NOT NULL, outcome text NOT NULL, message text NOT NULL, hint text NOT NULL,
            nodes integer NOT NULL, PRIMARY KEY (job_id, place)
        );
    """)


def downgrade() -> None:
    """Loses all conversations and their share links, and the jobs of uploads; uploaded files and documents stay."""
    op.execute("DROP TABLE job_files, jobs, shared_answers, messages, conversations")
