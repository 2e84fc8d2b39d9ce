import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compaction, type CompactionOptions } from '@h/compaction';
import { prompt } from '@h/prompt';
import { skillLibrary, skillsIndex, skillTool } from '@h/skills';
import { defineTool, toolDriver } from '@h/tools';
import { harness, memorySessions, type ModelDriver, type TurnEvent } from '@h/turn';
import { call, response, scriptedModel } from '@h/turn/testing';
import { lastValueFrom, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const instructions = 'Tag first, then publish. Never on a Friday.';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'h-end-to-end-'));
  mkdirSync(join(folder, 'release'));
  writeFileSync(
    join(folder, 'release/SKILL.md'),
    `---\nname: release\ndescription: Makes a release.\n---\n\n${instructions}\n`,
  );
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const look = defineTool({
  name: 'look',
  description: 'Looks around.',
  input: { type: 'object', properties: { at: { type: 'number' } } },
  effect: 'read-only',
  run: ({ at }) => `Seen ${JSON.stringify(at)}: ${'nothing of interest here, '.repeat(150)}`,
});

/** Loads the skill, calls a tool until the window has overflowed, and ends. */
const wanderer = (): ModelDriver =>
  scriptedModel([
    response(call('s', 'skill', { name: 'release' })),
    ...Array.from({ length: 20 }, (_, at) => response(call(`l${at}`, 'look', { at }))),
    'Done.',
    'Done again.',
  ]);

describe('a loaded skill', () => {
  it.each<[string, Omit<CompactionOptions, 'window'>]>([
    ['clear-tool-results', { strategy: 'clear-tool-results' }],
    ['sliding-window', { strategy: 'sliding-window' }],
    ['compact', { strategy: 'compact', keepMessages: 4 }],
    [
      'summarize',
      { strategy: 'summarize', summarize: () => 'The agent has looked around and found nothing of interest.' },
    ],
  ])('stays in the context verbatim after %s', async (_, options) => {
    const library = skillLibrary({ folders: [folder] });
    const sessions = memorySessions();
    const agent = harness({
      model: wanderer(),
      tools: toolDriver([defineTool(skillTool(library)), look]),
      sessions,
    }).pipe(
      prompt({ session: [skillsIndex(library)], bootstrap: [{ id: 'tour', text: 'The code lies in src.' }] }),
      compaction({ window: 10_000, protectTokens: 1500, ...options }),
    );
    const turn = async (input: string): Promise<readonly TurnEvent[]> =>
      lastValueFrom(agent.turn({ session: 'a', input }).pipe(toArray()));
    const events = await turn('Look around, then release.');
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
    expect(events.filter(({ type }) => type === 'history.replace').length).toBeGreaterThan(0);
    const stored = JSON.stringify(sessions.messages('a'));
    expect(stored).toContain(instructions);
    expect(stored).not.toContain('Seen 0: nothing of interest here, nothing');

    await turn('And now?');
    const bootstraps = sessions.messages('a').filter(({ metadata }) => metadata?.kind === 'bootstrap');
    expect(bootstraps).toHaveLength(1);
  });
});
