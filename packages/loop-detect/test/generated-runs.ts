import fc from 'fast-check';
import { failed, ok, oneByOne, rounds, type Batch, type Move } from './play.js';

/** Runs by description. Names, texts and volatile parts are random. */
export type Families = Readonly<Record<string, fc.Arbitrary<readonly Batch[]>>>;

const word = fc
  .array(fc.constantFrom('ka', 'lo', 'mi', 'ren', 'sto', 'vu', 'da', 'pex', 'til', 'gro', 'ban', 'quo'), {
    minLength: 2,
    maxLength: 3,
  })
  .map((parts) => parts.join(''));
const words = (min: number, max = min): fc.Arbitrary<string> =>
  fc.array(word, { minLength: min, maxLength: max }).map((list) => list.join(' '));
/** Different lines. */
const lists = (min: number, max: number): fc.Arbitrary<readonly string[]> =>
  fc.uniqueArray(words(3, 6), { minLength: min, maxLength: max });
const toolName = fc.oneof(
  fc.tuple(word, word).map(([one, two]) => `${one}_${two}`),
  fc.tuple(word, word, word).map((parts) => `mcp__${parts.join('__')}`),
  fc.tuple(fc.constantFrom('run', 'build', 'start', 'call', 'compute'), word).map(([verb, noun]) => verb + noun),
);
const shellName = fc.constantFrom('bash', 'execute_command', 'terminal', 'Bash');
const path = fc
  .tuple(fc.constantFrom('src', 'lib', 'test', '/home/dev/app'), word, fc.constantFrom('ts', 'py', 'go'))
  .map(([folder, file, end]) => `${folder}/${file}.${end}`);
const command = fc
  .tuple(fc.constantFrom('npm run', 'python', './bin/run', 'make', 'cargo'), word)
  .map((parts) => parts.join(' '));

/** Generates the text of one round. */
const hex =
  (length: number): ((random: Draw) => string) =>
  (random) =>
    Array.from({ length }, () => '0123456789abcdef'[random(16)]).join('');
type Draw = (below: number) => number;
type Slot = (random: Draw, round: number) => string;
const two = (value: number): string => String(value).padStart(2, '0');

/** A time as the loggers of Python and Java write it. */
const logTime = (random: Draw): string =>
  `${two(random(24))}:${two(random(60))}:${two(random(60))},${100 + random(900)}`;

/** Volatile parts, which differ between equal runs. */
export const volatileSlots: Readonly<Record<string, Slot>> = {
  port: (random) => `listening on port ${20_000 + random(40_000)}`,
  'port of a URL': (random) => `at http://127.0.0.1:${20_000 + random(40_000)}/`,
  seed: (random) => `seed=${random(1e9)}`,
  size: (random) => `${random(900)}.${random(9)} MB`,
  bytes: (random) => `wrote ${random(90_000)} bytes`,
  counter: (_, round) => `request #${round + 17}`,
  calls: (_, round) => `"calls": ${round}`,
  'labelled seconds': (random) => `"idle_for_seconds": ${random(900)}, "ageMs": ${random(9_000)}`,
  'a count of reads': (_, round) => `(12/12 lines shown · read ${round + 1}× this session)`,
  milliseconds: (random) => `in ${random(9_000)}ms`,
  seconds: (random) => `took ${random(60)}.${random(99)} seconds`,
  time: (random) => `at ${two(random(24))}:${two(random(60))}:${two(random(60))}`,
  'ISO time': (random) => `2026-11-${two(1 + random(28))}T${two(random(24))}:${two(random(60))}:07.${random(999)}Z`,
  epoch: (random) => `ts ${1_700_000_000_000 + random(1e9)}`,
  commit: (random) => `commit ${hex(7)(random)}`,
  digest: (random) => `sha256:${hex(64)(random)}`,
  uuid: (random) => [8, 4, 4, 4, 12].map((length) => hex(length)(random)).join('-'),
  'temporary folder': (random) => `/tmp/build-${hex(6)(random)}/out`,
  'temporary file': (random) => `/tmp/tmp.${hex(10)(random)}`,
  pid: (random) => `pid ${random(60_000)}`,
  'pid in brackets': (random) => `worker[${random(60_000)}]: exit`,
  address: (random) => `0x${hex(12)(random)}`,
  attempt: (_, round) => `attempt ${round + 1}`,
  memory: (random) => `heap ${random(400)}M`,
  'request id': (random) => `request_id=${hex(12)(random)}`,
};

/** Generates numbers below a bound from a seed, so that a run can be shrunk and repeated. */
const drawing = (seed: number): Draw => {
  let state = seed >>> 0 || 1;
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9;
    state >>>= 0;
    return (state >>> 8) % below;
  };
};

const slotNames = Object.keys(volatileSlots);
/** A text with volatile parts and otherwise constant words. */
const template = fc
  .record({
    words: fc.array(words(2, 5), { minLength: 1, maxLength: 4 }),
    slots: fc.array(fc.constantFrom(...slotNames), { minLength: 1, maxLength: 3 }),
    glue: fc.constantFrom(' ', '\n', ' | ', ', '),
  })
  .map(
    ({ words: pieces, slots, glue }) =>
      (random: Draw, round: number): string =>
        [...pieces, ...slots.map((slot) => volatileSlots[slot]?.(random, round) ?? '')].join(glue),
  );

