import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAnthropic } from '@ai-sdk/anthropic';
import type { ChatCompletionRequest, FixtureResponse } from '@copilotkit/aimock';
import { languageModel } from '@h/ai-sdk';
import { contextFiles, prompt } from '@h/prompt';
import { skillLibrary, skills, skillsIndex, skillTool } from '@h/skills';
import { defineTool, toolDriver } from '@h/tools';
import { harness, reply, type PipelineOperator } from '@h/turn';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startMockProvider, type MockProvider } from './mock-provider.js';
import { blocksOf } from './wire.js';

let folder = '';
let provider: MockProvider;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'h-end-to-end-'));
  mkdirSync(join(folder, '.claude/skills/release'), { recursive: true });
  writeFileSync(join(folder, 'AGENTS.md'), 'Use tabs.\r\n');
  writeFileSync(join(folder, 'MEMORY.md'), 'The last release was 1.4.0.');
  writeFileSync(
    join(folder, '.claude/skills/release/SKILL.md'),
    '---\nname: release\ndescription: Makes a release.\n---\n\nTag first, then publish.\n',
  );
  provider = await startMockProvider(answer);
});
afterEach(async () => {
  await provider.stop();
  rmSync(folder, { recursive: true, force: true });
});

const answer = ({ messages }: ChatCompletionRequest): FixtureResponse =>
  messages.some(({ role }) => role === 'tool')
    ? { content: 'Released.' }
    : { toolCalls: [{ id: 'toolu_1', name: 'skill', arguments: '{"name":"release"}' }] };

const run = async (operators: (library: ReturnType<typeof skillLibrary>) => readonly PipelineOperator[]) => {
  const library = skillLibrary({ folders: [join(folder, '.claude/skills')], home: folder });
  const model = languageModel(createAnthropic({ baseURL: provider.url, apiKey: 'test' })('claude-sonnet-4-5'));
  const agent = harness({ model, tools: toolDriver([defineTool(skillTool(library))]) }).pipe(...operators(library));
  return reply(agent.turn({ session: 'a', input: 'Release it.' }));
};

describe('a skill', () => {
  it('appears in the session tier and is loaded by the tool', async () => {
    const { text, outcome } = await run((library) => [
      prompt({
        frozen: [{ id: 'identity', text: 'You are careful.' }],
        session: [contextFiles({ workspace: folder }), skillsIndex(library)],
      }),
    ]);
    expect([text, outcome]).toEqual(['Released.', 'completed']);
    const [first = [], second = []] = provider.bodies.map(blocksOf);
    const [, identity, session, question, memory] = first.map(({ json }) => json);
    expect(identity).toContain('You are careful.');
    expect(session).toMatch(/Use tabs\.\\n<\/context-file>\\n\\n<skills>.*\\n- release: Makes a release\./);
    expect(question).toContain('Release it.');
    expect(memory).toContain('The last release was 1.4.0.');
    expect(JSON.stringify(second)).toContain('Tag first, then publish.');
    expect(second.slice(0, 4).map(({ json }) => json)).toEqual(first.slice(0, 4).map(({ json }) => json));
  });

  it('is appended to the prompt by the operator, before the cache breakpoint', async () => {
    const { outcome } = await run((library) => [
      prompt({ frozen: [{ id: 'identity', text: 'You are careful.' }] }),
      skills({ library }),
    ]);
    expect(outcome).toBe('completed');
    const [first = []] = provider.bodies.map(blocksOf);
    expect(first.map(({ isMarked }) => isMarked)).toEqual([false, false, true, true]);
    expect(first[2]?.json).toContain('- release: Makes a release.');
  });
});
