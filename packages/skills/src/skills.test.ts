import { harness, reply, type ModelRequest, type TurnEvent } from '@h/turn';
import { call, event, request, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import { lastValueFrom, of, Subject, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { lifelike, type Tree } from '../test/skills-tree.js';
import { skillLibrary, type SkillLibrary } from './library.js';
import { skillsIndex } from './skills-index.js';
import { skills, type SkillsOptions } from './skills.js';

let disk: Tree;
let library: SkillLibrary;
beforeEach(() => {
  disk = lifelike();
  library = skillLibrary({ folders: [disk.path('.claude/skills')], platform: 'linux', home: disk.root });
});
afterEach(() => {
  disk.remove();
});

/** A library of one skill that is not on disk. */
const still = (
  list: SkillLibrary['list'] = async () => Promise.resolve({ skills: [], problems: [] }),
): SkillLibrary => ({
  home: '/home/al',
  platform: 'linux',
  list,
  read: async () => Promise.reject(new Error('Not here.')),
});

const one: Awaited<ReturnType<SkillLibrary['list']>> = {
  skills: [
    {
      name: 'pdf',
      description: 'Fills forms.',
      folder: '/s',
      file: '/s/SKILL.md',
      trusted: true,
      forModel: true,
      forUser: true,
      env: {},
    },
  ],
  problems: [{ code: 'collision', message: 'There is another.', path: '/t/SKILL.md' }],
};

const eventsOf = async (options: SkillsOptions, given: ModelRequest = request()): Promise<readonly TurnEvent[]> =>
  lastValueFrom(of(event('model.request', { step: 1, attempt: 1, ...given })).pipe(skills(options), toArray()));

describe('skills', () => {
  it('appends the index to the system prompt and reports problems', async () => {
    const events = await eventsOf({ library }, request({ system: [{ text: 'You are.' }] }));
    const shaped = events.at(-1) as ModelRequest;
    expect(shaped.system.map(({ text }) => text.split('\n')[0])).toEqual(['You are.', '<skills>']);
    expect(shaped.system[1]?.text).toContain('\n- git-rebase: ');
    expect(events.slice(0, -1).map(({ type }) => type)).toContain('skills.problem');
  });

  it('moves the cache mark of the last block to the index', async () => {
    const system = [
      { text: 'A', cache: { ttl: '1h' as const } },
      { text: 'B', cache: {} },
    ];
    const [, shaped] = await eventsOf({ library: still(async () => Promise.resolve(one)) }, request({ system }));
    expect((shaped as ModelRequest).system).toMatchObject([
      { text: 'A', cache: { ttl: '1h' } },
      { text: 'B' },
      { cache: {} },
    ]);
    expect((shaped as ModelRequest).system[1]?.cache).toBeUndefined();
  });

  it('renders the index once per turn and adds it to a request once', async () => {
    const list = vi.fn(async () => Promise.resolve(one));
    const operator = skills({ library: still(list) });
    const model = scriptedModel([response(call('1', 'ls')), 'Done.', 'Again.']);
    const agent = harness({ model, tools: scriptedTools({ ls: 'a' }) }).pipe(
      operator,
      skills({ library: still(list) }),
    );
    await reply(agent.turn({ session: 'a', input: 'Hi' }));
    expect(list).toHaveBeenCalledTimes(1);
    await reply(agent.turn({ session: 'a', input: 'Hi' }));
    expect(list).toHaveBeenCalledTimes(2);
    expect(model.requests.map(({ system }) => system.length)).toEqual([1, 1, 1]);
    expect(new Set(model.requests.map(({ system }) => system[0]?.text)).size).toBe(1);
  });

  it('applies the options of the index', async () => {
    const [, shaped] = await eventsOf({
      library: still(async () => Promise.resolve(one)),
      tool: 'load',
      tokensPerSkill: 1,
      maxTokens: 200,
    });
    expect((shaped as ModelRequest).system[0]?.text).toContain('The tool load');
    expect((shaped as ModelRequest).system[0]?.text).toContain('\n- pdf\n');
  });

  it('passes a request unchanged if there are no skills', async () => {
    const given = event('model.request', { step: 1, attempt: 1, ...request() });
    const events = await lastValueFrom(of(given).pipe(skills({ library: still() }), toArray()));
    expect(events).toEqual([given]);
  });

  it('continues without an index if finding skills fails', async () => {
    const events = await eventsOf({ library: still(async () => Promise.reject(new Error('No disk.'))) });
    expect(events).toMatchObject([
      { type: 'skills.problem', code: 'failed', message: expect.stringContaining('No disk.') as string },
      { system: [] },
    ]);
  });

  it('continues without an index if finding skills times out', async () => {
    vi.useFakeTimers({ now: 0 });
    try {
      const events: TurnEvent[] = [];
      const never = still(async () => new Promise(() => undefined));
      of(event('model.request', { step: 1, attempt: 1, ...request() }))
        .pipe(skills({ library: never, deadlineMs: 300 }))
        .subscribe((made) => events.push(made));
      await vi.advanceTimersByTimeAsync(299);
      expect(events).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(events).toMatchObject([
        { type: 'skills.problem', code: 'timed-out' },
        { type: 'model.request', system: [] },
      ]);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('adds the index to requests after the time limit of the search', async () => {
    vi.useFakeTimers({ now: 0 });
    onTestFinished(() => void vi.useRealTimers());
    const requests = new Subject<TurnEvent>();
    const events: TurnEvent[] = [];
    const found = still(async () => Promise.resolve(one));
    requests.pipe(skills({ library: found, deadlineMs: 300 })).subscribe((made) => events.push(made));
    for (const step of [1, 2]) {
      requests.next(event('model.request', { step, attempt: 1, ...request() }));
      await vi.advanceTimersByTimeAsync(400);
    }
    expect(events.map(({ type }) => type)).toEqual(['skills.problem', 'model.request', 'model.request']);
    expect(events.at(-1)).toMatchObject({
      system: [{ text: expect.stringContaining('- pdf: Fills forms.') as string }],
    });
  });

  it.each<[string, SkillsOptions]>([
    ['library', {} as SkillsOptions],
    ['deadlineMs', { library: still(), deadlineMs: -1 }],
    ['tokensPerSkill', { library: still(), tokensPerSkill: 0 }],
    ['maxTokens', { library: still(), maxTokens: 1 }],
    ['tool', { library: still(), tool: '' }],
    ['folders', { library: still(), folders: [] } as never],
  ])('refuses a wrong %s and names it', (name, options) => {
    expect(() => skills(options)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringContaining(`"${name}"`) as string }),
    );
  });
});

describe('skillsIndex', () => {
  it('returns a section of the session tier with problems', async () => {
    const { id, tier, text } = skillsIndex(
      still(async () => Promise.resolve(one)),
      { tool: 'load' },
    );
    expect([id, tier]).toEqual(['skills', 'session']);
    expect(await text()).toEqual({
      text: expect.stringContaining('- pdf: Fills forms.') as string,
      problems: one.problems,
    });
    expect(() => skillsIndex(library, { maxTokens: 1 })).toThrow('skillsIndex()');
  });
});

describeOperator(() => skills({ library: still(async () => Promise.resolve(one)) }), {
  changes: ['model.request', 'skills.problem'],
});
describeOperator(() => skills({ library: still(async () => new Promise(() => undefined)), deadlineMs: 50 }), {
  changes: ['model.request', 'skills.problem'],
});
