import { parseTranscript, transcriptFormats } from '@h/transcripts';
import { textOf } from '@h/turn';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventually, testStation, type TestStation } from '../../test/station.js';
import { artifactId } from '../service/session-id.js';
import type { SessionBody } from '../service/records.js';
import * as contract from './contract.js';

const create = async (given: TestStation, text: string): Promise<string> => {
  const body = { agent: 'helper', message: { text } };
  const created = await given.call('POST', '/api/v1/sessions', { body, schema: contract.session });
  return created.body.id;
};
const ended = (given: TestStation, id: string, turns: number): Promise<SessionBody> =>
  eventually(given, async () => {
    const found = (await given.backend.records.get('session', id))?.body;
    return found && found.turns >= turns && found.turn === null && found.outcome !== null ? found : undefined;
  });

it('returns the transcript of a session in every format', async () => {
  const given = await testStation();
  const id = await create(given, 'echo hello there');
  await ended(given, id, 1);
  for (const format of transcriptFormats) {
    const path = `/api/v1/sessions/${id}/transcript?format=${format}`;
    const { status, response } = await given.call('GET', path);
    const text = await response.text();
    expect([format, status]).toEqual([format, 200]);
    const said = parseTranscript(text, { format }).turns.flatMap(({ messages }) => messages.map(textOf));
    expect([format, said]).toEqual([format, ['echo hello there', 'echo hello there']]);
  }
  const unknown = await given.call('GET', `/api/v1/sessions/${id}/transcript?format=other`);
  expect(unknown).toMatchObject({ status: 422, body: { code: 'invalid-request', field: 'format' } });
});

it('lists the sessions whose title, agent and state match, page by page', async () => {
  const given = await testStation();
  const titles = ['Fix the parser', 'Fix the printer', 'Release the parser', 'Write the notes'];
  for (const title of titles) {
    const body = { agent: 'helper', title };
    await given.call('POST', '/api/v1/sessions', { body, schema: contract.session });
  }
  const found = async (query: string, limit = 50): Promise<readonly string[]> => {
    const names: string[] = [];
    for (let cursor = ''; ;) {
      const path = `/api/v1/sessions?${query}&limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
      const { body } = await given.call('GET', path, { schema: contract.sessionPage });
      expect(body.sessions.length).toBeLessThanOrEqual(limit);
      names.push(...body.sessions.map(({ title }) => title));
      if (body.next === null) return names.toSorted();
      cursor = body.next;
    }
  };
  expect(await found('')).toEqual(titles);
  expect(await found('', 1)).toEqual(titles);
  expect(await found('query=parser%20FIX')).toEqual(['Fix the parser']);
  expect(await found('query=helper%20the', 3)).toEqual(titles);
  expect(await found('agent=other')).toEqual([]);
  expect(await found('state=running')).toEqual([]);
});

it('forks a session at a turn, and deletes one without the other', async () => {
  const given = await testStation();
  const id = await create(given, 'echo one');
  const first = await ended(given, id, 1);
  await given.call('POST', `/api/v1/sessions/${id}/messages`, { body: { text: 'echo two' } });
  await ended(given, id, 2);
  const saidIn = async (session: string): Promise<readonly string[]> => {
    const { response } = await given.call('GET', `/api/v1/sessions/${session}/transcript`);
    const { turns } = parseTranscript(await response.text(), { format: 'openai-chat' });
    return turns.flatMap(({ messages }) => messages.filter(({ role }) => role === 'user').map(textOf));
  };
  const fork = { body: { turn: first.lastEnded, title: 'A fork' }, schema: contract.session };
  const { body: copy } = await given.call('POST', `/api/v1/sessions/${id}/fork`, fork);
  expect(copy).toMatchObject({ title: 'A fork', forkedFrom: { session: id, turn: first.lastEnded } });
  expect([await saidIn(id), await saidIn(copy.id)]).toEqual([['echo one', 'echo two'], ['echo one']]);
  await given.call('POST', `/api/v1/sessions/${copy.id}/messages`, { body: { text: 'echo three' } });
  await ended(given, copy.id, 1);
  expect(await saidIn(copy.id)).toEqual(['echo one', 'echo three']);
  expect((await given.call('DELETE', `/api/v1/sessions/${id}`)).status).toBe(204);
  expect((await given.call('GET', `/api/v1/sessions/${id}`)).status).toBe(404);
  expect(await saidIn(copy.id)).toEqual(['echo one', 'echo three']);
});

it('returns the bytes of an artifact that a range names', async () => {
  const given = await testStation();
  const session = await create(given, 'echo hello');
  const content = Buffer.from(Array.from({ length: 300 }, (_, index) => index % 256));
  const stored = await given.backend.artifacts.put({ session, content, mediaType: 'image/png' });
  const path = `/api/v1/artifacts/${encodeURIComponent(artifactId(session, stored.id))}`;
  const read = async (range?: string) => {
    const { status, response } = await given.call('GET', path, { headers: range === undefined ? {} : { range } });
    return { status, bytes: Buffer.from(await response.arrayBuffer()), range: response.headers.get('content-range') };
  };
  expect(await read()).toMatchObject({ status: 200, bytes: content });
  const position = fc.nat({ max: 299 });
  await fc.assert(
    fc.asyncProperty(position, position, fc.constantFrom('from', 'last', 'both'), async (one, other, form) => {
      const [first, last] = [Math.min(one, other), Math.max(one, other)];
      const range = form === 'both' ? `${first}-${last}` : form === 'from' ? `${first}-` : `-${last + 1}`;
      const start = form === 'last' ? 300 - (last + 1) : first;
      const end = form === 'both' ? last : 299;
      expect(await read(`bytes=${range}`)).toEqual({
        status: 206,
        bytes: content.subarray(start, end + 1),
        range: `bytes ${start}-${end}/300`,
      });
    }),
    { numRuns: 30 },
  );
  expect(await read('bytes=300-')).toMatchObject({ status: 416, range: 'bytes */300' });
});

describe('a message to a session at work', () => {
  it.each([
    ['steer', 1, 'completed'],
    ['followup', 3, 'completed'],
    ['collect', 2, 'completed'],
    ['interrupt', 2, 'cancelled'],
  ])('with the mode %s makes %i turns; the first is %s', async (mode, turns, outcome) => {
    const given = await testStation();
    const id = await create(given, 'wait');
    const turn = await eventually(
      given,
      async () => (await given.backend.records.get('session', id))?.body.turn ?? undefined,
    );
    for await (const item of given.backend.events.read(turn)) {
      if (item.type === 'event' && (item.event as { readonly type: string }).type === 'model.delta') break;
    }
    // An interruption ends the turn, so that its second message would find another one.
    const texts = mode === 'interrupt' ? ['echo one'] : ['echo one', 'echo two'];
    for (const text of texts) {
      const sent = await given.call('POST', `/api/v1/sessions/${id}/messages`, { body: { text, mode } });
      expect(sent).toMatchObject({ status: 202, body: { isNew: true } });
    }
    given.agent.release();
    const session = await ended(given, id, turns);
    expect(session.turns).toBe(turns);
    const first = await eventually(given, async () => {
      const found = (await given.backend.records.get('turn', `${id}:1`))?.body;
      return found?.outcome ?? undefined;
    });
    expect(first).toBe(outcome);
    const { body } = await given.call('GET', `/api/v1/sessions/${id}/entries`, { schema: contract.entryPage });
    const said = body.entries.flatMap(({ role, parts }) => (role === 'user' ? parts : []));
    expect(said.map((part) => 'text' in part && part.text)).toEqual(['wait', ...texts]);
    expect(given.problems).toEqual([]);
  });
});
