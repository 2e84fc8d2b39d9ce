import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import { expect, it } from 'vitest';
import { testFolder, testStation } from '../../test/station.js';

/** A program that compiles only if the document has these requests and responses. */
const program = `
import type { paths } from './schema.js';
type Json<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never;
type Created = Json<paths['/api/v1/sessions']['post']['responses'][201]>;
type Page = Json<paths['/api/v1/sessions/{id}/entries']['get']['responses'][200]>;
type Decision = NonNullable<paths['/api/v1/approvals/{id}']['post']['requestBody']>['content']['application/json'];
type Query = NonNullable<paths['/api/v1/sessions']['get']['parameters']['query']>;
export const id = (session: Created): string => session.id;
export const text = ({ entries }: Page): string[] =>
  entries.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
export const decision: Decision = { decision: 'once', hash: 'abc' };
export const query: Query = { state: 'running', limit: 10 };
// @ts-expect-error -- not a decision
export const wrong: Decision = { decision: 'perhaps' };
`;

it('describes its routes in a document from which a typed client is generated', async () => {
  const given = await testStation();
  const response = await given.app.request('http://localhost/openapi.json', { headers: { host: 'localhost' } });
  const document = JSON.parse(await response.text()) as { readonly paths: Readonly<Record<string, object>> };
  expect(Object.keys(document.paths).length).toBeGreaterThan(20);
  const folder = await testFolder();
  await writeFile(join(folder, 'schema.ts'), astToString(await openapiTS(document as never)));
  await writeFile(join(folder, 'client.ts'), program);
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  const options = [
    '--noEmit',
    '--ignoreConfig',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--skipLibCheck',
  ];
  const compiling = promisify(execFile)(process.execPath, [compiler, ...options, join(folder, 'client.ts')]);
  const { stdout } = await compiling.catch((error: { readonly stdout: string }) => error);
  expect(stdout).toBe('');
});
