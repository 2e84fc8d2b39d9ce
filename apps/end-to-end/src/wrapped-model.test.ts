import { wrapModel } from '@h/ai-sdk';
import { compaction } from '@h/compaction';
import { createCredentialPool, failover } from '@h/failover';
import { guardrails } from '@h/guardrails';
import { hooks } from '@h/hooks';
import { destructiveCommands } from '@h/hooks/commands';
import { loopDetect } from '@h/loop-detect';
import { observe } from '@h/observe';
import { prompt } from '@h/prompt';
import { createLanes, queue } from '@h/queue';
import { security } from '@h/security';
import { tools } from '@h/tools';
import type { PipelineOperator } from '@h/turn';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';

const model = new MockLanguageModelV4();

describe('wrapModel', () => {
  it.each<[name: string, operator: () => PipelineOperator]>([
    ['hooks', () => hooks([destructiveCommands()])],
    ['guardrails', () => guardrails({ maxToolCalls: 3 })],
    ['loop-detect', () => loopDetect()],
    ['security', () => security()],
    ['tools', () => tools()],
    ['queue', () => queue(createLanes())],
  ])('rejects %s, whose tool handlers would have no effect', (name, operator) => {
    expect(() => wrapModel(model, operator())).toThrow(
      expect.objectContaining({ code: 'unsupported-operator', operator: name }),
    );
  });

  it.each<[name: string, operator: () => PipelineOperator]>([
    ['compaction', () => compaction({ window: 10_000, summarize: () => 'A summary.' })],
    ['failover', () => failover({ pool: createCredentialPool({ profiles: [] }) })],
    ['prompt', () => prompt({ frozen: [{ id: 'identity', text: 'You are terse.' }] })],
    ['observe', () => observe()],
  ])('accepts %s', (_, operator) => {
    expect(() => wrapModel(model, operator())).not.toThrow();
  });
});
