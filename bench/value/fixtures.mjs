/**
 * Generates recorded runs in the forms of Claude Code, Codex and OpenAI chat. The work is invented; its shape is that of
 * coding agents: searches name files, files are read and quoted in edits, tests fail with names and codes, commits have
 * hashes, and later calls use what earlier results named. The usage comes from a simulated provider whose tokens, cache
 * and losses the cache model does not know.
 */
import { createRandom } from './random.mjs';

const nouns =
  'parser lexer session ledger invoice router socket buffer cursor policy quota digest tenant replica'.split(' ');
const verbs = 'parse format merge split encode decode resolve verify cancel retry flush attach render compact'.split(
  ' ',
);
const folders = 'core api store auth billing search worker shared'.split(' ');
const systemTokens = 14_000;
const timeToLiveMs = 5 * 60_000;

/** @type {(seed: number, count: number) => { name: string, text: string }[]} */
export const generateRuns = (seed, count) =>
  Array.from({ length: count }, (_, index) => {
    const random = createRandom(seed * 1000 + index);
    const kind = ['success', 'success', 'success', 'loop', 'success', 'retry'][index % 6];
    const steps = workOf(random, kind);
    const format = [claudeCode, codex, claudeCode, openAI][index % 4];
    const id = `run-${String(index).padStart(3, '0')}-${kind}`;
    withUsage(random, steps, format === claudeCode);
    return { name: `${id}.jsonl`, text: format(id, steps) };
  });

const title = (word) => word[0].toUpperCase() + word.slice(1);

const lineOf = (random) => {
  const [verb, noun, other] = [random.pick(verbs), random.pick(nouns), random.pick(nouns)];
  return random.pick([
    `export const ${verb}${title(noun)} = (${other}: ${title(other)}, limit = ${random.integer(1, 900)}): ${title(noun)} => {`,
    `  if (${other}.${noun}Id === undefined) throw new ${title(noun)}Error('E${random.integer(1000, 9999)}', ${other});`,
    `  const ${noun} = await ${other}s.${verb}({ id, retries: ${random.integer(1, 9)}, key: '${noun}-${random.hex(6)}' });`,
    `  return ${verb}${title(noun)}(${other}, { ${noun}: true, ${other}Limit: ${random.integer(10, 5000)} });`,
    `  // ${title(verb)} the ${noun} before the ${other} is released.`,
    `};`,
  ]);
};

