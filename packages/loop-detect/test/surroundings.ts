import { failed, ok, type Move } from './play.js';

/** Adds to a call or to its outcome what tools and harnesses put around them. N is the number of the call. */
export type Surrounding = (move: Move, call: number) => Move;

const around =
  (change: (text: string, call: number) => string): Surrounding =>
  (move, call) =>
    typeof move.output === 'string' ? { ...move, output: change(move.output, call) } : move;
const asking =
  (change: (input: object, call: number) => object): Surrounding =>
  (move, call) =>
    typeof move.input === 'object' && move.input !== null
      ? { ...move, input: { ...move.input, ...change(move.input, call) } }
      : move;
const running = (change: (command: string, call: number) => string): Surrounding =>
  asking((input, call) =>
    'command' in input && typeof input.command === 'string' ? { command: change(input.command, call) } : {},
  );
const lineByLine = (text: string, change: (line: string) => string): string => text.split('\n').map(change).join('\n');
/** Numbers that move up and down. */
const noise = (call: number): number => 100 + ((call * 7919) % 900);
const two = (call: number): string => String(10 + (noise(call) % 50));
const randomId = (call: number): string => `k${call}QwZ${noise(call)}rTp${call % 7}Vx`;

export const outcomeSurroundings: Readonly<Record<string, Surrounding>> = {
  nothing: (move) => move,
  'a time before each line': around((text, call) =>
    lineByLine(text, (line) => `10:${two(call)}:07.${noise(call)} ${line}`),
  ),
  'a time without separators': around((text, call) => `${text}\nid 2026112009${two(call)}07`),
  'a log named by its time': around(
    (text, call) => `${text}\nlog: /root/_logs/2026-11-20T10_${two(call)}_07_123Z-debug.log`,
  ),
  'a duration': around((text, call) => `${text}\nTime taken: 0.${noise(call)}`),
  'a duration with a thousands separator': around((text, call) => `${text}\nFinished in 1,${noise(call)} ms`),
  'a duration with a decimal comma': around((text, call) => `${text}\nDauer: 3,${two(call)} s`),
  'a session': around((text, call) => `session: ${randomId(call)}\n${text}`),
  'a saved copy': around(
    (text, call) => `${text}\nFull output: /home/u/.cache/outputs/a${noise(call)}f${noise(call + 1)}.txt`,
  ),
  'line numbers with arrows': around((text) => lineByLine(text, (line) => `     1→${line}`)),
  colors: around((text, call) => lineByLine(text, (line) => `\u001B[${31 + (call % 6)}m${line}\u001B[0m`)),
  'cursor moves': around((text, call) => `${'\u001B[2K\u001B[1G'.repeat(call % 4)}${text}`),
  'a spinner': around((text, call) => `${'⠋⠙⠹⠸⠼⠴'[call % 6] ?? ''} working\n${text}`),
  'a line of dots': around((text, call) => `${'.'.repeat(3 + (noise(call) % 20))}\n${text}`),
  'a bar that is overwritten': around((text, call) => `${call % 2 === 0 ? '\r 50%\r 80%' : '\r 30%'}\r100%\r\n${text}`),
  'other line ends': around((text, call) => (call % 2 === 0 ? text.replaceAll('\n', '\r\n') : text)),
  'a notice of what is left out': around((text, call) => `${text}\n... [${noise(call)} characters truncated] ...`),
  'a count of tokens': around((text, call) => `${text}\ntotal_tokens: ${noise(call)}`),
};

export const callSurroundings: Readonly<Record<string, Surrounding>> = {
  'a reason': asking((_, call) => ({ rationale: `Attempt ${call} to find it` })),
  'a timeout': asking((_, call) => ({ timeout_seconds: noise(call) })),
  'a number of attempts': asking((_, call) => ({ attempt: call })),
  'a label of a command': asking((input, call) => ('command' in input ? { summary: `Run it, part ${call}` } : {})),
  'a folder in other spellings': running(
    (line, call) => `cd ${['/app', '/app/', '"/app"'][call % 3] ?? ''} && ${line}`,
  ),
  'a copy of the errors': running((line, call) => `${line} 2>/tmp/errors${call}.log`),
  'a copy of the output': running((line, call) => `${line} | tee /tmp/log${call}.txt`),
  'an output that is shown': running((line, call) => `${line} > /tmp/out${call}.txt 2>&1; cat /tmp/out${call}.txt`),
  'the last lines': running((line, call) => `${line} 2>&1 | tail -${20 + call}`),
  'a label that the command prints': (move, call) => {
    if (typeof move.input !== 'object' || move.input === null || !('command' in move.input)) return move;
    const label = `${name(call)} part ${call}`;
    const line = `echo "${label}" && ${String(move.input.command)}; echo 'end of ${label}'`;
    const output = `${label}\n${String(move.output)}\nend of ${label}`;
    return { ...move, input: { ...move.input, command: line }, output };
  },
  'a limit of time': running((line, call) => `timeout ${30 + call} ${line}`),
};

