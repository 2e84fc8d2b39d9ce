import { describeLanes } from '@h/queue/testing';
import { afterEach } from 'vitest';
import { createSchema, type TestSchema } from '../../test/database.js';
import { postgresLanes } from './index.js';

const schemas: TestSchema[] = [];
afterEach(async () => {
  await Promise.all(schemas.splice(0).map((schema) => schema.dispose()));
});

describeLanes(({ concurrency, reservedForeground = 0 }) => {
  const schema = createSchema();
  schemas.push(schema);
  return postgresLanes(schema.connect(), { concurrency, reservedForeground });
});
