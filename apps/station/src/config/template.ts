import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keysOf, type SchemaKey } from '@h/config';
import { ensureFolder } from '@h/files';
import { CodedError } from '@h/options';
import { stringify } from 'yaml';
import { configSchema } from './schema.js';

const head = `# Configuration of station. Unknown keys are errors. Explain it with: h-station check
# Values are the defaults; lines that begin with "#" have no default. Paths are relative to this file.
`;

/** A configuration file with every key, its default and its meaning. */
export const configTemplate = (): string => {
  const lines: string[] = [];
  let before: readonly string[] = [];
  const keys = keysOf(configSchema).filter(({ key }) => !key.includes('*'));
  for (const found of keys) {
    const path = found.key.split('.');
    const shared = path.findIndex((part, index) => part !== before[index]);
    for (let depth = shared; depth < path.length - 1; depth += 1) {
      const section = path.slice(0, depth + 1).join('.');
      const hasDefault = keys.some(
        ({ key, defaultValue }) => key.startsWith(`${section}.`) && defaultValue !== undefined,
      );
      lines.push(`${'  '.repeat(depth)}${hasDefault ? '' : '# '}${path[depth] ?? ''}:`);
    }
    lines.push(lineOf(found, path));
    before = path;
  }
  return `${head}${lines.join('\n')}\n${samples}`;
};

const lineOf = ({ type, defaultValue, description }: SchemaKey, path: readonly string[]): string => {
  const indent = '  '.repeat(path.length - 1);
  const name = path.at(-1) ?? '';
  const value =
    defaultValue === undefined ? type : stringify(JSON.parse(defaultValue), { collectionStyle: 'flow' }).trim();
  return `${indent}${defaultValue === undefined ? '# ' : ''}${name}: ${value}${description === '' ? '' : ` # ${description}`}`;
};

const samples = `
# Settings of providers, and triggers:
# models: { providers: { acme: { base_url: 'https://llm.acme.example/v1', key_env: [ACME_KEY] } } }
# triggers:
#   nightly: { type: cron, schedule: '0 2 * * *', agent: assistant, input: 'Run the tests and report.', missed: run }
`;

const firstAgent = `---
description: Reads the workspace and answers questions about it.
tools: [read, glob, grep]
---
You answer questions about the files of the workspace. Read the relevant files first, and name them in your answer.
`;

/**
 * Writes `config.yaml` and a first agent file.
 *
 * @returns the files
 * @throws CodedError `file-exists` if one of them exists; files before it are written
 */
export const initStation = async (folder: string): Promise<readonly string[]> => {
  const files = [
    { file: join(folder, 'config.yaml'), text: configTemplate() },
    { file: join(folder, 'agents/assistant.md'), text: firstAgent },
  ];
  await ensureFolder(join(folder, 'agents'), 0o777);
  for (const { file, text } of files) {
    try {
      await writeFile(file, text, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw new CodedError('file-exists', `${file} exists already. Delete it, or name another folder.`, {
        cause: error,
      });
    }
  }
  return files.map(({ file }) => file);
};