const errors: Readonly<Record<string, readonly string[]>> = {
  permission: [
    'Permission denied',
    'Access is denied',
    'You are not allowed to do this',
    'Forbidden',
    'EACCES: permission denied',
    'Operation not permitted',
    '403 Forbidden',
  ],
  missing: [
    'Not found',
    'No such file or directory',
    'ENOENT: no such file',
    'The resource does not exist',
    '404 Not Found',
    'Could not find the item',
  ],
  timeout: [
    'Timed out',
    'Request timed out',
    'The operation took too long',
    'ETIMEDOUT',
    'Deadline exceeded',
    'timeout',
  ],
  network: [
    'Connection refused',
    'ECONNREFUSED',
    'Could not connect to the server',
    'Network unreachable',
    '503 Service Unavailable',
    'socket hang up: connection closed',
  ],
  invalid: [
    'Invalid input',
    'Validation failed: a field is required',
    'Bad request: malformed body',
    'Unexpected token in input',
    '400 Bad Request',
  ],
};
const errorKind = fc.constantFrom(...Object.keys(errors));
const shortErrors = [
  'timeout',
  'denied',
  'ENOENT',
  '503',
  'failed',
  'EPERM',
  'error',
  'no',
  '404',
  'EIO',
  'abort',
  'refused',
];
/** Prefixes of errors that frameworks return as ordinary results. */
const reportPrefixes = [
  'Error: ',
  'error: ',
  'ERROR ',
  'Failed: ',
  'MCP error -32603: ',
  'Tool execution failed: ',
  'The tool raised error: ',
  '3 errors found: ',
  'The record already exists: ',
  'Error executing tool: ',
  'Exception: ',
  '❌ ',
  'RuntimeError: ',
  'Request failed: ',
];

const notMade = fc.constantFrom(
  'Your changes have NOT been applied.',
  'The file was not changed.',
  'The patch could not be applied.',
  'The file was reverted to its original state.',
  'The edit was not saved.',
);

const seed = fc.nat();
const rounds40 = 40;

