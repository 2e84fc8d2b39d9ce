import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { eventually, testFolder, testStation } from '../../test/station.js';
import * as contract from './contract.js';
import { revokeTokens } from './tokens.js';

it('answers a repeated request with the same key from its records, also after a restart', async () => {
  const directory = await testFolder();
  const first = await testStation({ directory });
  const token = await first.token();
  const headers = { 'idempotency-key': 'key-1' };
  const body = { agent: 'helper', message: { text: 'echo once' } };
  const create = async (given: Pick<typeof first, 'call'>) =>
    given.call('POST', '/api/v1/sessions', { token, headers, body, schema: contract.session });
  const [left, right] = await Promise.all([create(first), create(first)]);
  expect(left.body.id).toBe(right.body.id);
  const other = await first.call('POST', '/api/v1/sessions', { token, headers, body: { agent: 'helper' } });
  expect(other).toMatchObject({ status: 422, body: { code: 'other-request' } });
  await eventually(first, async () => {
    const found = (await first.backend.records.get('session', left.body.id))?.body;
    return found?.outcome ?? undefined;
  });
  await first.close();
  const second = await testStation({ directory });
  const again = await create(second);
  expect(again.response.headers.get('idempotency-replayed')).toBe('true');
  expect(again.body.id).toBe(left.body.id);
  const list = await second.call('GET', '/api/v1/sessions', { token, schema: contract.sessionPage });
  expect(list.body.sessions).toMatchObject([{ id: left.body.id, messages: 2 }]);
});

it('rejects another request that is sent at the same time with the same key', async () => {
  const given = await testStation();
  const token = await given.token();
  const headers = { 'idempotency-key': 'key-1' };
  const send = async (text: string) =>
    given.call('POST', '/api/v1/sessions', { token, headers, body: { agent: 'helper', message: { text } } });
  const answers = await Promise.all([send('echo one'), send('echo two')]);
  expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([201, 422]);
});

it.each([
  ['in another encoding', Buffer.from('{"agent":"helper","title":"caf\u00e9"}', 'latin1'), {}, 400, 'invalid-encoding'],
  ['that is compressed', Buffer.from('{}'), { 'content-encoding': 'gzip' }, 415, 'encoded-body'],
  ['with a byte order mark', Buffer.from('\uFEFF{"agent":"nobody"}'), {}, 422, 'unknown-agent'],
])('answers a body %s', async (_, body, more, status, code) => {
  const given = await testStation();
  const headers = { host: 'localhost', authorization: `Bearer ${await given.token()}`, ...more };
  const response = await given.app.request('http://localhost/api/v1/sessions', { method: 'POST', headers, body });
  expect([response.status, await response.json()]).toEqual([status, expect.objectContaining({ code })]);
});

it('answers an unknown route of the API with a problem, and not with the page', async () => {
  const given = await testStation();
  const answer = await given.call('GET', '/api/v1/session');
  expect(answer).toMatchObject({ status: 404, body: { code: 'not-found' } });
});

it('lets a link decide its approval once', async () => {
  const given = await testStation();
  await given.call('POST', '/api/v1/sessions', { body: { agent: 'helper', message: { text: 'deploy it' } } });
  const approval = await eventually(given, async () => (await given.station.approvals.list('acme'))[0]);
  const path = `/api/v1/approvals/${approval.id}/link`;
  const { body } = await given.call('POST', path, { schema: contract.approvalLink });
  const link = new URL(body.url).pathname;
  const json = { accept: 'application/json' };
  const shown = await given.call('GET', link, { headers: json, schema: contract.approval });
  expect(shown.body).toMatchObject({ id: approval.id, state: 'open' });
  const forged = await given.call(
    'GET',
    link.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
    { headers: json },
  );
  expect(forged.status).toBe(404);
  for (const lasting of ['session', 'always']) {
    const refused = await given.call('POST', link, { body: { decision: lasting, hash: approval.call?.hash } });
    expect(refused).toMatchObject({ status: 403, body: { code: 'one-call' } });
  }
  const decision = { decision: 'deny', hash: approval.call?.hash };
  const decided = await given.call('POST', link, { body: decision });
  expect(decided).toMatchObject({ status: 200, body: { state: 'denied', decidedBy: 'link of ann' } });
  const again = await given.call('POST', link, { body: decision });
  expect(again.status).toBeGreaterThanOrEqual(409);
});

