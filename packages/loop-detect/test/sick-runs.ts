import { failed, ok, oneByOne, rounds, type Batch, type Move } from './play.js';

/** A looping run, and the calls by which it must be warned about, blocked and ended. */
export interface SickRun {
  readonly batches: readonly Batch[];
  readonly warned: number;
  /** Absent if the evidence justifies a warning only. */
  readonly blocked?: number;
  readonly broken?: number;
}

const unknown = (name: string, input: unknown): Move => ({
  name,
  input,
  status: 'unknown-tool',
  output: `Unknown tool ${JSON.stringify(name)}. Known tools: bash, edit, read.`,
});
const read = (path: string): Move => ok('read', { path }, `contents of ${path}`);
const failingTest = (round: number): Move =>
  failed(
    'bash',
    { command: 'npm test' },
    `> shop@1.0.0 test\n1 failing\nAssertionError: expected 1 to be 2\n  at Context (pid ${4000 + round})\nfinished in ${200 + round * 7}ms at 10:${10 + round}:07\nExit code: 1`,
  );

/** Returns the report of Codex about a command. */
const codex = (text: string, exitCode: number | undefined, round: number): string => {
  const end = exitCode === undefined ? 'Process running with session ID 4' : `Process exited with code ${exitCode}`;
  const chunk = (0xabcde + round * 7919).toString(16).padStart(6, '0');
  return `Chunk ID: ${chunk}\nWall time: 5.${1000 + round} seconds\n${end}\nOriginal token count: 0\nOutput:\n${text}`;
};

/** Returns a random token, some without digits. */
const token = (round: number): string =>
  Array.from({ length: 24 }, (_, index) => 'abcdefghKLMNOPqr'[(round * 7 + index * index * (round + 3)) % 16]).join('');