/** Loops of 40 calls that never repeat exactly. */
export const loops: Families = {
  'a report in other words, with nothing in between': fc
    .record({ tool: toolName, target: word, phrases: lists(4, 8), isNested: fc.boolean(), seed })
    .map(({ tool, target, phrases, isNested, seed: given }) => {
      const draw = drawing(given);
      const phrase = (): string => phrases[draw(phrases.length)] ?? '';
      return rounds(rounds40, () => {
        const text = `${phrase()}. ${phrase()}${['', '!', ', again.'][draw(3)]}`;
        const input = isNested ? { type: 'report', result: { to: target, text } } : { to: target, text };
        return [ok(tool, input, `Accepted as ${hex(7)(draw)}.`)];
      });
    }),
  'a document that is rewritten from the same words': fc
    .record({ tool: fc.constantFrom('write', 'write_file', 'create_file'), file: path, lines: lists(6, 12), seed })
    .map(({ tool, file, lines, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, () => {
        const content = lines.toSorted(() => draw(3) - 1).join('\n');
        return [ok(tool, { path: file, content }, `Wrote ${content.length - draw(9)} bytes to ${file}`)];
      });
    }),
  'a log that grows by lines like those before': fc
    .record({ tool: fc.constantFrom('read', 'BashOutput'), lines: lists(2, 6), shown: fc.nat(30), seed })
    .map(({ tool, lines, shown, seed: given }) => {
      const draw = drawing(given);
      const log = ['started'];
      return rounds(rounds40, () => {
        const added = Array.from({ length: 1 + draw(4) }, () => `${logTime(draw)} ${lines[draw(lines.length)] ?? ''}`);
        log.push(...added);
        return [ok(tool, { path: 'app.log' }, log.slice(-(shown < 10 ? log.length : shown)).join('\n'))];
      });
    }),
  'a record that is created and deleted again': fc
    .record({ thing: word, title: words(1, 3), asUuid: fc.boolean(), seed })
    .map(({ thing, title, asUuid, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, () => {
        const id = asUuid ? (volatileSlots['uuid']?.(draw, 0) ?? '') : `${thing}-${100 + draw(900)}`;
        return [ok(`create_${thing}`, { title }, { id, title }), ok(`delete_${thing}`, { id }, `Deleted ${id}.`)];
      });
    }),
  'a click on a page that numbers its elements again': fc
    .record({ label: word, page: words(3, 8), seed })
    .map(({ label, page, seed: given }) => {
      const draw = drawing(given);
      const ref = (): string => `e${draw(400)}`;
      return rounds(rounds40, () => [
        ok('browser_click', { element: label, ref: ref() }, `- text: ${page} [ref=${ref()}]\n- button [ref=${ref()}]`),
      ]);
    }),
  'one call with volatile parts in its outcome': fc
    .record({ tool: toolName, topic: word, text: template, seed })
    .map(({ tool, topic, text, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, (round) => [ok(tool, { topic }, text(draw, round))]);
    }),
  'one command with volatile parts in its outcome': fc
    .record({ tool: shellName, line: command, text: template, fails: fc.boolean(), seed })
    .map(({ tool, line, text, fails, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, (round) =>
        fails
          ? [failed(tool, { command: line }, `${text(draw, round)}\nExit code: 1`)]
          : [ok(tool, { command: line }, text(draw, round))],
      );
    }),
  'one call whose JSON has volatile members': fc
    .record({
      tool: toolName,
      topic: word,
      state: word,
      slots: fc.array(fc.constantFrom(...slotNames), { minLength: 1, maxLength: 4 }),
      seed,
    })
    .map(({ tool, topic, state, slots, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, (round) => [
        ok(
          tool,
          { topic },
          {
            type: 'json',
            value: {
              state,
              pid: draw(9_999),
              at: 1_700_000_000_000 + draw(1e9),
              parts: slots.map((slot) => volatileSlots[slot]?.(draw, round)),
            },
          },
        ),
      ]);
    }),
  'a failure reported as ok, with different inputs': fc
    .record({
      tool: toolName,
      prefix: fc.constantFrom(...reportPrefixes),
      rest: words(2, 6),
      quote: fc.constantFrom('"', "'", '`'),
      seed,
    })
    .map(({ tool, prefix, rest, quote, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, (round) => {
        const query = `${hex(5)(draw)} ${'abcdefghij'[round % 10]}`;
        return [ok(tool, { query }, `${prefix}${rest} ${quote}${query}${quote}`)];
      });
    }),
  'a failure in the content parts of an MCP result': fc
    .record({ tool: toolName, kind: errorKind, nth: fc.nat(20), isFlagged: fc.boolean() })
    .map(({ tool, kind, nth, isFlagged }) => {
      const list = errors[kind] ?? [];
      const text = `${isFlagged ? '' : 'Error: '}${list[nth % list.length]}`;
      return rounds(rounds40, (round) => [
        ok(tool, { target: `t-${round}` }, { content: [{ type: 'text', text }], ...(isFlagged && { isError: true }) }),
      ]);
    }),
  'a failure of a few letters, with different inputs': fc
    .record({ tool: toolName, text: fc.constantFrom(...shortErrors) })
    .map(({ tool, text }) => rounds(rounds40, (round) => [failed(tool, { item: `item ${round}` }, text)])),
  'the same few letters from a shell': fc
    .record({ tool: shellName, text: fc.constantFrom(...shortErrors), word })
    .map(({ tool, text, word: name }) =>
      rounds(rounds40, (round) => [failed(tool, { command: `${name} --step ${round}` }, text)]),
    ),
  'a command with a different comment each time': fc
    .record({ tool: shellName, line: command, remark: words(1, 4), output: words(1, 6) })
    .map(({ tool, line, remark, output }) =>
      rounds(rounds40, (round) => [ok(tool, { command: `${line} # ${remark} ${round}` }, output)]),
    ),
  'calls in a circle with volatile outcomes': fc
    .record({
      tools: fc.uniqueArray(toolName, { minLength: 2, maxLength: 5 }),
      texts: fc.array(template, { minLength: 5, maxLength: 5 }),
      seed,
    })
    .map(({ tools, texts, seed: given }) => {
      const draw = drawing(given);
      return rounds(Math.ceil(60 / tools.length), (round) =>
        tools.map((tool, index) => ok(tool, {}, texts[index]?.(draw, round) ?? '')),
      );
    }),
  'unordered calls with volatile outcomes': fc
    .record({
      tools: fc.uniqueArray(toolName, { minLength: 2, maxLength: 4 }),
      texts: fc.array(template, { minLength: 4, maxLength: 4 }),
      seed,
    })
    .map(({ tools, texts, seed: given }) => {
      const draw = drawing(given);
      return rounds(60, (round) => {
        const index = draw(tools.length);
        return [ok(tools[index] ?? '', { index }, texts[index]?.(draw, round) ?? '')];
      });
    }),
  'one call with alternating outcomes': fc
    .record({ tool: toolName, texts: fc.uniqueArray(words(2, 8), { minLength: 2, maxLength: 4 }), seed })
    .map(({ tool, texts, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, () => [ok(tool, {}, texts[draw(texts.length)] ?? '')]);
    }),
  'one failure with different wording and inputs': fc
    .record({ tool: toolName, kind: errorKind, asOk: fc.boolean(), seed })
    .map(({ tool, kind, asOk, seed: given }) => {
      const draw = drawing(given);
      const list = errors[kind] ?? [];
      return rounds(rounds40, (round) => {
        const text = list[draw(list.length)] ?? '';
        return [asOk ? ok(tool, { round }, `Error: ${text}`) : failed(tool, { round }, text)];
      });
    }),
  'one call that fails with different wording': fc
    .record({ tool: toolName, kinds: fc.array(errorKind, { minLength: 1, maxLength: 3 }), seed })
    .map(({ tool, kinds, seed: given }) => {
      const draw = drawing(given);
      const list = kinds.flatMap((kind) => errors[kind] ?? []);
      return rounds(rounds40, (round) => [failed(tool, {}, `${list[draw(list.length)]} (${draw(500)} of ${round})`)]);
    }),
  'outcomes that differ in one word': fc
    .record({ tool: toolName, text: fc.array(word, { minLength: 8, maxLength: 30 }), seed })
    .map(({ tool, text, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, () => {
        const changed = [...text];
        changed[draw(text.length)] = `x${hex(4)(draw).replaceAll(/\d/g, 'q')}`;
        return [ok(tool, { topic: 'same' }, changed.join(' '))];
      });
    }),
  'a rising number without progress': fc
    .record({
      tool: toolName,
      before: words(1, 4),
      behind: words(1, 3),
      start: fc.nat(100),
      step: fc.integer({ min: 1, max: 50 }),
    })
    .map(({ tool, before, behind, start, step }) =>
      rounds(rounds40, (round) => [ok(tool, {}, `${before} ${start + round * step} ${behind}`)]),
    ),
  'different commands with the same failure, which quotes them': fc
    .record({ tool: shellName, program: word, rest: words(2, 5), seed })
    .map(({ tool, program, rest, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, () => {
        const file = `${hex(6)(draw)}.txt`;
        return [
          failed(
            tool,
            { command: `${program} ${file}` },
            `${program}: '${file}': ${rest} (pid ${draw(9_999)})\nExit code: 2`,
          ),
        ];
      });
    }),
  'an edit that never matches, with reads of the same file in between': fc
    .record({ file: path, asOk: fc.boolean(), seed })
    .map(({ file, asOk, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40 / 2, () => {
        const oldText = `return ${hex(4)(draw)}(${draw(100)});`;
        const text = `${asOk ? 'Error: ' : ''}The text "${oldText}" was not found in ${file}`;
        const input = { path: file, oldText };
        return [
          asOk ? ok('edit_file', input, text) : failed('edit_file', input, text),
          ok('read_file', { path: file }, 'const a = 1;'),
        ];
      });
    }),
  'an edit that fails, with a long report that shows the file': fc
    .record({
      tool: fc.constantFrom('replace_in_file', 'edit_file', 'apply_patch'),
      file: path,
      content: lists(40, 60),
      seed,
    })
    .map(({ tool, file, content, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, () => {
        const diff = `<<< ${hex(6)(draw)}\n=== ${hex(9)(draw)}`;
        const text = `The edit failed with this error:\nThe block\n${diff}\nmatches nothing.\n${file}:\n${content.join('\n')}`;
        return [ok(tool, { path: file, diff }, text)];
      });
    }),
  'an edit that is shown and not made': fc
    .record({ asCommand: fc.boolean(), content: lists(40, 60), first: words(6, 12), end: notMade, seed })
    .map(({ asCommand, content, first, end, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, () => {
        const from = draw(90);
        const lines = Array.from({ length: 3 }, () => `return ${hex(12)(draw)};`);
        const input = asCommand
          ? { command: `edit ${from}:${from + 3}\n${lines.join('\n')}\nend` }
          : { path: 'a.py', from, text: lines.join('\n') };
        const shown = lines.map((line, index) => `${from + index}:${line}`).join('\n');
        const report = `${first}:\n${shown}\nThis is the original:\n${content.join('\n')}\n${end} Try again.`;
        return [ok(asCommand ? 'edit' : 'edit_lines', input, report)];
      });
    }),
  'searches that return records of a few in any order': fc
    .record({
      tool: fc.constantFrom('web_search', 'search_docs', 'kb_query'),
      pages: lists(6, 9),
      asText: fc.boolean(),
      seed,
    })
    .map(({ tool, pages, asText, seed: given }) => {
      const draw = drawing(given);
      const records = pages.map((title, index) => ({
        title,
        url: `https://a.example/${index}`,
        text: `about ${title} and more`,
      }));
      return rounds(rounds40 + 10, () => {
        const query = `${hex(3)(draw)} ${hex(3)(draw)} ${hex(3)(draw)}`;
        const found = records
          .map((record) => ({ record, place: draw(1e6) }))
          .toSorted((left, right) => left.place - right.place)
          .slice(0, 5)
          .map(({ record }) => record);
        const text = found.map(({ title, text: about }) => `- ${title}\n  ${about}`).join('\n');
        return [ok(tool, { query }, asText ? text : { type: 'json', value: { ok: true, results: found } })];
      });
    }),
  'clicks near two places that show two screens in turn': fc
    .record({ screens: fc.tuple(lists(5, 8), lists(5, 8)), x: fc.integer({ min: 50, max: 900 }), seed })
    .map(({ screens, x, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40 + 10, (round) => [
        ok('desktop_click', { x: x + (round % 2) * 200 + draw(9), y: 40 + draw(9) }, screens[round % 2]?.join('\n')),
      ]);
    }),
  'a failing test between new notes': fc
    .record({ note: fc.constantFrom('TodoWrite', 'think', 'update_plan'), text: template, seed })
    .map(({ note, text, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40 / 2, (round) => [
        failed('bash', { command: 'npm test' }, text(draw, round)),
        ok(note, { todos: `step ${hex(6)(draw)}` }, 'Noted.'),
      ]);
    }),
  'searches without results, with different wording': fc
    .record({ tool: fc.constantFrom('search_code', 'grep', 'web_search', 'find_files'), form: fc.nat(2), seed })
    .map(({ tool, form, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, () => {
        const query = hex(8)(draw);
        return [ok(tool, { query }, [`No results for "${query}".`, { results: [], query }, 'No matches found'][form])];
      });
    }),
  'a constant state with noise': fc
    .record({
      tool: fc.constantFrom('get_status', 'wait_for_job', 'check_progress'),
      state: words(1, 3),
      text: template,
      seed,
    })
    .map(({ tool, state, text, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, (round) => [ok(tool, { job: 7 }, `${state}\n${text(draw, round)}`)]);
    }),
  'equivalent commands with the same output': fc
    .record({ tool: shellName, file: path, output: words(4, 20) })
    .map(({ tool, file, output }) =>
      rounds(rounds40, (round) => [
        ok(
          tool,
          {
            command: [
              `cat ${file}`,
              `head -n ${round + 50} ${file}`,
              `cat ./${file}`,
              `sed -n '1,${round + 90}p' ${file}`,
            ][round % 4],
          },
          output,
        ),
      ]),
    ),
  'two alternating failures of one tool': fc
    .record({ tool: toolName, first: words(3, 6), second: words(3, 6) })
    .map(({ tool, first, second }) =>
      rounds(rounds40, (round) => [failed(tool, { round: `r${round}` }, round % 2 === 0 ? first : second)]),
    ),
  'a command behind pauses of different lengths': fc
    .record({ tool: shellName, line: command, output: words(2, 8), seed })
    .map(({ tool, line, output, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, () => [ok(tool, { command: `sleep ${1 + draw(90)}; ${line}` }, output)]);
    }),
  'the same page of a list for different places': fc
    .record({ tool: word, items: fc.array(words(3, 5), { minLength: 3, maxLength: 9 }), form: fc.nat(2), seed })
    .map(({ tool, items, form, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, (page) => {
        const [input, output] = [
          [{ page }, { items, page }],
          [{ cursor: hex(20)(draw) }, { items, next_cursor: hex(20)(draw) }],
          [{ offset: page * 50 }, { items, total: 7 }],
        ][form] ?? [{}, {}];
        return [ok(`list_${tool}`, input, JSON.stringify(output))];
      });
    }),
  'a page that shows the same after each click': fc
    .record({ names: fc.array(words(2, 3), { minLength: 4, maxLength: 9 }), seed })
    .map(({ names, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, () => {
        const shown = names.map((name) => `- button "${name}" [ref=e${draw(900)}]`).join('\n');
        return [ok('browser_click', { ref: `e${draw(900)}` }, `Clicked. The page has these elements:\n${shown}`)];
      });
    }),
  'an edit that reports that nothing was replaced': fc
    .record({ tool: fc.constantFrom('str_replace', 'edit_file', 'apply_patch'), file: path, seed })
    .map(({ tool, file, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, () => {
        const old = `return ${hex(6)(draw)};`;
        return [ok(tool, { path: file, old }, `No replacement was performed: \`${old}\` is not in ${file}.`)];
      });
    }),
  'a constant state between pauses': fc
    .record({ tool: fc.constantFrom('wait', 'sleep'), state: words(1, 3), text: words(1, 3), seed })
    .map(({ tool, state, text, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, () => [ok(tool, { seconds: 1 + draw(90) }, text), ok('get_status', { job: 7 }, state)]);
    }),
  'a failing command between pauses': fc
    .record({ tool: shellName, run: command, length: fc.integer({ min: 1, max: 90 }), text: template, seed })
    .map(({ tool, run, length, text, seed: given }) => {
      const draw = drawing(given);
      return rounds(rounds40, (round) => [
        ok(tool, { command: `sleep ${length}` }, ''),
        failed(tool, { command: run }, text(draw, round)),
      ]);
    }),
  'a figure that alternates between two values': fc
    .record({
      tool: fc.constantFrom('get_level', 'read_value', 'query_metric'),
      values: fc.tuple(fc.nat(99), fc.nat(99)),
    })
    .map(({ tool, values }) => rounds(rounds40, (round) => [ok(tool, { id: 1 }, `value ${values[round % 2]}`)])),
  'one thought under a new number': fc
    .record({ tool: fc.constantFrom('think', 'mcp__sequential-thinking__sequentialthinking'), thought: words(3, 8) })
    .map(({ tool, thought }) =>
      rounds(rounds40, (round) => [
        ok(tool, { thought, thoughtNumber: round + 1 }, { thoughtNumber: round + 1, thoughtHistoryLength: round + 1 }),
      ]),
    ),
  'a failure in a list of content parts, in several languages': fc
    .record({
      tool: toolName,
      start: fc.constantFrom('Error:', 'Fehler:', 'Erreur :', '错误：', 'エラー:'),
      text: words(2, 5),
    })
    .map(({ tool, start, text }) =>
      rounds(rounds40, (round) => [ok(tool, { item: `i${round}` }, [{ type: 'text', text: `${start} ${text}` }])]),
    ),
};

