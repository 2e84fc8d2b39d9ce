import { keysOf, type SchemaKey } from '@h/config';
import type * as z from 'zod';
import { agentSchema } from '../agents/agent-file.js';
import { workflowSchema } from '../workflows/schema.js';
import { configSchema } from './schema.js';

/** The tables of `docs/`, by file. A test compares them with the files. */
export const docsOf = (): Readonly<Record<string, readonly string[]>> => ({
  'station-config.md': [tableOf(configSchema), tableOf(agentSchema)],
  'workflows.md': [tableOf(workflowSchema)],
});

/** A Markdown table of the keys of a schema. */
const tableOf = (schema: z.ZodType): string =>
  ['| key | value | default | meaning |', '|---|---|---|---|', ...keysOf(schema).map(rowOf)].join('\n');

const rowOf = ({ key, type, defaultValue, description, isRequired }: SchemaKey): string => {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const value = defaultValue === undefined ? (isRequired ? 'required' : '') : `\`${cell(defaultValue)}\``;
  return `| \`${key}\` | ${cell(type)} | ${value} | ${cell(description)} |`;
};
