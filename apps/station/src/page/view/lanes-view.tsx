import { useStore } from '../client/store.js';
import { duration, plural, shortId } from '../state/format.js';
import { hrefOf } from '../state/route.js';
import { useApp, useNow } from './context.js';
import { Busy, Empty, State } from './elements.js';

/** Slots that are drawn; the others are a number. */
const maxSlots = 32;

/** The lanes: which sessions hold a slot, and which wait, for what and since when. */
export const LanesView = () => {
  const { station } = useApp();
  const now = useNow();
  const lanes = useStore(station.store, (state) => state.lanes);
  const sessions = useStore(station.store, (state) => state.sessions);
  if (lanes === null) return <Busy text="Loading the lanes" />;
  const title = (id: string): string => sessions.get(id)?.title ?? shortId(id);
  const free = Math.max(0, lanes.capacity - lanes.running.length);
  const drawn = Math.min(free, Math.max(0, maxSlots - lanes.running.length));
  return (
    <div class="page">
      <h1>Lanes</h1>
      <p class="lead">
        {lanes.running.length} of {plural(lanes.capacity, 'slot')} in use, {plural(lanes.waiting.length, 'turn')}{' '}
        waiting.
      </p>
      <ul class="slots" aria-label="Slots">
        {lanes.running.map((slot) => (
          <li key={`${slot.session} ${slot.turn}`} class="slot">
            <a href={hrefOf({ view: 'session', id: slot.session, tab: 'conversation' })}>
              <bdi>{title(slot.session)}</bdi>
            </a>
            <span class="slot-facts">
              <State state={sessions.get(slot.session)?.state ?? 'running'} isLabelled />
              <span>{duration(Math.max(0, now - slot.since))}</span>
              {slot.worker !== null && <span class="mono">{slot.worker}</span>}
            </span>
          </li>
        ))}
        {Array.from({ length: drawn }, (_, index) => (
          <li key={`free ${index}`} class="slot free">
            free
          </li>
        ))}
        {free > drawn && <li class="slot free">and {free - drawn} more</li>}
      </ul>
      <h2 class="section">Waiting</h2>
      {lanes.waiting.length === 0 ? (
        <Empty title="No turns are waiting" />
      ) : (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Waiting turns">
          <table class="figures">
            <thead>
              <tr>
                <th>#</th>
                <th>Session</th>
                <th>Waits for</th>
                <th>Priority</th>
                <th data-align="right">Since</th>
              </tr>
            </thead>
            <tbody>
              {lanes.waiting.map((turn, index) => {
                const holder = lanes.running.find(({ session }) => session === turn.session);
                return (
                  <tr key={index}>
                    <td>{turn.position}</td>
                    <td>
                      <a href={hrefOf({ view: 'session', id: turn.session, tab: 'conversation' })}>
                        <bdi>{title(turn.session)}</bdi>
                      </a>
                    </td>
                    <td>
                      {turn.waitsFor === 'slot'
                        ? 'a free slot'
                        : `its earlier turn${holder ? `, running for ${duration(Math.max(0, now - holder.since))}` : ''}`}
                    </td>
                    <td>{turn.priority}</td>
                    <td data-align="right">{duration(Math.max(0, now - turn.since))}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
};
