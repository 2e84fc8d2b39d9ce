import type { ToolDefinition, TurnEvent, TurnEventOf } from '@h/turn';
import { event, request, user } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import { concat, from, lastValueFrom, NEVER, of, takeUntil, timer, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InvalidOptionError } from '@h/options';
import { embeddingScorer, keywordScorer, type ToolScorer } from './scorers.js';
import { selectTools, type SelectToolsOptions } from './select-tools.js';

const tool = (name: string, description = ''): ToolDefinition => ({
  name,
  description,
  inputSchema: { type: 'object' },
});
const catalogue = [
  tool('create_invoice', 'Creates an invoice for a customer.'),
  tool('list_branches', 'Lists the branches of a git repository.'),
  tool('read_artifact', 'Reads a stored output.'),
  tool('search_mail', 'Searches the mailbox.'),
  tool('send_mail', 'Sends an e-mail message.'),
  tool('translate', 'Translates text. 翻訳する'),
];

type Ask = TurnEventOf<'model.request'>;
const ask = (text: string, changes: Parameters<typeof request>[0] = {}): Ask =>
  event('model.request', { step: 1, attempt: 1, ...request({ tools: catalogue, messages: [user(text)], ...changes }) });

const play = (events: readonly TurnEvent[], options: SelectToolsOptions = {}): Promise<TurnEvent[]> =>
  lastValueFrom(from(events).pipe(selectTools({ maxTools: 3, ...options }), toArray()));
const offered = (events: readonly TurnEvent[]): readonly (readonly string[])[] =>
  events.flatMap((each) => (each.type === 'model.request' ? [each.tools.map(({ name }) => name)] : []));
const choice = async (
  text: string,
  options: SelectToolsOptions = {},
  changes = {},
): Promise<readonly string[] | undefined> => offered(await play([ask(text, changes)], options))[0];

describeOperator(() => selectTools({ maxTools: 1 }));

describe('selectTools', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('offers the tools that match the request and those of `always`, in their order', async () => {
    expect(await choice('Search my mails for the sender')).toEqual(['read_artifact', 'search_mail', 'send_mail']);
    expect(await choice('Which git branches are there?', { always: ['t*'], maxTools: 2 })).toEqual([
      'list_branches',
      'translate',
    ]);
  });

  it('passes a request with few enough tools unchanged', async () => {
    const small = ask('x', { tools: catalogue.slice(0, 3) });
    expect(await play([small])).toEqual([small]);
    expect((await play([small]))[0]).toBe(small);
  });

  it('keeps the selection for the turn, with the same array for the same tools', async () => {
    const events = await play([
      ask('Search my mail'),
      ask('Now list the git branches'),
      ask('And invoices', { tools: [...catalogue, tool('new_one')] }),
    ]);
    const [first, second, third] = events as Ask[];
    expect(second?.tools).toBe(first?.tools);
    expect(third?.tools).toEqual(first?.tools);
  });

  it('selects again in the next turn', async () => {
    const operator = selectTools({ maxTools: 1, always: [] });
    const turn = (text: string) => lastValueFrom(of<TurnEvent>(ask(text)).pipe(operator, toArray()));
    expect(offered(await turn('invoice'))).toEqual([['create_invoice']]);
    expect(offered(await turn('translate'))).toEqual([['translate']]);
  });

  it('keeps its selection after a crash', async () => {
    const [first] = await play([ask('Translate this letter')], { maxTools: 1, always: [] });
    const events = await play([first as TurnEvent, ask('Search my mail')], { maxTools: 1, always: [] });
    expect(offered(events)).toEqual([['translate'], ['translate']]);
  });

  it('considers several user messages but no internal ones', async () => {
    const messages = [
      user('Translate this letter'),
      { role: 'assistant', content: 'Shall I?' },
      user('Yes, do it'),
      { ...user('git branches invoice'), metadata: { internal: true } },
    ] as const;
    expect(await choice('', { maxTools: 1, always: [] }, { messages })).toEqual(['translate']);
  });

  it('offers a tool that the request requires', async () => {
    expect(
      await choice('mail', { maxTools: 1, always: [] }, { settings: { toolChoice: { toolName: 'translate' } } }),
    ).toEqual(['translate']);
  });

  it('accepts an asynchronous scorer', async () => {
    const scorer: ToolScorer = async (_, tools) => tools.map(({ name }) => (name === 'translate' ? 1 : 0));
    expect(await choice('x', { scorer, maxTools: 1, always: [] })).toEqual(['translate']);
  });

  it.each<[string, ToolScorer]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
    ['omits scores', () => [1]],
    ['returns NaN', (_, tools) => tools.map(() => Number.NaN)],
    ['never answers', () => new Promise<never>(() => undefined)],
  ])('offers all tools for the turn and emits a notice if the scorer %s', async (_, scorer) => {
    const playing = play([ask('mail'), ask('mail')], { scorer, timeoutMs: 100 });
    await vi.advanceTimersByTimeAsync(200);
    const events = await playing;
    expect(offered(events)[0]).toHaveLength(catalogue.length);
    expect(events.filter(({ type }) => type === 'tools.unselected')).not.toEqual([]);
  });

  it('stops waiting for the scorer when the turn ends', async () => {
    let signal: AbortSignal | undefined;
    const scorer: ToolScorer = (_query, _tools, context) => (
      (signal = context.signal),
      new Promise<never>(() => undefined)
    );
    const subscription = concat(of<TurnEvent>(ask('mail')), NEVER)
      .pipe(takeUntil(timer(10)), selectTools({ maxTools: 1, scorer }))
      .subscribe();
    subscription.unsubscribe();
    expect(signal?.aborted).toBe(true);
  });

  it.each([
    [{ maxTools: 0 }, 'maxTools'],
    [{ always: 'read' }, 'always'],
    [{ scorer: 'keyword' }, 'scorer'],
    [{ timeoutMs: -1 }, 'timeoutMs'],
    [{ max: 1 }, 'max'],
  ])('rejects %j and names the option', (options, option) => {
    expect(() => selectTools(options as object)).toThrow(InvalidOptionError);
    expect(() => selectTools(options as object)).toThrow(expect.objectContaining({ option }));
  });
});