const content = fc.array(words(3, 8), { minLength: 3, maxLength: 12 }).map((lines) => lines.join('\n'));
const contents = (min: number, max: number): fc.Arbitrary<readonly string[]> =>
  fc.array(content, { minLength: min, maxLength: max });
const edit = (file: string, round: number): Move =>
  ok('edit', { path: file, oldText: `a${round}`, newText: `a${round + 1}` }, `The file ${file} has been updated.`);

/** Runs that make progress. None may be stopped, and at most 1 % may cause a warning. */
export const healthy: Families = {
  'a wait whose remaining time falls': fc
    .record({
      tool: fc.oneof(toolName, fc.constant('head_object')),
      form: fc.constantFrom(
        (minutes: number) => `eta_minutes=${minutes}`,
        (minutes: number) => `about ${minutes} minutes remaining`,
        (minutes: number) => `{"restore":{"remainingSeconds":${minutes * 60}}}`,
      ),
      ongoing: fc.constantFrom('ongoing-request="true"', 'in progress:', 'Restoring...', '"pending": true', 'NotReady'),
      count: fc.integer({ min: 6, max: 19 }),
      name: word,
    })
    .map(({ tool, form, ongoing, count, name }) =>
      rounds(count, (round) => [ok(tool, { name }, `${ongoing} ${form((count - round) * 10)}`)]),
    ),
  'figures that a statement reads until they are complete': fc
    .record({
      tool: fc.constantFrom('sql', 'run_sql', 'execute_statement', 'graphql'),
      count: fc.integer({ min: 10, max: 25 }),
      name: word,
    })
    .map(({ tool, count, name }) =>
      rounds(count, (round) => [
        ok(
          tool,
          { query: `SELECT phase, done FROM progress_of_${name}` },
          `scan of the table|${round * 900}|${count * 900}`,
        ),
      ]),
    ),
  'messages to one person that each say something else': fc
    .record({ tool: fc.constantFrom('send_message', 'slack_post', 'notify_user', 'yield'), texts: lists(20, 40) })
    .map(({ tool, texts }) =>
      rounds(texts.length, (round) => [
        ok(tool, { channel: 'general', text: `${texts[round]}, and more about it` }, { ok: true, ts: `17.${round}` }),
      ]),
    ),
  'entries that differ in one name or number': fc
    .record({
      tool: fc.constantFrom('add_task', 'create_issue', 'remember'),
      names: fc.uniqueArray(word, { minLength: 20, maxLength: 40 }),
      isNumbered: fc.boolean(),
    })
    .map(({ tool, names, isNumbered }) =>
      rounds(names.length, (round) => [
        ok(
          tool,
          { list: 'today', text: `Remind ${isNumbered ? `customer ${round + 1}` : names[round]} of the invoice` },
          `Added entry ${round}.`,
        ),
      ]),
    ),
  'a document that is written in parts': fc.record({ file: path, parts: contents(20, 30) }).map(({ file, parts }) =>
    rounds(parts.length, (round) => {
      const content = parts.slice(0, round + 1).join('\n\n');
      return [ok('write_file', { path: file, content }, `Wrote ${content.length} bytes to ${file}`)];
    }),
  ),
  'statements that are run, each with its own result': fc
    .record({
      tool: fc.constantFrom('run_python', 'execute_code', 'sql'),
      lines: lists(4, 6),
      results: lists(24, 40),
      seed,
    })
    .map(({ tool, lines, results, seed: given }) => {
      const draw = drawing(given);
      return rounds(results.length, (round) => [
        ok(tool, { code: `select ${lines[draw(lines.length)]} from ${lines[draw(lines.length)]}` }, results[round]),
      ]);
    }),
  'documents with titles that begin like failures': fc
    .record({
      tool: fc.constantFrom('read_file', 'fetch_page', 'get_section'),
      noun: fc.constantFrom(
        'Error',
        'Exception',
        'Failure',
        'Fault',
        'Network',
        'Timeout',
        'Quota',
        'Access',
        'Conflict',
      ),
      mark: fc.constantFrom('', '# ', '## '),
      bodies: fc.array(words(20, 40), { minLength: 8, maxLength: 20 }),
    })
    .map(({ tool, noun, mark, bodies }) =>
      rounds(bodies.length, (round) => {
        const title = ['handling', 'codes', 'policy', 'guide'][round % 4];
        return [ok(tool, { name: `page-${round}` }, `${mark}${noun} ${title}\n\n${bodies[round]}`)];
      }),
    ),
  'edits whose long reports show the file': fc
    .record({ files: fc.uniqueArray(path, { minLength: 12, maxLength: 24 }), content: lists(40, 60), seed })
    .map(({ files, content, seed: given }) => {
      const draw = drawing(given);
      return rounds(files.length, (round) => {
        const diff = `<<< ${hex(6)(draw)}\n=== ${hex(9)(draw)}`;
        const text = `The file was saved, and an error in it was fixed.\n${content.join('\n')}\n${diff}`;
        return [ok('replace_in_file', { path: files[round], diff }, text)];
      });
    }),
  'checks of different things between labels': fc
    .record({ tool: shellName, names: fc.uniqueArray(word, { minLength: 12, maxLength: 24 }), outputs: lists(24, 30) })
    .map(({ tool, names, outputs }) =>
      rounds(names.length, (round) => [
        ok(tool, { command: `echo "== state ==" && cat ${names[round]}.txt` }, `== state ==\n${outputs[round]}`),
      ]),
    ),
  'searches that share records and find one more each': fc
    .record({ tool: fc.constantFrom('web_search', 'search_docs'), pages: lists(30, 40) })
    .map(({ tool, pages }) =>
      rounds(pages.length - 3, (round) => [
        ok(
          tool,
          { query: `find ${pages[round]}` },
          pages
            .slice(round, round + 4)
            .map((title) => `- ${title} and more`)
            .join('\n'),
        ),
      ]),
    ),
  'a bisect': fc
    .record({ tool: shellName, marks: fc.array(fc.constantFrom('good', 'bad'), { minLength: 8, maxLength: 20 }), seed })
    .map(({ tool, marks, seed: given }) => {
      const draw = drawing(given);
      return rounds(marks.length, (round) => [
        ok(
          tool,
          { command: `git bisect ${marks[round]}` },
          `Bisecting: ${2 ** (marks.length - round)} left\n[${hex(40)(draw)}] a commit`,
        ),
        failed(tool, { command: 'npm test' }, `${1 + draw(3)} failing, 20 passing in ${draw(900)}ms`),
      ]);
    }),
  'a sensor whose figure moves up and down': fc
    .record({
      tool: fc.constantFrom('get_temperature', 'get_quote', 'query_metric', 'bash'),
      run: fc.constantFrom('redis-cli llen jobs', 'curl -s http://sensor/', 'uptime', 'cat /sys/class/thermal/temp'),
      unit: words(1, 4),
      seed,
    })
    .map(({ tool, run, unit, seed: given }) => {
      const draw = drawing(given);
      const input = tool === 'bash' ? { command: run } : { id: 1 };
      return rounds(rounds40, () => [ok(tool, input, `${unit}: ${20 + draw(900) / 10}`)]);
    }),
  'waiting until a service is up': fc
    .record({
      tool: shellName,
      run: fc.constantFrom(
        'pg_isready -h localhost',
        'mysqladmin ping',
        'redis-cli ping',
        'curl -s -o /dev/null -w "%{http_code}" http://localhost:3000',
        'dig +short app.example.com',
      ),
      text: words(2, 6),
      times: fc.integer({ min: 2, max: 9 }),
    })
    .map(({ tool, run, text, times }) => [
      ...rounds(times, () => [failed(tool, { command: run }, text)]),
      ...oneByOne([ok(tool, { command: run }, 'up'), ok(tool, { command: 'npm run migrate' }, 'migrated')]),
    ]),
  'waiting until a lock is released': fc
    .record({
      tool: shellName,
      run: command,
      pid: fc.integer({ min: 100, max: 9_000 }),
      times: fc.integer({ min: 2, max: 9 }),
    })
    .map(({ tool, run, pid, times }) => [
      ...rounds(times, () => [
        failed(tool, { command: run }, `E: Could not get lock /var/lib/lock. It is held by process ${pid} (updater)`),
      ]),
      ...oneByOne([ok(tool, { command: run }, 'done')]),
    ]),
  'thoughts between reads': fc
    .array(words(8, 12), { minLength: 8, maxLength: 20 })
    .map((thoughts) =>
      rounds(thoughts.length, (round) => [
        ok('think', { thought: thoughts[round] }, 'Your thought has been logged.'),
        ok('read_file', { path: `src/${round}.ts` }, `export const a = '${thoughts[round]}';`),
      ]),
    ),
  'tests between edits, with fewer failures each time': fc
    .record({ file: path, tool: shellName, failures: fc.integer({ min: 2, max: 15 }), name: words(2, 4), seed })
    .map(({ file, tool, failures, name, seed: given }) => {
      const draw = drawing(given);
      return rounds(failures + 1, (round) => {
        const left = failures - round;
        const text = `${name}\n${left} failing, ${20 + round} passing in ${draw(900)}ms`;
        return [
          edit(file, round),
          left > 0 ? failed(tool, { command: 'npm test' }, text) : ok(tool, { command: 'npm test' }, text),
        ];
      });
    }),
  'tests between edits with a long-lasting failure': fc
    .record({ file: path, tool: shellName, times: fc.integer({ min: 3, max: 25 }), text: template, seed })
    .map(({ file, tool, times, text, seed: given }) => {
      const draw = drawing(given);
      return rounds(times, (round) => [edit(file, round), failed(tool, { command: 'make' }, text(draw, round))]);
    }),
  'tests of one file run twice between reads and edits': fc
    .record({ files: fc.array(path, { minLength: 4, maxLength: 10 }), pages: contents(10, 10), tool: shellName, seed })
    .map(({ files, pages, tool, seed: given }) => {
      const draw = drawing(given);
      return files.flatMap((file, index) =>
        oneByOne([
          ok('read', { path: file }, pages[index]),
          failed(tool, { command: 'pytest -x' }, `E assert ${draw(9)} == ${draw(9)}\n1 failed in 0.${draw(99)}s`),
          failed(tool, { command: 'pytest -x' }, `E assert ${draw(9)} == ${draw(9)}\n1 failed in 0.${draw(99)}s`),
          edit(file, index),
        ]),
      );
    }),
  'paging through a file': fc
    .record({ file: path, pages: contents(5, 40), asLines: fc.boolean() })
    .map(({ file, pages, asLines }) =>
      oneByOne(
        pages.map((page, index) =>
          ok(
            'read',
            { path: file, offset: index * 40 },
            asLines
              ? Array.from({ length: 20 }, (_, line) => `${index * 20 + line}\tx = ${line * index};`).join('\n')
              : page,
          ),
        ),
      ),
    ),
  'scrolling with one call': contents(5, 30).map((pages) =>
    oneByOne(
      pages.map((page, index) => ok('scroll_down', {}, `[lines ${index * 40} to ${index * 40 + 40} of 1200]\n${page}`)),
    ),
  ),
  'a server that returns the next chunk': contents(5, 30).map((pages) =>
    oneByOne(pages.map((page) => ok('fetch_chunk', { cursor: 'same' }, page))),
  ),
  'polling a build that progresses': fc
    .record({
      tool: fc.constantFrom('get_status', 'build_progress', 'BashOutput', 'poll_job'),
      total: fc.integer({ min: 5, max: 40 }),
      form: fc.nat(4),
      name: words(1, 3),
      seed,
    })
    .map(({ tool, total, form, name, seed: given }) => {
      const draw = drawing(given);
      return rounds(total, (round) => [
        ok(
          tool,
          { id: 'b1' },
          [
            `${name}: ${Math.floor((100 * round) / total)}%`,
            `Compiling ${round} of ${total} (${draw(500)}ms)`,
            { type: 'json', value: { state: 'running', done: round, total, pid: draw(9_999) } },
            `[${round}/${total}] ${name}`,
            `${name} ${draw(60)}s\nlast line: step ${'abcdefghijklmnopqrstuvwxyz'[round % 26]}${'abcdefghijklmnopqrstuvwxyz'[Math.floor(round / 26)]} finished`,
          ][form],
        ),
      ]);
    }),
  'waiting with sleep for a deployment': fc
    .record({ times: fc.integer({ min: 3, max: 9 }), name: word })
    .map(({ times, name }) => [
      ...rounds(times, (round) => [
        ok('bash', { command: 'sleep 20' }, '(no output)'),
        ok('bash', { command: 'kubectl get pods' }, `${name} 0/1 Pending 0 ${20 * round}s`),
      ]),
      ...oneByOne([ok('bash', { command: 'kubectl get pods' }, `${name} 1/1 Running 0 5m`)]),
    ]),
  'retries that succeed': fc
    .array(
      fc.record({
        tool: toolName,
        kind: errorKind,
        fails: fc.integer({ min: 1, max: 2 }),
        result: content,
        asOk: fc.boolean(),
        nth: fc.nat(9),
      }),
      { minLength: 3, maxLength: 12 },
    )
    .map((calls) =>
      oneByOne(
        calls.flatMap(({ tool, kind, fails, result, asOk, nth }, index) => {
          const list = errors[kind] ?? [];
          const input = { index };
          return [
            ...Array.from({ length: fails }, (_, fail) => {
              const text = list[(nth + fail) % list.length] ?? '';
              return asOk ? ok(tool, input, `Error: ${text}`) : failed(tool, input, text);
            }),
            ok(tool, input, result),
          ];
        }),
      ),
    ),
  'guessing paths before the right one is found': fc
    .array(fc.record({ files: fc.uniqueArray(path, { minLength: 2, maxLength: 4 }), result: content }), {
      minLength: 2,
      maxLength: 8,
    })
    .map((searches) =>
      oneByOne(
        searches.flatMap(({ files, result }) =>
          files.map((file, index) =>
            index === files.length - 1
              ? ok('read_file', { path: file }, result)
              : ok('read_file', { path: file }, `Error: ENOENT: no such file or directory, open '/app/${file}'`),
          ),
        ),
      ),
    ),
  'a debugging session': fc
    .array(fc.record({ kind: fc.nat(5), file: path, text: content, name: word, number: fc.nat(500) }), {
      minLength: 10,
      maxLength: 60,
    })
    .map((steps) =>
      oneByOne(
        steps.map(({ kind, file, text, name, number }, index): Move => {
          switch (kind) {
            case 0:
              return ok('read', { path: file, offset: number }, text);
            case 1:
              return ok('bash', { command: `grep -rn ${name} src` }, text);
            case 2:
              return failed('bash', { command: `grep -rn ${name} lib` }, 'Exit code: 1');
            case 3:
              return edit(file, index);
            case 4:
              return failed('bash', { command: `npx vitest run ${file}` }, `${text}\n${number} failing`);
            default:
              return ok('bash', { command: 'git diff --stat' }, `${file} | ${number}\n${text}`);
          }
        }),
      ),
    ),
  'items processed one by one': fc
    .record({
      tool: toolName,
      count: fc.integer({ min: 10, max: 60 }),
      text: fc.constantFrom('ok', 'Done.', 'processed', '{"success":true}'),
    })
    .map(({ tool, count, text }) => rounds(count, (round) => [ok(tool, { item: `item-${round}` }, text)])),
  'files converted by a script, one by one': fc
    .record({ tool: shellName, program: word, count: fc.integer({ min: 10, max: 60 }) })
    .map(({ tool, program, count }) =>
      rounds(count, (round) => [ok(tool, { command: `python ${program}.py in/${round}.wav` }, '(no output)')]),
    ),
  'files written one by one': fc
    .record({ count: fc.integer({ min: 10, max: 40 }), name: word })
    .map(({ count, name }) =>
      rounds(count, (round) => [
        ok('write_file', { path: `${name}/${round}.ts`, content: `x${round}` }, 'File written.'),
      ]),
    ),
  'log files that report errors': fc
    .array(fc.tuple(path, content), { minLength: 3, maxLength: 15 })
    .map((logs) => oneByOne(logs.map(([file, text]) => ok('read', { path: `${file}.log` }, `ERROR ${text}`)))),
  'web searches': fc
    .array(fc.tuple(words(2, 4), content, content), { minLength: 3, maxLength: 15 })
    .map((searches) =>
      oneByOne(
        searches.flatMap(([query, hits, page], index) => [
          ok('web_search', { query }, hits),
          ok('web_fetch', { url: `https://example.com/${index}` }, page),
        ]),
      ),
    ),
  'git status and diff after each edit': fc
    .record({ file: path, count: fc.integer({ min: 3, max: 20 }) })
    .map(({ file, count }) =>
      rounds(count, (round) => [
        edit(file, round),
        ok('bash', { command: 'git status --short' }, ` M ${file}`),
        ok('bash', { command: 'git diff' }, `-a${round}\n+a${round + 1}`),
      ]),
    ),
  'a log with a new line each time': lists(10, 40).map((lines) =>
    oneByOne(
      lines.map((_, round) =>
        ok('bash', { command: 'tail -n 5 app.log' }, lines.slice(Math.max(0, round - 4), round + 1).join('\n')),
      ),
    ),
  ),
  'a table of which one row changes each time': fc
    .record({ count: fc.integer({ min: 4, max: 9 }), states: lists(2, 2) })
    .map(({ count, states: [before, after] }) =>
      rounds(count, (round) => [
        ok(
          'query',
          { sql: 'SELECT state FROM jobs' },
          Array.from({ length: 16 }, (_, row) => (row < round ? after : before)).join('\n'),
        ),
      ]),
    ),
  'a page clicked through': contents(3, 15).map((pages) =>
    oneByOne(
      pages.flatMap((page) => [
        ok('browser_click', { selector: '#next' }, 'Clicked.'),
        ok('browser_snapshot', {}, page),
      ]),
    ),
  ),
};