/** Runs in which an agent was stuck, modeled on bug reports. Each must be detected. */
export const sickRuns: Readonly<Record<string, SickRun>> = {
  'the same failing command, with different times and pids': {
    batches: rounds(60, (round) => [failingTest(round)]),
    warned: 3,
    blocked: 5,
    broken: 6,
  },
  'the same listing, as in pi#6158': {
    batches: rounds(60, () => [ok('bash', { command: 'ls /home/dev/.jupyter/custom/' }, 'custom.css  custom.js')]),
    warned: 3,
    blocked: 5,
    broken: 6,
  },
  'a script that prints the same page 63 times, as in wisp-science#395': {
    batches: rounds(63, () => [ok('python', { code: 'print(texts[7]); print(texts[8])' }, 'page seven')]),
    warned: 3,
    blocked: 5,
    broken: 6,
  },
  'the same call with its keys in a different order': {
    batches: rounds(60, (round) => [
      round % 2 === 0
        ? ok('grep', { path: 'src', pattern: 'x' }, 'a.ts:1: x')
        : ok('grep', { pattern: 'x', path: 'src' }, 'a.ts:1: x'),
    ]),
    warned: 3,
    blocked: 5,
    broken: 6,
  },
  'the same command with different descriptions, as in dmtools-agents#395': {
    batches: rounds(60, (round) => [
      ok(
        'Bash',
        {
          command: 'go build ./agents/',
          description: `Build the agents, ${['again', 'a third time', 'to be sure'][round % 3]}`,
        },
        '',
      ),
    ]),
    warned: 3,
    blocked: 5,
    broken: 6,
  },
  'the same environment variable, looked up with a new explanation each time': {
    batches: rounds(60, (round) => [
      ok('read_file', { path: '.env', explanation: `Attempt ${round} to find the key` }, 'KEY='),
    ]),
    warned: 3,
    blocked: 5,
    broken: 6,
  },
  'alternating reads of two files': {
    batches: rounds(40, () => [read('a.ts'), read('b.ts')]),
    warned: 6,
    blocked: 10,
    broken: 11,
  },
  'alternating reads of two ranges of one file, as in everruns#2295': {
    batches: rounds(40, () => [
      ok('read_file', { path: 'out.log', offset: 0 }, 'first half'),
      ok('read_file', { path: 'out.log', offset: 200 }, 'second half'),
    ]),
    warned: 6,
    blocked: 10,
    broken: 11,
  },
  'three calls in a circle': {
    batches: rounds(30, () => [
      read('a.ts'),
      ok('grep', { pattern: 'x' }, 'a.ts:1'),
      ok('bash', { command: 'git status' }, 'clean'),
    ]),
    warned: 9,
    blocked: 15,
    broken: 16,
  },
  'four calls in a circle': {
    batches: rounds(30, () => ['a', 'b', 'c', 'd'].map(read)),
    warned: 12,
    blocked: 20,
    broken: 21,
  },
  'five calls in a circle': {
    batches: rounds(30, () => ['a', 'b', 'c', 'd', 'e'].map(read)),
    warned: 15,
    blocked: 25,
    broken: 26,
  },
  'two reads requested together, repeatedly': {
    batches: Array.from({ length: 30 }, () => [read('a.ts'), read('b.ts')]),
    warned: 6,
    blocked: 10,
    broken: 12,
  },
  'an alternating edit and its reversal': {
    batches: rounds(30, () => [
      ok('edit', { path: 'a', oldText: '1', newText: '2' }, 'Changed.'),
      ok('edit', { path: 'a', oldText: '2', newText: '1' }, 'Changed.'),
    ]),
    warned: 6,
    blocked: 10,
    broken: 11,
  },
  'the same file written before each failing test': {
    batches: rounds(30, (round) => [ok('write', { path: 'a.ts', content: 'x' }, 'Written.'), failingTest(round)]),
    warned: 5,
    blocked: 9,
    broken: 10,
  },
  'an edit with a constant failure for different texts': {
    batches: rounds(60, (round) => [
      failed(
        'Edit',
        { file_path: '/repo/a.go', old_string: `case ${round}:` },
        `String to replace not found in file.\nString: case ${round}:`,
      ),
    ]),
    warned: 4,
    blocked: 8,
    broken: 9,
  },
  'the same with reads of the file in between': {
    batches: rounds(60, (round) => [
      failed(
        'Edit',
        { file_path: '/repo/a.go', old_string: `case ${round}:` },
        `String to replace not found in file.\nString: case ${round}:`,
      ),
      read('/repo/a.go'),
    ]),
    warned: 6,
    blocked: 10,
    broken: 12,
  },
  'input that never matches the schema': {
    batches: rounds(60, (round) => [
      {
        name: 'search',
        input: { q: `try ${round}` },
        status: 'invalid-input',
        output: 'The input does not fit the tool "search", which did not run:\n- query: expected string',
      },
    ]),
    warned: 4,
    blocked: 8,
    broken: 9,
  },
  'commands in a sandbox that does not start': {
    batches: rounds(40, (round) => [
      failed(
        'bash',
        { command: `cat file-${round}.txt` },
        'bwrap: setting up uid map: Permission denied\nExit code: 1',
      ),
    ]),
    warned: 4,
    blocked: 12,
    broken: 13,
  },
  'one tool that does not exist': {
    batches: rounds(60, (round) => [unknown('apply_diff', { round })]),
    warned: 3,
    blocked: 5,
    broken: 6,
  },
  'a new tool that does not exist each time': {
    batches: rounds(60, (round) => [unknown(`tool_${'abcdefghijklmnopqrstuvwxyz'[round % 26]}`, {})]),
    warned: 3,
    broken: 10,
  },
  'a tool that does not exist between reads': {
    batches: rounds(60, (round) => [unknown('apply_diff', { round }), read(`${round}.ts`)]),
    warned: 5,
    blocked: 9,
    broken: 11,
  },
  'a CI run that never starts': {
    batches: rounds(60, (round) => [ok('bash', { command: 'gh run view 81 --json status' }, `queued, ${round}m`)]),
    warned: 16,
    blocked: 20,
    broken: 21,
  },
  'a status that never changes': {
    batches: rounds(60, () => [ok('check_status', { job: 7 }, { state: 'running', pid: 4711 })]),
    warned: 16,
    blocked: 20,
    broken: 21,
  },
  'alternating sleeps and polls': {
    batches: rounds(60, () => [
      ok('bash', { command: 'sleep 30' }, '(no output)'),
      ok('process', { action: 'poll', id: 3 }, 'no new output'),
    ]),
    warned: 32,
    blocked: 40,
    broken: 41,
  },
  'a denied command that is repeated': {
    batches: rounds(60, () => [
      { name: 'bash', input: { command: 'git push --force' }, status: 'denied', output: 'Not allowed.' },
    ]),
    warned: 3,
    blocked: 5,
    broken: 6,
  },
  'a failing test between new reads, as in stella#1851': {
    batches: rounds(60, (round) => [failingTest(round), read(`src/${round}.ts`)]),
    warned: 11,
  },
  'one command whose output always changes': {
    batches: rounds(60, (round) => [ok('bash', { command: 'wc -c data.bin' }, `${round * 100} data.bin`)]),
    warned: 30,
    blocked: 45,
    broken: 46,
  },
  'answers wrapped with a new nonce each time': {
    batches: rounds(60, (round) => [
      ok(
        'web_fetch',
        { url: 'https://example.com' },
        `<<<EXTERNAL id="${(round + 0xabcdef0123).toString(16)}">>>\nHello\n<<<END id="${(round + 0xabcdef0123).toString(16)}">>>`,
      ),
    ]),
    warned: 3,
    blocked: 5,
    broken: 6,
  },
  'twelve files read repeatedly': {
    batches: oneByOne(Array.from({ length: 120 }, (_, index) => read(`src/${index % 12}.ts`))),
    warned: 32,
    broken: 42,
  },
  'failing commands in the report of Codex, which has the status ok': {
    batches: rounds(60, (round) => [
      ok(
        'exec_command',
        { cmd: `cp report${round}.pdf /mnt/archive`, yield_time_ms: 1000 + round },
        codex(`cp: cannot create '/mnt/archive/report${round}.pdf': Read-only file system`, 1, round),
      ),
    ]),
    warned: 4,
    blocked: 12,
    broken: 13,
  },
  'searches without a match in the report of Gemini CLI': {
    batches: rounds(60, (round) => [
      ok(
        'run_shell_command',
        { command: `rg auth_${round} src` },
        `Command: rg auth_${round} src\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 1\nSignal: (none)\nProcess Group PGID: ${4000 + round}`,
      ),
    ]),
    warned: 21,
    broken: 31,
  },
  'polls of a silent process that wait for different times': {
    batches: rounds(60, (round) => [
      ok(
        'write_stdin',
        { session_id: 4, chars: '', yield_time_ms: 1000 * (1 + (round % 7)) },
        codex('', undefined, round),
      ),
    ]),
    warned: 16,
    blocked: 20,
    broken: 21,
  },
  'one search in other words, with shuffled results and other scores': {
    batches: rounds(60, (round) => {
      const query = `frobnicator guide ${round}`;
      const results = ['setup', 'errors', 'limits'].map((topic, index) => ({
        title: `How ${topic} of the frobnicator work`,
        url: `https://docs.example.com/${topic}`,
        score: 0.7 + ((round * 7 + index) % 10) / 100,
      }));
      return [
        ok('web_search', { query }, { query, results: [...results.slice(round % 3), ...results.slice(0, round % 3)] }),
      ];
    }),
    warned: 21,
    broken: 31,
  },
  'searches whose empty answer quotes the query': {
    batches: rounds(60, (round) => [
      ok(
        'WebSearch',
        { query: `frobnicator error ${round}` },
        `Web search results for query: "frobnicator error ${round}"\n\nNo links found.`,
      ),
    ]),
    warned: 21,
    broken: 31,
  },
  'reads behind the end of a file': {
    batches: rounds(60, (round) => [
      ok(
        'Read',
        { file_path: 'a.py', offset: 400 + round * 100, limit: 100 },
        `Warning: the file is shorter than the provided offset (${400 + round * 100}). The file has 212 lines.`,
      ),
    ]),
    warned: 21,
    broken: 31,
  },
  'hand-offs back and forth, with other reasons each time': {
    batches: rounds(30, (round) => [
      ok('transfer_to_sales', { summary: `wants offer ${round}` }, 'Transferred to Sales.'),
      ok('transfer_to_triage', { summary: `not about offer ${round}` }, 'Transferred to Triage.'),
    ]),
    warned: 20,
    broken: 30,
  },
  'one task in other words, with the same report of each agent': {
    batches: rounds(60, (round) => [
      ok(
        'delegate',
        { task: `look into the failing pipeline, attempt ${round}` },
        `I looked at the pipeline of the main branch: the secret NPM_TOKEN is missing in the settings. Took ${round + 3} s.`,
      ),
    ]),
    warned: 21,
    broken: 31,
  },
  'a question in other words, with the same passages': {
    batches: rounds(60, (round) => [
      ok('retrieve', { query: `question ${round}` }, [{ id: 'doc-1', text: 'The ledger closes at midnight.' }]),
    ]),
    warned: 21,
    broken: 31,
  },
  'pages of a list with new tokens and the same content': {
    batches: rounds(60, (round) => [
      ok(
        'list_objects',
        { continuation_token: token(round) },
        { contents: ['a.txt', 'b.txt'], next_continuation_token: token(round + 1) },
      ),
    ]),
    warned: 21,
    broken: 31,
  },
  'a lookup of a value that rises for a long time, which is only warned about': {
    batches: rounds(38, (round) => [ok('read_sensor', { sensor: 'boiler' }, { celsius: 18 + round * 0.5 })]),
    warned: 30,
  },
  'a call whose answer counts the calls that are left': {
    batches: rounds(60, (round) => [ok('buy_ticket', { seat: 'A1' }, `Nothing was bought. Tries left: ${90 - round}`)]),
    warned: 10,
    blocked: 13,
    broken: 14,
  },
  'requests that are answered by a page of the proxy': {
    batches: rounds(60, (round) => [
      ok('http_post', { url: `/items/${round}` }, `<html><head><title>502 Bad Gateway</title></head>${round}</html>`),
    ]),
    warned: 4,
    blocked: 8,
    broken: 9,
  },
  'calls with other inputs that JSON answers with an error code': {
    batches: rounds(60, (round) => [
      ok('add_tag', { tag: `t${round}` }, { errcode: 40001, errmsg: 'invalid credential', rid: `${round * 7919}` }),
    ]),
    warned: 4,
    blocked: 8,
    broken: 9,
  },
  'a list that stays empty and has a new token each time': {
    batches: rounds(60, (round) => [
      ok(
        'list_messages',
        { unread: true },
        { messages: [], syncToken: `kLmNpQrStUvW${'ABCDEFGHJK'[round % 10]}x${'abcdefgh'[round % 8]}` },
      ),
    ]),
    warned: 16,
    blocked: 20,
    broken: 21,
  },
  'a test whose output goes to another temporary file each time': {
    batches: rounds(60, (round) => [
      ok('bash', { command: `npm test > /tmp/out-${round}.log 2>&1; tail -5 /tmp/out-${round}.log` }, '2 failed'),
    ]),
    warned: 3,
    blocked: 5,
    broken: 6,
  },
  'addresses that are all answered by the same check of a browser': {
    batches: rounds(60, (round) => [
      ok(
        'web_fetch',
        { url: `https://journal.example/doi/${round * 7919}` },
        `<title>One moment</title><p>Please enable scripts and cookies in your browser to continue to this site.</p>` +
          `<script>opt={ray:'7f00${(0xabcdef1234 + round * 7919).toString(16)}'}</script>`,
      ),
    ]),
    warned: 21,
    broken: 31,
  },
  'pages that a browser is sent to and that are all the same': {
    batches: rounds(60, (round) => [
      ok(
        'browser_navigate',
        { url: `https://search.example/?q=${round * 7919}` },
        'Our systems have seen unusual traffic from your network. Please try your request again later.',
      ),
    ]),
    warned: 21,
    broken: 31,
  },
  'parts of a picture without text': {
    batches: rounds(60, (round) => [
      ok('ocr', { image: 'scan.png', crop: [round, round * 3] }, { text: '', confidence: 0, elapsed_ms: round * 7 }),
    ]),
    warned: 21,
    broken: 31,
  },
  'searches of a tool without a known verb, answered in Spanish': {
    batches: rounds(60, (round) => [
      ok('buscar_web', { consulta: `instalar libreria ${round}` }, 'No se encontraron resultados.'),
    ]),
    warned: 21,
    broken: 31,
  },
  'searches by shell that report other processes each time': {
    batches: rounds(60, (round) => [
      ok(
        'bash',
        { command: `find / -name "key${round}.conf" 2>&1 | head -1` },
        `find: ‘/proc/${4000 + round * 7}/task/${4000 + round * 7}/fd’: Permission denied`,
      ),
    ]),
    warned: 4,
    blocked: 12,
    broken: 13,
  },
  'actions that all have no effect': {
    batches: rounds(60, (round) => [ok('act', { action: `take mug ${round} from shelf` }, 'Nothing happens.')]),
    warned: 4,
    blocked: 8,
    broken: 9,
  },
  'clicks next to a button, with the same picture after each': {
    batches: rounds(60, (round) => [
      ok('computer', { action: 'left_click', coordinate: [500 + round, 380] }, 'Clicked.'),
      ok('computer', { action: 'screenshot' }, [{ type: 'image', data: 'iVBORw0KGgoAAAANSUhEUg' }]),
    ]),
    warned: 32,
    blocked: 40,
    broken: 42,
  },
  'statements that return no rows, by a tool without a known verb': {
    batches: rounds(60, (round) => [ok('run_sql', { sql: `SELECT * FROM a WHERE b LIKE 'x${round}%'` }, '(0 rows)')]),
    warned: 21,
    broken: 31,
  },
  'calls that JSON answers with a numeric code and no data': {
    batches: rounds(60, (round) => [
      ok('call_api', { path: `/part${round}` }, { code: 500, message: '系统繁忙', data: null }),
    ]),
    warned: 4,
    blocked: 8,
    broken: 9,
  },
  'messages that are not delivered': {
    batches: rounds(60, (round) => [
      ok(
        'gmail_send',
        { to: 'x@nowhere.example', body: `text ${round}` },
        { delivered: false, bounce: 'user unknown' },
      ),
    ]),
    warned: 4,
    blocked: 8,
    broken: 9,
  },
  'articles behind the same wall': {
    batches: rounds(60, (round) => [
      ok(
        'scrape',
        { url: `https://news.example/${round * 7919}` },
        'Subscribe to continue reading. You have reached your limit of free articles for this month.',
      ),
    ]),
    warned: 21,
    broken: 31,
  },
  'searches whose misses are worded differently': {
    batches: rounds(60, (round) => [
      ok(
        'search_code',
        { query: `name${round}` },
        ['I could not find anything relevant.', 'Nothing relevant was found.', 'No results.'][round % 3],
      ),
    ]),
    warned: 21,
    broken: 31,
  },
  'an object that is read in another version after each conflict': {
    batches: rounds(60, (round) => [
      failed('bash', { command: 'kubectl apply -f d.yaml' }, 'Error from server (Conflict): the object was modified'),
      ok('bash', { command: 'kubectl get deploy api -o yaml' }, `kind: Deployment\nresourceVersion: "${round * 17}"`),
    ]),
    warned: 7,
    blocked: 11,
    broken: 13,
  },
};
