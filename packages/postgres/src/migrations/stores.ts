/** Tables of inboxes, approvals, sub-agents, credential pools, budgets and live events. */
export const storeTables: readonly string[] = [
  // A process that is presumed dead loses its row, and with it what it has in the store.
  `create table holder (
    id uuid primary key,
    store text not null,
    process uuid not null
  )`,
  'create index holder_store on holder (store)',
  // A message is submitted (no owner), pending (an owner) or delivered (no body). Its id stays unique in all states.
  `create sequence inbox_order`,
  `create table inbox_message (
    number bigint primary key default nextval('inbox_order'),
    inbox text not null,
    session text not null,
    id text,
    tag text,
    owner uuid,
    body text,
    delivery text,
    -- The call that submitted it.
    submission uuid,
    unique (inbox, session, id)
  )`,
  'create unique index inbox_message_tag on inbox_message (tag) where tag is not null',
  'create index inbox_message_pending on inbox_message (inbox, owner, number) where delivery is null',
  'create index inbox_message_session on inbox_message (inbox, session, number) where delivery is null',
  'create index inbox_message_delivered on inbox_message (inbox, number) where delivery is not null',
  // Takes are serialized, so that the messages of a session go to one holder at a time, in order.
  `create function inbox_take(p_inbox text, p_holder uuid, p_process uuid, p_limit integer, p_known bigint[])
  returns table (number bigint, body text)
  language plpgsql set search_path from current as $body$
  #variable_conflict use_column
  begin
    perform pg_advisory_xact_lock(hashtextextended('inbox:' || p_inbox, 0));
    return query
    with own as (select id from holder where id = p_holder for share),
    living as (
      select h.id from holder h join process p on p.id = h.process where p.lease_until > clock_timestamp()
    ),
    next as (
      select m.number from inbox_message m
      where m.inbox = p_inbox and m.delivery is null and m.tag is null
        and (
          m.owner is null or m.owner not in (select id from living)
          -- Taken before by a call whose answer was lost.
          or (m.owner = p_holder and m.number <> all (p_known))
        )
        and not exists (
          select 1 from session s join process p on p.id = s.owner
          where s.key = m.session and s.owner <> p_process and p.lease_until > clock_timestamp()
        )
        -- The turn of a dead process is resumed before the next message is delivered.
        and not exists (
          select 1 from session s
          where s.key = m.session and not s.has_ended and s.owner is distinct from p_process
        )
        and not exists (
          select 1 from inbox_message o
          where o.inbox = p_inbox and o.session = m.session and o.number < m.number and o.delivery is null
            and o.owner <> p_holder and (o.tag is not null or o.owner in (select id from living))
        )
      order by m.number limit p_limit
    )
    update inbox_message m set owner = own.id from next, own where m.number = next.number
    returning m.number, m.body;
  end
  $body$`,
  `create table approval (
    number bigint generated always as identity primary key,
    store text not null,
    key text not null,
    body text not null,
    unique (store, key)
  )`,
  // Requests of turns for an approval. The first answer stays.
  `create table approval_request (
    id text primary key,
    turn text not null,
    body text not null,
    answer text,
    answered_by uuid,
    requested_at timestamptz not null default clock_timestamp()
  )`,
  'create index approval_request_pending on approval_request (requested_at) where answer is null',
  `create table child (
    store text not null,
    key text not null,
    owner uuid not null,
    root text not null,
    spawned_at double precision not null,
    body text not null,
    primary key (store, key)
  )`,
  `create table pool (
    name text primary key,
    version bigint not null,
    body text not null,
    -- The latest calls that wrote it.
    writers uuid[] not null
  )`,
  `create table budget (
    name text primary key,
    limits jsonb not null,
    used jsonb not null default '{}',
    reserved jsonb not null default '{}',
    cut_off text
  )`,
  `create table reservation (
    id uuid primary key,
    budget text not null,
    owner uuid not null,
    amounts jsonb not null
  )`,
  'create index reservation_budget on reservation (budget)',
  `create function add_amounts(p_left jsonb, p_right jsonb, p_sign integer) returns jsonb
  language sql immutable as $body$
    select coalesce(jsonb_object_agg(name, greatest(0, coalesce((p_left->>name)::numeric, 0)
      + p_sign * coalesce((p_right->>name)::numeric, 0))), '{}')
    from (select jsonb_object_keys(p_left) as name union select jsonb_object_keys(p_right)) names
  $body$`,
  // Reservations of dead processes count as used: their calls may have been billed.
  `create function budget_reserve(p_name text, p_limits jsonb, p_id uuid, p_owner uuid, p_amounts jsonb)
  returns table (is_granted boolean, exceeded text, cut_off text)
  language plpgsql set search_path from current as $body$
  #variable_conflict use_column
  declare
    v_budget budget%rowtype;
    v_dead jsonb := '{}';
    v_count integer := 0;
    v_each reservation%rowtype;
    v_exceeded text;
  begin
    insert into budget (name, limits) values (p_name, p_limits) on conflict do nothing;
    select * into v_budget from budget b where b.name = p_name for update;
    if exists (select 1 from reservation r where r.id = p_id) then
      return query select true, null::text, v_budget.cut_off;
      return;
    end if;
    for v_each in
      delete from reservation r where r.budget = p_name and not exists (
        select 1 from process p where p.id = r.owner and p.lease_until > clock_timestamp()
      ) returning r.*
    loop
      v_dead := add_amounts(v_dead, v_each.amounts, 1);
      v_count := v_count + 1;
    end loop;
    if v_count > 0 then
      v_budget.used := add_amounts(v_budget.used, v_dead, 1);
      v_budget.reserved := add_amounts(v_budget.reserved, v_dead, -1);
    end if;
    select l.key into v_exceeded from jsonb_each_text(p_limits) l
    where coalesce((v_budget.used->>l.key)::numeric, 0) + coalesce((v_budget.reserved->>l.key)::numeric, 0)
      + coalesce((p_amounts->>l.key)::numeric, 0) > l.value::numeric
    order by l.key limit 1;
    if v_exceeded is null and v_budget.cut_off is null then
      insert into reservation (id, budget, owner, amounts) values (p_id, p_name, p_owner, p_amounts);
      v_budget.reserved := add_amounts(v_budget.reserved, p_amounts, 1);
    end if;
    update budget b set limits = p_limits, used = v_budget.used, reserved = v_budget.reserved where b.name = p_name;
    return query select v_exceeded is null and v_budget.cut_off is null, v_exceeded, v_budget.cut_off;
  end
  $body$`,
  `create function budget_settle(p_name text, p_id uuid, p_used jsonb) returns void
  language plpgsql set search_path from current as $body$
  declare
    v_amounts jsonb;
  begin
    perform 1 from budget b where b.name = p_name for update;
    delete from reservation r where r.id = p_id returning r.amounts into v_amounts;
    -- One that is gone was settled before, or counted as used when its process was presumed dead.
    if v_amounts is not null then
      update budget b set used = add_amounts(b.used, p_used, 1), reserved = add_amounts(b.reserved, v_amounts, -1)
      where b.name = p_name;
    end if;
  end
  $body$`,
  `create table stream (
    id bigint generated always as identity primary key,
    key text not null unique,
    name text not null,
    last_seq bigint not null default 0,
    fence bigint not null,
    writer uuid not null,
    status text not null default 'open',
    ended_at timestamptz
  )`,
  `create index stream_open on stream (id) where status = 'open'`,
  `create table stream_event (
    stream bigint not null,
    seq bigint not null,
    is_delta boolean not null,
    body text not null,
    primary key (stream, seq)
  )`,
];