/** Writes one run. @returns a list of `{ text, name, input, result, isError, second }` */
const workOf = (random, kind) => {
  const world = { paths: [], urls: ['https://docs.example.com/guide'], hashes: [], quotes: [], tests: [] };
  const newPath = () =>
    `src/${random.pick(folders)}/${random.pick(verbs)}-${random.pick(nouns)}${random.integer(1, 99)}.ts`;
  for (let count = 0; count < 4; count += 1) world.paths.push(newPath());
  // Recent names are used more often, but not only those.
  const known = (list) => (random.chance(0.65) ? random.pick(list.slice(-8)) : random.pick(list));
  const actions = {
    search: () => {
      const found = Array.from({ length: random.integer(3, 40) }, () => {
        const path = random.chance(0.5) ? random.pick(world.paths) : newPath();
        if (random.chance(0.4)) world.paths.push(path);
        return `${path}:${random.integer(1, 400)}:${lineOf(random)}`;
      });
      return {
        name: 'Grep',
        input: { pattern: `${random.pick(verbs)}${title(random.pick(nouns))}` },
        result: found.join('\n'),
      };
    },
    read: () => {
      const path = known(world.paths);
      const isHuge = random.chance(0.05);
      const lines = Array.from({ length: isHuge ? random.integer(1500, 4000) : random.integer(20, 260) }, () =>
        lineOf(random),
      );
      world.quotes.push({ path, line: random.pick(lines.slice(0, 200)) }, { path, line: random.pick(lines) });
      return { name: 'Read', input: { file_path: path }, result: lines.join('\n') };
    },
    edit: () => {
      const { path, line } = known(world.quotes.length > 0 ? world.quotes : [{ path: known(world.paths), line: '};' }]);
      return {
        name: 'Edit',
        input: { file_path: path, old_string: line, new_string: lineOf(random) },
        result: `The file ${path} has been updated.`,
      };
    },
    test: () => {
      const path = known(world.paths).replace('.ts', '.test.ts');
      const failing = Array.from(
        { length: random.integer(0, 5) },
        () => `${random.pick(verbs)} ${random.pick(nouns)} ${random.integer(1, 99)}`,
      );
      world.tests.push(path);
      const passed = Array.from(
        { length: random.integer(10, 120) },
        () => ` ✓ ${path} > ${random.pick(verbs)}s the ${random.pick(nouns)} (${random.integer(1, 90)} ms)`,
      );
      const failures = failing.map(
        (name) =>
          ` ✗ ${path} > ${name}\n   AssertionError: expected E${random.integer(1000, 9999)}\n   at ${path}:${random.integer(1, 300)}:7`,
      );
      return {
        name: 'Bash',
        input: { command: `npx vitest run ${path}` },
        result: [
          ...passed,
          ...failures,
          `Tests ${failing.length} failed | ${passed.length} passed`,
          `Duration ${random.integer(300, 4000)} ms`,
        ].join('\n'),
        isError: failing.length > 0,
      };
    },
    history: () => {
      const hashes = Array.from({ length: 8 }, () => random.hex(9));
      world.hashes.push(...hashes);
      return {
        name: 'Bash',
        input: { command: `git log --oneline -8 -- ${known(world.paths)}` },
        result: hashes.map((hash) => `${hash} ${random.pick(verbs)} the ${random.pick(nouns)}`).join('\n'),
      };
    },
    show: () => {
      if (world.hashes.length === 0) return actions.history();
      return {
        name: 'Bash',
        input: { command: `git show ${known(world.hashes)}` },
        result: Array.from(
          { length: random.integer(10, 150) },
          () => `${random.pick(['+', '-', ' '])}${lineOf(random)}`,
        ).join('\n'),
      };
    },
    fetch: () => {
      const links = Array.from(
        { length: 5 },
        () =>
          `https://docs.example.com/v${random.integer(1, 9)}/${random.pick(verbs)}/${random.pick(nouns)}-${random.hex(4)}`,
      );
      const url = known(world.urls);
      world.urls.push(...links);
      return {
        name: 'WebFetch',
        input: { url },
        result: Array.from(
          { length: random.integer(20, 120) },
          () =>
            `To ${random.pick(verbs)} a ${random.pick(nouns)}, see ${random.pick(links)} and set the ${random.pick(nouns)} limit to ${random.integer(1, 900)}.`,
        ).join('\n'),
      };
    },
  };
  const weighted = [
    'search',
    'search',
    'read',
    'read',
    'read',
    'edit',
    'edit',
    'edit',
    'test',
    'test',
    'history',
    'show',
    'fetch',
  ];
  const steps = [];
  let second = 0;
  const add = (call) => {
    // A person sometimes answers after the cache has expired.
    second += random.chance(0.03) ? random.integer(310, 900) : random.integer(3, 45);
    steps.push({
      text: random.chance(0.5) ? `Next I ${random.pick(verbs)} the ${random.pick(nouns)}.` : '',
      isError: false,
      ...call,
      second,
    });
  };
  const repeat = (times) => {
    const call = actions.test();
    const result = call.result.replace(/Tests \d+ failed/, 'Tests 1 failed');
    for (let time = 0; time < times; time += 1) {
      add({ ...call, isError: true, result: result.replace(/Duration \d+/, `Duration ${random.integer(300, 4000)}`) });
    }
  };
  const length = random.integer(25, kind === 'loop' ? 60 : 140);
  for (let step = 0; step < length; step += 1) add(actions[random.pick(weighted)]());
  // Waiting for a flaky test twice is no loop.
  if (kind === 'retry') repeat(2);
  if (kind === 'loop') repeat(random.integer(12, 40));
  if (kind !== 'loop') add({ text: 'The tests pass. I changed the files above and nothing else.', name: undefined });
  return steps;
};

