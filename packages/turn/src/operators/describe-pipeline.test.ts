import { tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { describePipeline, handledEvents } from './describe-pipeline.js';
import type { TurnEvent } from '../contract/events.js';
import type { InterceptorPlace } from './handlers.js';
import { intercept } from './intercept.js';

const operator = (name: string, place?: InterceptorPlace) => intercept(name, () => ({}), place);

describe('describePipeline', () => {
  it('lists the operators in their order without a warning when all of them are in place', () => {
    const operators = [
      operator('queue', { before: ['guard', 'tools'] }),
      operator('guard', { after: ['queue'], before: ['tools'] }),
      operator('tools'),
    ];
    const described = describePipeline({ operators });
    expect(described.operators).toEqual(['queue', 'guard', 'tools']);
    expect(described.warnings).toEqual([]);
    expect(String(described)).toBe(' 1. queue\n 2. guard\n 3. tools');
  });

  it('warns about an operator in front of one that belongs before it', () => {
    const operators = [operator('guard', { after: ['queue'] }), operator('queue')];
    expect(describePipeline({ operators }).warnings).toEqual(['guard belongs after queue; move it.']);
  });

  it('warns about an operator behind one that belongs after it', () => {
    const operators = [operator('tools'), operator('guard', { before: ['tools', 'security'] })];
    expect(describePipeline({ operators }).warnings).toEqual(['guard belongs before tools; move it.']);
  });

  it('warns once, and ignores names that are not in the pipe', () => {
    const guard = operator('guard', { after: ['queue', 'queue', 'hooks'] });
    const { warnings } = describePipeline({ operators: [guard, operator('queue'), operator('queue')] });
    expect(warnings.filter((warning) => warning.includes('belongs'))).toHaveLength(1);
  });

  it('warns once about two operators that both declare their order', () => {
    const operators = [operator('guard', { after: ['queue'] }), operator('queue', { before: ['guard'] })];
    expect(describePipeline({ operators }).warnings).toEqual(['guard belongs after queue; move it.']);
  });

  it('warns about an operator that is in the pipe twice', () => {
    const operators = [operator('guard'), operator('tools'), operator('guard')];
    expect(describePipeline({ operators }).warnings).toEqual([
      'guard is in the pipe 2 times, and all use the state of that name; combine them.',
    ]);
  });

  it('lists native operators as native', () => {
    const described = describePipeline({ operators: [tap<TurnEvent>(), operator('queue')] });
    expect(described.operators[0]).toMatch(/\(native\)$/);
    expect(described.warnings).toEqual([]);
  });
});

describe('handledEvents', () => {
  it('lists the events with a handler', () => {
    const operator = intercept('counter', () => ({
      observe: { '*': () => undefined, 'tool.result': () => undefined },
      decide: { 'model.request': () => undefined, '*': () => undefined },
    }));
    expect(handledEvents(operator)).toEqual({
      operator: 'counter',
      decides: ['model.request'],
      observes: ['tool.result'],
    });
  });

  it('returns undefined for a native operator', () => {
    expect(handledEvents((source) => source)).toBeUndefined();
  });
});
