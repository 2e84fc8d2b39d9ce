/** Tables of processes, sessions, their turns and records. */
export const sessionTables: readonly string[] = [
  `create table process (
    id uuid primary key,
    label text not null,
    started_at timestamptz not null default now(),
    lease_until timestamptz not null
  )`,
  // A writer holds a session while "fence" is its own. Free space in each page keeps updates out of the indexes.
  `create table session (
    id bigint generated always as identity primary key,
    key text not null unique,
    name text not null,
    fence bigint not null,
    owner uuid,
    claim uuid,
    claimed_at timestamptz,
    turns integer not null default 0,
    created_at bigint,
    updated_at bigint,
    first_input text,
    latest_turn text,
    latest_key text,
    latest_started bigint,
    has_ended boolean,
    bytes bigint not null default 0
  ) with (fillfactor = 80)`,
  'create index session_owner on session (owner) where owner is not null',
  'create index session_latest on session (latest_key) where latest_key is not null',
  'create index session_unfinished on session (latest_started) where not has_ended',
  `create table turn (
    session bigint not null,
    ordinal integer not null,
    key text not null,
    name text not null,
    started_at bigint not null,
    outcome text,
    primary key (session, ordinal)
  )`,
  'create index turn_key on turn (key)',
  `create table record (
    session bigint not null,
    turn integer not null,
    seq integer not null,
    body text not null,
    primary key (session, turn, seq)
  )`,
  // The session before the turn with this ordinal.
  `create table snapshot (
    session bigint primary key,
    turn integer not null,
    bytes bigint not null,
    body text not null
  )`,
];