/** Sets the usage of each step as a provider would report it. */
const withUsage = (random, steps, isAnthropic) => {
  // Tokens per character differ by run, and by message.
  const density = 1 / (3.4 + random.next() * 0.5);
  let input = systemTokens + 600;
  let cached = 0;
  let last = -Infinity;
  for (const step of steps) {
    const isKept = (step.second - last) * 1000 <= timeToLiveMs && !random.chance(0.02);
    const unit = isAnthropic ? 1 : 128;
    const cacheRead = isKept && cached >= 1024 ? Math.floor(Math.min(cached, input) / unit) * unit : 0;
    const output = 40 + Math.round((step.text.length + JSON.stringify(step.input ?? '').length) * density);
    step.usage = { input, cacheRead, cacheWrite: isAnthropic ? input - cacheRead : 0, output };
    cached = input;
    last = step.second;
    input += output + Math.round((step.result ?? '').length * density * (0.93 + random.next() * 0.14));
  }
};

const at = (second) => new Date(Date.UTC(2026, 9, 5, 9) + second * 1000).toISOString();
const task = 'The nightly build fails. Find out why, fix it, and run the tests.';
const lines = (values) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

const claudeCode = (id, steps) =>
  lines([
    { type: 'user', uuid: `${id}-u`, sessionId: id, timestamp: at(0), message: { role: 'user', content: task } },
    ...steps.flatMap((step, index) => {
      const { text, name, input, result, isError, second, usage } = step;
      const entry = { sessionId: id, requestId: `${id}-r${index}`, timestamp: at(second) };
      const message = { id: `${id}-m${index}`, model: 'claude-sonnet-4-5', role: 'assistant' };
      const tokens = {
        input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
        cache_read_input_tokens: usage.cacheRead,
        cache_creation_input_tokens: usage.cacheWrite,
      };
      const blocks = [
        ...(text === '' ? [] : [{ type: 'text', text }]),
        ...(name === undefined ? [] : [{ type: 'tool_use', id: `${id}-t${index}`, name, input }]),
      ];
      const answers = blocks.map((block, part) => ({
        ...entry,
        type: 'assistant',
        uuid: `${id}-${index}-${part}`,
        message: {
          ...message,
          content: [block],
          usage: { ...tokens, output_tokens: part < blocks.length - 1 ? 1 : usage.output },
        },
      }));
      if (name === undefined) return answers;
      const content = [{ type: 'tool_result', tool_use_id: `${id}-t${index}`, content: result, is_error: isError }];
      return [...answers, { ...entry, type: 'user', uuid: `${id}-${index}-r`, message: { role: 'user', content } }];
    }),
  ]);

const codex = (id, steps) => {
  const total = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  const entry = (second, type, payload) => ({ timestamp: at(second), type, payload });
  const said = (role, kind, text) => ({ type: 'message', role, content: [{ type: kind, text }] });
  return lines([
    entry(0, 'session_meta', { id }),
    entry(0, 'turn_context', { model: 'gpt-5' }),
    entry(0, 'response_item', said('user', 'input_text', task)),
    ...steps.flatMap(({ text, name, input, result, isError, second, usage }, index) => {
      total.input_tokens += usage.input;
      total.cached_input_tokens += usage.cacheRead;
      total.output_tokens += usage.output;
      total.total_tokens += usage.input + usage.output;
      const call = { type: 'function_call', call_id: `c${index}`, name, arguments: JSON.stringify(input) };
      const output = JSON.stringify({ output: result, metadata: { exit_code: isError ? 1 : 0 } });
      return [
        ...(text === '' ? [] : [entry(second, 'response_item', said('assistant', 'output_text', text))]),
        ...(name === undefined ? [] : [entry(second, 'response_item', call)]),
        entry(second, 'event_msg', { type: 'token_count', info: { total_token_usage: { ...total } } }),
        ...(name === undefined
          ? []
          : [entry(second, 'response_item', { type: 'function_call_output', call_id: `c${index}`, output })]),
      ];
    }),
  ]);
};

const openAI = (id, steps) =>
  lines([
    { role: 'user', content: task },
    ...steps.flatMap(({ text, name, input, result, second, usage }, index) => [
      {
        role: 'assistant',
        content: text,
        model: 'gpt-5',
        timestamp: at(second),
        usage: {
          prompt_tokens: usage.input,
          completion_tokens: usage.output,
          prompt_tokens_details: { cached_tokens: usage.cacheRead },
        },
        ...(name !== undefined && {
          tool_calls: [
            { id: `${id}-${index}`, type: 'function', function: { name, arguments: JSON.stringify(input) } },
          ],
        }),
      },
      ...(name === undefined ? [] : [{ role: 'tool', tool_call_id: `${id}-${index}`, content: result }]),
    ]),
  ]);
