import type { TestProject } from 'vitest/node';
import { startServer } from './embedded-server.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The connection string of the server of this run. */
    readonly databaseUrl: string;
  }
}

/** Starts one PostgreSQL server for the test run, unless `DATABASE_URL` names one. */
export const setup = async ({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> => {
  const given = process.env['DATABASE_URL'];
  if (given !== undefined && given !== '') {
    provide('databaseUrl', given);
    return undefined;
  }
  const server = await startServer();
  provide('databaseUrl', server.url);
  return () => server.stop();
};