it('refuses a link that has expired', async () => {
  let now = Date.now();
  const given = await testStation({ now: () => now, approvalLinkMs: 60_000 });
  await given.call('POST', '/api/v1/sessions', { body: { agent: 'helper', message: { text: 'deploy it' } } });
  const approval = await eventually(given, async () => (await given.station.approvals.list('acme'))[0]);
  const { body } = await given.call('POST', `/api/v1/approvals/${approval.id}/link`, { schema: contract.approvalLink });
  expect(body.expiresAt).toBe(now + 60_000);
  const link = new URL(body.url).pathname;
  now += 60_001;
  const decided = await given.call('POST', link, { body: { decision: 'once', hash: approval.call?.hash } });
  expect(decided.status).toBeGreaterThanOrEqual(400);
  expect(await given.station.approvals.list('acme')).toMatchObject([{ state: 'open' }]);
});

it('refuses a link whose creator has no token any more', async () => {
  const given = await testStation();
  await given.call('POST', '/api/v1/sessions', { body: { agent: 'helper', message: { text: 'deploy it' } } });
  const approval = await eventually(given, async () => (await given.station.approvals.list('acme'))[0]);
  const { body } = await given.call('POST', `/api/v1/approvals/${approval.id}/link`, { schema: contract.approvalLink });
  const link = new URL(body.url).pathname;
  expect(await revokeTokens(given.backend.records, 'acme', 'ann')).toBe(1);
  const shown = await given.call('GET', link, { token: '', headers: { accept: 'application/json' } });
  const decided = await given.call('POST', link, { token: '', body: { decision: 'once', hash: approval.call?.hash } });
  expect([shown, decided]).toMatchObject([{ status: 410 }, { status: 410, body: { code: 'revoked-link' } }]);
  expect(await given.station.approvals.list('acme')).toMatchObject([{ state: 'open' }]);
});

it('limits what it reads of requests without a token, and how deep their JSON is nested', async () => {
  const given = await testStation();
  const large = await given.call('POST', '/a/x.y', { token: '', body: 'x'.repeat(1_000_000) });
  expect(large).toMatchObject({ status: 413, body: { code: 'too-large' } });
  const headers = { host: 'localhost', authorization: `Bearer ${await given.token()}` };
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const body = `${open.repeat(50_000)}1${close.repeat(50_000)}`;
    const response = await given.app.request('http://localhost/api/v1/sessions', { method: 'POST', headers, body });
    expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ code: 'too-deep' })]);
  }
  const text = `a\\"${'['.repeat(1_000)}\\`;
  const shallow = await given.call('POST', '/api/v1/sessions', {
    body: { agent: 'helper', title: 'a', message: { text } },
  });
  expect(shallow.status).toBe(201);
  expect(given.problems).toEqual([]);
});

it('refuses unknown hosts, other origins, large bodies and invalid requests', async () => {
  const given = await testStation({ maxBodyBytes: 1_000, origins: ['https://ui.example'] });
  const hosted = await given.call('GET', '/api/v1/agents', { headers: { host: 'evil.example' } });
  expect(hosted).toMatchObject({ status: 421, body: { code: 'unknown-host' } });
  const foreign = await given.call('GET', '/api/v1/agents', { headers: { origin: 'https://evil.example' } });
  expect(foreign.response.headers.has('access-control-allow-origin')).toBe(false);
  const allowed = await given.call('GET', '/api/v1/agents', { headers: { origin: 'https://ui.example' } });
  expect(allowed.response.headers.get('access-control-allow-origin')).toBe('https://ui.example');
  expect(allowed.response.headers.get('content-security-policy')).toContain("default-src 'self'");
  const large = await given.call('POST', '/api/v1/sessions', { body: { agent: 'x'.repeat(2_000) } });
  expect(large).toMatchObject({ status: 413, body: { code: 'too-large' } });
  const wrong = await given.call('POST', '/api/v1/sessions', { body: { agent: 'helper', message: { text: 1 } } });
  expect(wrong).toMatchObject({ status: 422, body: { code: 'invalid-request', field: 'message.text' } });
  expect(z.array(contract.agentInfo).parse(allowed.body)).toHaveLength(1);
});

it('serves no file outside of the page', async () => {
  const given = await testStation();
  const outside = join(await testFolder(), 'outside.txt');
  await writeFile(outside, 'not of the page');
  const climb = '/..'.repeat(20);
  const paths = [
    `/${outside}`,
    `//${outside}`,
    `/.${outside}`,
    `${climb}${outside}`,
    `/assets${climb}${outside}`,
    `${climb.replaceAll('.', '%2e')}${outside}`,
    `${climb.replaceAll('.', '%252e')}${outside}`,
    `/%2f${outside.slice(1)}`,
    `/%5c..%5c..${outside.replaceAll('/', '%5c')}`,
    `/file:${outside}`,
    `/file:%2f%2f${outside}`,
    `${outside}%00.html`,
  ];
  for (const path of paths) {
    const response = await given.app.request(`http://localhost${path}`, { headers: { host: 'localhost' } });
    expect([path, await response.text()]).toEqual([path, expect.not.stringContaining('not of the page')]);
  }
});
