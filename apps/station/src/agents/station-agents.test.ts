import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryArtifacts } from '@h/tools';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { loadText } from '../config/load-config.js';
import { parseAgentFile } from './agent-file.js';
import { once } from './station-agents.js';
import { openToolbox } from './toolbox.js';
import { openWorkplace } from './workplaces.js';

/** Puts a shell script into the PATH, before the program with this name. */
const shadow = (program: string, script: string): void => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, program), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, program), 0o755);
  const { PATH } = process.env;
  process.env['PATH'] = `${folder}:${PATH ?? ''}`;
  onTestFinished(() => void (process.env['PATH'] = PATH));
};

const configOf = (text: string) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'work'));
  const config = `database: { folder: ${join(folder, 'data')} }\nharness:\n  workspace: { path: ${join(folder, 'work')}, ${text} }\n`;
  return { config: loadText(config, join(folder, 'config.yaml')).config, folder };
};

describe.skipIf(process.platform === 'win32')('an agent that cannot be opened', () => {
  it('leaves no sandbox behind', async () => {
    const { config, folder } = configOf('mode: host');
    const log = join(folder, 'log');
    shadow('docker', `echo "$1" >> '${log}'; if [ "$1" = run ]; then echo h-sandbox-ready; exec cat >/dev/null; fi`);
    const workplace = await openWorkplace(config, '');
    const file = parseAgentFile(
      '---\ntools: [bash, git_status]\nharness_config: { sandbox: { mode: docker, image: x } }\n---\nWork.\n',
      'agent.md',
    );
    const toolbox = openToolbox({ config, file, workplace, artifacts: memoryArtifacts(), team: undefined });
    await expect(toolbox).rejects.toMatchObject({ code: 'unknown-tool' });
    const calls = readFileSync(log, 'utf8').split('\n');
    const count = (call: string): number => calls.filter((each) => each === call).length;
    expect([count('run') > 0, count('rm')]).toEqual([true, count('run')]);
  });

  it('gets no empty folder in place of a repository that git cannot read at the moment', async () => {
    const { config, folder } = configOf('mode: sandbox');
    shadow('git', 'echo "fatal: cannot fork" >&2; exit 128');
    await expect(openWorkplace(config, 'a')).rejects.toMatchObject({ code: 'git-failed' });
    expect(readdirSync(folder)).toEqual(['work']);
  });
});

it('creates what all agents share again after a failure, and then once', async () => {
  let calls = 0;
  const shared = once(async () => {
    calls += 1;
    if (calls === 1) throw new Error('EMFILE: too many open files');
    return Promise.resolve(calls);
  });
  await expect(shared()).rejects.toThrow('EMFILE');
  expect(await Promise.all([shared(), shared()])).toEqual([2, 2]);
});