describe('keywordScorer', () => {
  const score = (query: string): readonly number[] =>
    keywordScorer()(query, catalogue, { signal: new AbortController().signal }) as readonly number[];
  const winner = (query: string): string | undefined =>
    catalogue[score(query).indexOf(Math.max(...score(query)))]?.name;

  it.each([
    ['please listBranches', 'list_branches'],
    ['invoices', 'create_invoice'],
    ['この文を翻訳して', 'translate'],
    ['searching the mailboxes', 'search_mail'],
  ])('ranks for "%s" the tool %s first', (query, name) => {
    expect(winner(query)).toBe(name);
  });

  it('weights a rare word higher than a common one', () => {
    expect(winner('send')).toBe('send_mail');
    expect(score('mail')[3]).toBe(score('mail')[4]);
  });

  it('returns zero scores for an empty request', () => {
    expect(score('')).toEqual(catalogue.map(() => 0));
  });
});

describe('embeddingScorer', () => {
  const context = { signal: new AbortController().signal };
  const embedOne = (text: string): readonly number[] => [text.includes('mail') ? 1 : 0, text.includes('git') ? 1 : 0];

  it('scores by similarity and embeds each tool once', async () => {
    const asked: (readonly string[])[] = [];
    const scorer = embeddingScorer({ embed: (texts) => (asked.push(texts), texts.map(embedOne)) });
    expect(await scorer('my mail', catalogue, context)).toEqual([0, 0, 0, 1, 1, 0]);
    expect(await scorer('git', catalogue, context)).toEqual([0, 1, 0, 0, 0, 0]);
    expect(asked.map(({ length }) => length)).toEqual([catalogue.length + 1, 1]);
  });

  it('refuses to be built without embed()', () => {
    expect(() => embeddingScorer({} as never)).toThrow('embeddingScorer(): "embed" is required');
  });

  it('rejects too few vectors', async () => {
    const scorer = embeddingScorer({ embed: () => [[1]] });
    await expect((async () => scorer('x', catalogue, context))()).rejects.toThrow('embed() must return 7 vectors');
  });
});