/** Runs in which one part repeats while another part is always new. Each must cause a warning. */
export const nearLoops: Families = {
  'a test with a constant failure between new reads': fc
    .record({ pages: contents(12, 20), text: template, seed })
    .map(({ pages, text, seed: given }) => {
      const draw = drawing(given);
      return oneByOne(
        pages.flatMap((page, index) => [
          failed('bash', { command: 'npm test' }, text(draw, index)),
          ok('read', { path: `src/${index}.ts` }, page),
        ]),
      );
    }),
  'one call with always new results': contents(31, 40).map((pages) =>
    oneByOne(pages.map((page) => ok('inspect_thing', {}, page))),
  ),
  'failing edits between new reads': fc.record({ pages: contents(10, 20), asOk: fc.boolean() }).map(({ pages, asOk }) =>
    oneByOne(
      pages.flatMap((page, index) => {
        const input = { path: 'a.ts', oldText: page.slice(0, 20) };
        const text = `${asOk ? 'Error: ' : ''}The text to replace was not found.`;
        return [asOk ? ok('edit', input, text) : failed('edit', input, text), ok('read', { path: `${index}` }, page)];
      }),
    ),
  ),
  'lookups without results': fc
    .record({ count: fc.integer({ min: 24, max: 40 }), text: fc.constantFrom('No matches found', 'No results.', '[]') })
    .map(({ count, text }) =>
      rounds(count, (round) => [
        ok('search_code', { query: `q${'abcdefghijklmnopqrstuvwxyz'[round % 26]}${round}` }, text),
      ]),
    ),
  'commands with a constant failure between successful commands': fc
    .record({ pages: contents(8, 20), rest: words(2, 5) })
    .map(({ pages, rest }) =>
      oneByOne(
        pages.flatMap((page, index) => [
          ok('read', { path: `${index}.ts` }, page),
          failed('bash', { command: `deploy step-${index}` }, `deploy: ${rest}\nExit code: 1`),
        ]),
      ),
    ),
};