const syllables = ['ka', 'lo', 'mi', 'ren', 'sto', 'vu', 'dap', 'pex', 'til', 'gro', 'ban'];
const name = (index: number): string =>
  [index, index * 7 + 3, Math.floor(index / 11)].map((part) => syllables[part % syllables.length]).join('');
const page = (from: number): string =>
  [0, 1, 2, 3].map((line) => `the ${name(from + line)} of ${name(from * 3 + line)} is ready`).join('\n');

/** Rounds of loops, by number. */
export const loops: Readonly<Record<string, (round: number) => readonly Move[]>> = {
  'a command that fails': () => [failed('bash', { command: 'npm test' }, '× cart > adds\nexpected three to be four')],
  'a command that prints the same': () => [ok('bash', { command: 'git log -1' }, 'fix the parser of the shop')],
  'a file that is read again': () => [ok('read_file', { path: 'src/cart.ts' }, page(1))],
  'different files that are missing': (round) => [
    failed('read_file', { path: `${name(round)}.ts` }, `ENOENT: no such file, open '${name(round)}.ts'`),
  ],
  'an edit and its reversal': () => [
    ok('edit_file', { path: 'a.ts', old: 'x', new: 'y' }, 'The file has been updated.'),
    ok('edit_file', { path: 'a.ts', old: 'y', new: 'x' }, 'The file has been updated.'),
  ],
  'pages without records': (round) => [ok('list_records', { offset: round * 50 }, '{"records":[]}')],
};

/** Rounds of runs that make progress, by number. */
export const progressing: Readonly<Record<string, (round: number) => readonly Move[]>> = {
  'pages of a list': (round) => [ok('list_issues', { page: round }, page(round * 4))],
  'files that are edited': (round) => [ok('edit_file', { path: `${name(round)}.ts`, old: 'a', new: 'b' }, 'Updated.')],
  'files that are converted': (round) => [ok('bash', { command: `convert ${name(round)}.png ${name(round)}.jpg` }, '')],
  'a share that grows': (round) => [
    ok('get_build', { id: 'b' }, `[${round * 3 + (round % 2)}/900] compiling ${name(round)}`),
  ],
  'rows that are counted': (round) => [
    ok(
      'bash',
      { command: 'sleep 20; wc -l rows.csv' },
      `${(round * 731 + (round % 3) * 90).toLocaleString('en')} rows.csv`,
    ),
  ],
  'a file that grows': (round) => [
    ok(
      'read_file',
      { path: 'import.log' },
      Array.from({ length: round + 1 }, (_, line) => `imported ${name(line)}`).join('\n'),
    ),
  ],
  'a test after each edit': (round) => [
    ok('edit_file', { path: 'a.ts', old: name(round), new: name(round + 1) }, 'The file has been updated.'),
    ok('bash', { command: 'npm test' }, '42 passed'),
  ],
  'jobs that end one by one': (round) => [
    ok(
      'bash',
      { command: 'gh run view 17' },
      [0, 1, 2, 3, 4].map((job) => `${job * 12 < round ? '✓' : '*'} ${name(job)}`).join('\n'),
    ),
  ],
  'notes that are entered': (round) => [ok('create_note', { title: name(round), body: page(round) }, 'Note created.')],
  'statements with long answers': (round) => [
    ok(
      'execute_sql',
      { sql: `UPDATE users SET plan = 'pro' WHERE id = ${round}` },
      'The statement was run and one row of the table was changed in the database of the shop',
    ),
  ],
};
