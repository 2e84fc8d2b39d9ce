/**
 * Tables of lanes, and the function by which a worker changes its requests and receives slots.
 *
 * States of a request: 0 waits, 1 holds a slot, 2 has lent it, 3 reclaims it. Priorities: 0 foreground, 1 normal,
 * 2 background. The row of the lanes is locked by each call, so that the number of slots is exact.
 */
export const laneTables: readonly string[] = [
  `create table lanes (
    name text primary key,
    concurrency integer not null,
    reserved integer not null,
    age_ms double precision
  )`,
  `create table lane_worker (
    id uuid primary key,
    lanes text not null,
    batch bigint not null,
    lease_until timestamptz not null
  )`,
  'create index lane_worker_lease on lane_worker (lanes, lease_until)',
  'create sequence lane_order',
  'create sequence lane_grant',
  `create table lane_request (
    worker uuid not null,
    ticket bigint not null,
    lanes text not null,
    session text not null,
    state smallint not null default 0,
    priority smallint not null,
    is_ahead boolean not null,
    arrival bigint not null,
    position bigint not null,
    entered_at timestamptz not null,
    fence bigint,
    granted bigint,
    groups text[] not null,
    limits integer[] not null,
    primary key (worker, ticket)
  ) with (fillfactor = 70)`,
  'create index lane_request_line on lane_request (lanes, priority, (state = 0), position) where state in (0, 3)',
  'create index lane_request_session on lane_request (lanes, session)',
  'create index lane_request_active on lane_request (lanes) where state = 1',
  `create function lane_sync(
    p_lanes text, p_channel text, p_worker uuid, p_is_new boolean, p_lease_ms double precision, p_concurrency integer,
    p_reserved integer, p_age_ms double precision, p_batch bigint, p_changes jsonb, p_seen bigint
  ) returns table (ticket bigint, fence bigint, granted bigint, is_lost boolean)
  language plpgsql set search_path from current as $body$
  #variable_conflict use_column
  declare
    v_lanes lanes%rowtype;
    v_worker lane_worker%rowtype;
    v_change jsonb;
    v_order bigint;
    v_held integer;
    v_held_others integer;
    v_next lane_request%rowtype;
    v_first lane_request%rowtype;
    v_group integer;
    v_is_full boolean;
    v_woken uuid[] := '{}';
  begin
    if p_is_new then
      insert into lanes as l (name, concurrency, reserved, age_ms) values (p_lanes, p_concurrency, p_reserved, p_age_ms)
      on conflict (name) do update
        set concurrency = excluded.concurrency, reserved = excluded.reserved, age_ms = excluded.age_ms;
    end if;
    select * into v_lanes from lanes l where l.name = p_lanes for update;

    if p_is_new then
      insert into lane_worker (id, lanes, batch, lease_until) values (p_worker, p_lanes, 0, clock_timestamp())
      on conflict do nothing;
    end if;
    select * into v_worker from lane_worker w where w.id = p_worker;
    if not found then
      return query select 0::bigint, 0::bigint, 0::bigint, true;
      return;
    end if;
    update lane_worker w set lease_until = clock_timestamp() + p_lease_ms * interval '1 ms',
      batch = greatest(w.batch, p_batch) where w.id = p_worker;

    with dead as (
      delete from lane_worker w where w.lanes = p_lanes and w.lease_until < clock_timestamp() and w.id <> p_worker
      returning w.id
    )
    delete from lane_request r using dead where r.worker = dead.id;

    -- A batch that was repeated after its answer was lost has been applied.
    if p_batch > v_worker.batch then
      for v_change in select * from jsonb_array_elements(p_changes) loop
        case v_change->>'type'
        when 'enter' then
          v_order := nextval('lane_order');
          insert into lane_request
            (worker, ticket, lanes, session, priority, is_ahead, arrival, position, entered_at, groups, limits)
          values (p_worker, (v_change->>'ticket')::bigint, p_lanes, v_change->>'session',
            (v_change->>'priority')::smallint, (v_change->>'isAhead')::boolean, v_order, v_order, clock_timestamp(),
            array(select jsonb_array_elements_text(v_change->'groups')),
            array(select jsonb_array_elements_text(v_change->'limits')::integer))
          on conflict do nothing;
        when 'end' then
          delete from lane_request r where r.worker = p_worker and r.ticket = (v_change->>'ticket')::bigint;
        when 'lend' then
          update lane_request r set state = 2
          where r.worker = p_worker and r.ticket = (v_change->>'ticket')::bigint and r.state in (1, 3);
        when 'reclaim' then
          update lane_request r
          set state = 3, priority = (v_change->>'priority')::smallint, position = nextval('lane_order')
          where r.worker = p_worker and r.ticket = (v_change->>'ticket')::bigint and r.state = 2;
        when 'decline' then
          update lane_request r set state = 0
          where r.worker = p_worker and r.ticket = (v_change->>'ticket')::bigint and r.state = 1;
        when 'reprioritize' then
          update lane_request r set priority = (v_change->>'priority')::smallint, position = case
            when r.state = 3 then r.position
            when (v_change->>'isRaised')::boolean then nextval('lane_order') else r.arrival end
          where r.worker = p_worker and r.ticket = (v_change->>'ticket')::bigint and r.state in (0, 3);
        else
          raise exception 'lane_sync() does not know the change %', v_change->>'type';
        end case;
      end loop;
    end if;

    if v_lanes.age_ms is not null then
      update lane_request r set priority = 1 where r.lanes = p_lanes and r.state = 0 and r.priority = 2
        and r.entered_at < clock_timestamp() - v_lanes.age_ms * interval '1 ms';
    end if;

    select count(*), count(*) filter (where r.priority > 0) into v_held, v_held_others
    from lane_request r where r.lanes = p_lanes and r.state = 1;
    if v_held < v_lanes.concurrency then
      for v_next in
        select * from lane_request r where r.lanes = p_lanes and r.state in (0, 3)
        order by r.priority, (r.state = 0), r.position
      loop
        exit when v_held >= v_lanes.concurrency;
        exit when v_next.priority > 0 and v_held_others >= v_lanes.concurrency - v_lanes.reserved;
        v_first := v_next;
        if v_next.state = 0 then
          -- A session that is held waits. Otherwise its first request is admitted, with the priority of this one.
          continue when exists (
            select 1 from lane_request r where r.lanes = p_lanes and r.session = v_next.session and r.state > 0
          );
          select * into v_first from lane_request r
          where r.lanes = p_lanes and r.session = v_next.session and r.state = 0
          order by r.is_ahead desc, case when r.is_ahead then -r.arrival else r.arrival end limit 1;
        end if;
        v_is_full := false;
        for v_group in 1 .. cardinality(v_first.groups) loop
          v_is_full := v_is_full or v_first.limits[v_group] <= (
            select count(*) from lane_request r
            where r.lanes = p_lanes and r.state = 1 and v_first.groups[v_group] = any (r.groups)
          );
        end loop;
        continue when v_is_full;
        update lane_request r set state = 1, priority = v_next.priority,
          fence = coalesce(r.fence, nextval('lane_grant')), granted = nextval('lane_grant')
        where r.worker = v_first.worker and r.ticket = v_first.ticket;
        v_held := v_held + 1;
        if v_next.priority > 0 then v_held_others := v_held_others + 1; end if;
        if v_first.worker <> p_worker and not v_first.worker = any (v_woken) then
          v_woken := v_woken || v_first.worker;
          perform pg_notify(p_channel, 'lanes:' || v_first.worker);
        end if;
      end loop;
    end if;

    return query select r.ticket, r.fence, r.granted, false from lane_request r
      where r.worker = p_worker and r.state = 1 and r.granted > p_seen order by r.granted;
  end
  $body$`,
];
