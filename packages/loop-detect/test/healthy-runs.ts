import { failed, ok, oneByOne, rounds, type Batch, type Move } from './play.js';

const clock = (round: number): string => `${10 + (round % 12)}:${10 + (round % 49)}:${10 + ((round * 7) % 49)}`;

const vitest = (round: number, failing: number): string =>
  [
    ' RUN  v4.1.12 /home/dev/shop',
    ...Array.from(
      { length: failing },
      (_, index) => ` FAIL  test/cart.test.ts > totals > case ${index + 1}\nAssertionError: expected 12 to be 13`,
    ),
    ` Test Files  ${failing > 0 ? '1 failed' : '4 passed'} (4)`,
    `   Start at  ${clock(round)}`,
    `   Duration  ${300 + round * 13}ms (transform ${20 + round}ms, setup 0ms)`,
  ].join('\n');

const test = (round: number, failing: number): Move => {
  const output = vitest(round, failing);
  return failing > 0
    ? failed('bash', { command: 'npx vitest run test/cart.test.ts' }, `${output}\nExit code: 1`)
    : ok('bash', { command: 'npx vitest run test/cart.test.ts' }, output);
};

const inbox = [
  'The build is red again.',
  'Who owns the billing service?',
  'Lunch at noon.',
  'Please review my branch when you can.',
  'Deploy finished without trouble.',
  'Customer Acme reports slow pages.',
  'Thanks, all good now.',
];

const edit = (round: number): Move =>
  ok(
    'edit',
    { path: 'src/cart.ts', oldText: `return total + ${round};`, newText: `return total + ${round + 1};` },
    'The file src/cart.ts has been changed.',
  );

const ghRun = (round: number): Move =>
  ok(
    'bash',
    { command: 'gh run view 8123456 --json status,jobs' },
    `status: in_progress\nbuild: ${round < 7 ? 'running' : 'done'}, ${3 + round}m${round}s\ntest: ${round < 7 ? 'queued' : 'running'}`,
  );

const page = (from: number): string =>
  Array.from({ length: 40 }, (_, index) => `${from + index}\tconst line${from + index} = ${(from + index) * 17};`).join(
    '\n',
  );

const statements = (
  'open(path) size=0 lock(db) row=next(cursor) while(row) total+=row.price emit(total) free(row) close(cursor) ' +
  'unlock(db) header=parse(buf) checksum(header) seek(file) flush(log) retry=3 sleep(retry) send(packet) ack=wait() ' +
  'verify(ack) store(state) notify(peers) rotate(keys) sweep(heap) return'
).split(' ');

/** Runs of agents that make progress, modeled on published transcripts. None may raise an alarm. */
export const healthyRuns: Readonly<Record<string, readonly Batch[]>> = {
  'alternating edits and tests, with a constant failure': rounds(12, (round) => [edit(round), test(round, 2)]),
  'alternating edits and tests, with fewer failures each time': rounds(8, (round) => [
    edit(round),
    test(round, 8 - round),
  ]),
  'the same build command 40 times, with an edit by shell before each': rounds(40, (round) => [
    ok('bash', { command: `cat > src/part-${round % 6}.c <<'EOF'\nint v = ${round};\nEOF` }, '(no output)'),
    failed(
      'bash',
      { command: 'make -j4 2>&1 | tail -20' },
      `cc -c src/part.c\nsrc/part.c:12:3: error: unknown type name 'foo_t'\nmake: *** [all] Error 1\nExit code: 2`,
    ),
  ]),
  'the same build with a sed command before each': rounds(20, (round) => [
    ok('execute_bash', { command: `sed -i 's/v${round}/v${round + 1}/' Makefile` }, ''),
    ok('execute_bash', { command: 'make' }, "make: Nothing to be done for 'all'."),
  ]),
  'edits with tools of unknown effect, and one compiler': rounds(15, (round) => [
    ok(
      'str_replace_editor',
      { command: 'str_replace', path: '/repo/a.py', old_str: `x${round}`, new_str: `x${round + 1}` },
      'The file /repo/a.py has been edited.',
    ),
    ok('str_replace_editor', { command: 'view', path: '/repo/a.py', view_range: [1, 20] }, `1\tx${round + 1} = 1`),
    failed('mcp__build__compile', { target: 'all' }, 'error: cannot find symbol Foo'),
  ]),
  'git status after each edit': rounds(12, (round) => [
    edit(round),
    ok('bash', { command: 'git status --short' }, ' M src/cart.ts'),
  ]),
  'waiting for a CI run with occasional progress': rounds(14, (round) => [
    ok('bash', { command: 'sleep 60' }, '(no output)'),
    ghRun(round),
  ]),
  'polling a CI run without sleeping': rounds(9, (round) => [ghRun(round < 5 ? 1 : 8)]),
  'an empty write to a running process, as Codex polls': rounds(9, (round) => [
    ok(
      'write_stdin',
      { session_id: 3, chars: '', yield_time_ms: 5000 },
      `Wall time: ${5 + round / 1000} seconds\nProcess running with session ID 3\nOutput:\n`,
    ),
  ]),
  'the output of a background command that grows': rounds(30, (round) => [
    ok('BashOutput', { bash_id: 'bash_1' }, `<status>running</status>\nCompiling crate ${round} of 214`),
  ]),
  'pods that start': rounds(9, (round) => [
    ok(
      'bash',
      { command: 'kubectl get pods -n shop' },
      `NAME READY STATUS RESTARTS AGE\nweb-1 0/1 ${round < 6 ? 'Pending' : 'Running'} 0 ${10 + round * 5}s`,
    ),
  ]),
  'paging through a long file': rounds(60, (round) => [
    ok('read', { path: 'src/deck.rs', offset: round * 40, limit: 40 }, page(round * 40)),
  ]),
  'scrolling through a file with one command': rounds(30, (round) => [
    ok('scroll_down', {}, `[File: a.py (1200 lines total)]\n${page(round * 40)}`),
  ]),
  'searches with different patterns, most of them without a match': rounds(16, (round) => [
    round % 4 === 0
      ? ok('bash', { command: `grep -rn "handler${round}" src` }, `src/app.ts:${round}: handler${round}()`)
      : failed('bash', { command: `grep -rn "handler${round}" src` }, 'Exit code: 1'),
  ]),
  'a grep tool without matches': rounds(15, (round) => [
    ok('grep', { pattern: `TODO${round}`, path: '.' }, 'No matches found'),
  ]),
  'a download that works the third time': oneByOne([
    failed(
      'bash',
      { command: 'npm install' },
      'npm error code ETIMEDOUT\nnpm error network request failed\nExit code: 1',
    ),
    failed(
      'bash',
      { command: 'npm install' },
      'npm error code ETIMEDOUT\nnpm error network request failed\nExit code: 1',
    ),
    ok('bash', { command: 'npm install' }, 'added 212 packages in 14s'),
    ok('bash', { command: 'npm test' }, '12 passing (312ms)'),
  ]),
  'five files read at once at the start': [
    ['README.md', 'package.json', 'src/config.ts', 'src/index.ts', 'src/wrap.ts'].map((path) =>
      ok('read_file', { path }, `contents of ${path}`),
    ),
    [ok('list_directory', { path: '.' }, 'README.md\nsrc')],
  ],
  'fifteen files read at once, and again after a compaction': [0, 1].map(() =>
    Array.from({ length: 15 }, (_, index) =>
      ok('read', { path: `src/file-${index}.ts` }, `export const value${index} = ${index};`),
    ),
  ),
  'nineteen files read one by one, and again': rounds(2, () =>
    Array.from({ length: 19 }, (_, index) =>
      ok('read', { path: `src/file-${index}.ts` }, `export const value${index} = ${index};`),
    ),
  ),
  'six edits at once, rejected because the files were not read': [
    Array.from({ length: 6 }, (_, index) =>
      failed(
        'Edit',
        { file_path: `/repo/${index}.ts`, old_string: `a${index}`, new_string: 'b' },
        'File has not been read yet. Read it first before writing to it.',
      ),
    ),
    Array.from({ length: 6 }, (_, index) => ok('Read', { file_path: `/repo/${index}.ts` }, `1\ta${index}`)),
    Array.from({ length: 6 }, (_, index) =>
      ok(
        'Edit',
        { file_path: `/repo/${index}.ts`, old_string: `a${index}`, new_string: 'b' },
        `The file /repo/${index}.ts has been updated successfully.`,
      ),
    ),
  ],
  'an edit that matches at the third attempt': oneByOne([
    failed(
      'Edit',
      { file_path: '/repo/main.go', old_string: 'case "a":\n\treturn 1' },
      'String to replace not found in file.\nString: case "a":\n\treturn 1',
    ),
    ok('Read', { file_path: '/repo/main.go', offset: 120, limit: 15 }, page(120)),
    failed(
      'Edit',
      { file_path: '/repo/main.go', old_string: 'case "a":\n    return 1' },
      'String to replace not found in file.\nString: case "a":\n    return 1',
    ),
    failed(
      'Edit',
      { file_path: '/repo/main.go', old_string: 'case "a": return 1' },
      'String to replace not found in file.\nString: case "a": return 1',
    ),
    ok('Bash', { command: 'cat -A main.go | sed -n 120,130p' }, 'case "a":^I$'),
    ok(
      'Edit',
      { file_path: '/repo/main.go', old_string: 'case "a":\t\n', new_string: 'case "a", "b":\n' },
      'The file /repo/main.go has been updated successfully.',
    ),
  ]),
  'a bug reproduced, found, fixed and tested': oneByOne([
    ok('bash', { command: 'cat > reproduce_bug.py <<EOF\nimport pydicom\nEOF' }, ''),
    failed(
      'bash',
      { command: 'python reproduce_bug.py' },
      'Traceback (most recent call last):\n  File "/pydicom/reproduce_bug.py", line 17\nAttributeError: PixelRepresentation\nExit code: 1',
    ),
    ok(
      'bash',
      { command: 'find . -name numpy_handler.py' },
      './pydicom/overlays/numpy_handler.py\n./pydicom/pixel_data_handlers/numpy_handler.py',
    ),
    ok('read', { path: 'pydicom/pixel_data_handlers/numpy_handler.py', offset: 273, limit: 100 }, page(273)),
    failed(
      'edit',
      { path: 'numpy_handler.py', oldText: 'required = [', newText: '    ]\n' },
      "The edit brings a syntax error.\n- E999 SyntaxError: unmatched ']'\nNothing was changed.",
    ),
    failed(
      'edit',
      { path: 'numpy_handler.py', oldText: 'required = [ ', newText: '    ]]\n' },
      "The edit brings a syntax error.\n- E999 SyntaxError: unmatched ']'\nNothing was changed.",
    ),
    ok('edit', { path: 'numpy_handler.py', oldText: 'required = [\n', newText: 'required = list(\n' }, 'Changed.'),
    ok('bash', { command: 'python reproduce_bug.py' }, 'Script completed successfully, no errors. Result: True'),
    ok('bash', { command: 'git diff' }, '-    required = [\n+    required = list('),
  ]),
  'a long review of 25 commits': rounds(25, (round) => [
    ok(
      'bash',
      { command: `git show --stat ${(round + 4096).toString(16)}` },
      `commit ${(round + 4096).toString(16)}\n 2 files changed, ${round} insertions(+)`,
    ),
  ]),
  'a to-do list kept up to date': rounds(10, (round) => [
    ok('TodoWrite', { todos: [{ step: round, done: true }] }, 'Todos have been modified successfully.'),
    edit(round),
  ]),
  'a web search with follow-ups': rounds(12, (round) => [
    ok('web_search', { query: `rxjs fifo scheduler ${round}` }, `Result ${round}`),
    ok('web_fetch', { url: `https://example.com/${round}` }, `Page ${round}`),
  ]),
  'clicks through pages with a screenshot of each': rounds(14, (round) => [
    ok('browser_click', { selector: '#next' }, 'Clicked.'),
    ok('browser_screenshot', {}, `image of page ${round}`),
  ]),
  'tests between changes of two files back and forth': oneByOne([
    edit(1),
    test(1, 1),
    edit(2),
    test(2, 1),
    edit(1),
    test(3, 1),
    edit(3),
    test(4, 0),
  ]),
  'lint fixed file by file, with a commit after each': rounds(10, (round) => [
    failed('bash', { command: 'npx eslint src' }, `src/${round}.ts\n  1:1  error  no-var\n1 problem\nExit code: 1`),
    ok('edit', { path: `src/${round}.ts`, oldText: 'var', newText: 'let' }, 'Changed.'),
    ok(
      'bash',
      { command: `git commit -am "fix lint in ${round}"` },
      `[main ${(round + 70000).toString(16)}] fix lint in ${round}`,
    ),
  ]),
  'a refactoring with builds, a linter and a commit, from a published session': [
    ['agent', 'claude', 'gemini', 'opencode'].map((name) =>
      ok('Read', { file_path: `/repo/agents/${name}.go` }, `package agents // ${name}`),
    ),
    ['agent', 'claude', 'gemini', 'opencode', 'main_test'].map((name) =>
      ok(
        'Edit',
        { file_path: `/repo/${name}.go`, old_string: 'Name() string', new_string: `Binary() string // ${name}` },
        `The file /repo/${name}.go has been updated successfully.`,
      ),
    ),
    ...oneByOne([
      failed(
        'Bash',
        { command: 'go build ./...', description: 'Compile check all packages' },
        'Exit code 1\ntestutil/repo.go:14:2: no required module provides package example.com/cli/e2e/agents',
      ),
      ok('Read', { file_path: '/repo/go.mod' }, 'module example.com/e2e'),
      failed(
        'Bash',
        { command: 'go build ./agents/ ./tests/' },
        'Exit code 1\nbuild constraints exclude all Go files in /repo/tests',
      ),
      ok(
        'Bash',
        { command: 'go build ./agents/ && go vet ./agents/ && go test -run=^$ ./tests/ 2>&1 | head -5' },
        'FAIL example.com/e2e/tests [setup failed]',
      ),
      ok('Read', { file_path: '/repo/testutil/repo.go', limit: 20 }, 'package testutil'),
      ok('Bash', { command: 'go build ./agents/', description: 'Build agents and entire packages' }, ''),
    ]),
    ...oneByOne(
      ['claude', 'gemini', 'opencode'].flatMap((name) =>
        ['run', 'start', 'output'].map((place) =>
          ok(
            'Edit',
            { file_path: `/repo/agents/${name}.go`, old_string: `"${name}" ${place}`, new_string: `Binary() ${place}` },
            `The file /repo/agents/${name}.go has been updated successfully.`,
          ),
        ),
      ),
    ),
    ...oneByOne([
      ok('Bash', { command: 'go build ./agents/', description: 'Verify build after refactor' }, ''),
      ok(
        'Bash',
        { command: 'go vet ./agents/ ./tests/ 2>&1; golangci-lint run ./agents/ ./tests/ 2>&1 || true' },
        '1 issues:\n* typecheck: 1',
      ),
      ok(
        'Bash',
        { command: 'go vet ./agents/ 2>&1; golangci-lint run ./agents/ 2>&1 || true' },
        'claude.go:81:20: Error return value is not checked (errcheck)\n1 issues:',
      ),
      ok('Bash', { command: 'git -C /repo status' }, 'modified: agents/agent.go'),
      ok(
        'Bash',
        { command: 'git -C /repo add agents && git commit -m "feat: preflight checks"' },
        '[main abc1234] feat: preflight checks',
      ),
      ok(
        'Edit',
        {
          file_path: '/repo/agents/claude.go',
          old_string: 'defer os.RemoveAll(dir)',
          new_string: 'defer func() { _ = os.RemoveAll(dir) }()',
        },
        'The file /repo/agents/claude.go has been updated successfully.',
      ),
      ok('Bash', { command: 'go vet ./agents/ 2>&1; golangci-lint run ./agents/ 2>&1 || true' }, '0 issues.'),
      ok('Bash', { command: 'go build ./agents/', description: 'Build once more' }, ''),
    ]),
  ],
  'denied calls that the model stops after two': oneByOne([
    { name: 'bash', input: { command: 'git push' }, status: 'denied', output: 'Needs an approval.' },
    { name: 'bash', input: { command: 'git push' }, status: 'denied', output: 'Needs an approval.' },
    ok('bash', { command: 'git log -1' }, 'commit abc'),
  ]),
  'a benchmark repeated nine times': rounds(9, (round) => [
    ok(
      'bash',
      { command: 'npm run bench' },
      `ops/sec: ${98_000 + ((round * 7919) % 4000)}, ${80 + ((round * 5) % 19)} samples`,
    ),
  ]),
  'a build with long stages, of a tool whose name indicates no poll': rounds(40, (round) => [
    ok(
      'get_build',
      { id: 9 },
      { status: 'in_progress', stage: ['fetch', 'lint', 'compile', 'test', 'pack'][Math.floor(round / 8)] },
    ),
  ]),
  'an inbox with a new message now and then': rounds(28, (round) => [
    ok('check_messages', {}, { messages: round % 4 === 3 ? [{ text: inbox[(round - 3) / 4] }] : [] }),
  ]),
  'steps of a debugger': rounds(30, (round) => [
    ok('debug_step', { kind: 'over' }, { file: 'main.c', line: 10 + round, sum: round * round }),
  ]),
  'a check with the same short answer for each name': rounds(40, (round) => [
    ok('check_domain', { domain: `shop${round}.example` }, { available: false }),
  ]),
  'commands whose report is an object': rounds(40, (round) => [
    ok(
      'bash',
      { command: `sed -n '${round * 9 + 1},${round * 9 + 9}p' big.ts` },
      { stdout: `const v${round}`, exit_code: 0 },
    ),
  ]),
  'migrations that one command applies one by one': rounds(12, (round) => [
    ok(
      'bash',
      { command: 'npx prisma migrate deploy --one' },
      `Applied migration ${'abcdefghijkl'[round]}_tables in order`,
    ),
  ]),
  'a validation with the same long answer for each file': rounds(40, (round) => [
    ok(
      'validate_yaml',
      { path: `k8s/part${round}.yaml` },
      'The document is valid and has no warnings. All required fields are present in version 1.29 of the schema.',
    ),
  ]),
  'downloads without output, in the report of Cursor': rounds(40, (round) => [
    ok(
      'run_terminal_cmd',
      { command: `curl -sO https://example.com/${round}.zip` },
      `Exit code: 0\n\nCommand output:\n\n\`\`\`\n\n\`\`\`\n\nCommand completed in ${round * 7} ms.\n\nShell state (cwd, env vars) persists for subsequent calls.`,
    ),
  ]),
  'folders with the same files': rounds(40, (round) => [
    ok('list_directory', { path: `packages/part${round}` }, '[FILE] package.json\n[FILE] README.md\n[DIR] src'),
  ]),
  'a batch in a state that only its name tells from an end': rounds(9, (round) => [
    ok('get_batch', { id: 'b1' }, { status: 'validating', checked_at: clock(round) }),
  ]),
  'a deployment that ends shortly before the limit of polls': rounds(9, (round) => [
    ok('check_deployment', { id: 'd1' }, round < 8 ? { status: 'building', at: clock(round) } : { status: 'ready' }),
  ]),
  'names that a tool makes up': rounds(9, (round) => [
    ok('generate_name', { style: 'short' }, { name: `name${'abcabcabc'[round]}` }),
  ]),
  'a wait of 15 checks': [
    ...rounds(15, () => [failed('bash', { command: 'pg_isready -h db' }, 'db:5432 - no response')]),
    ...rounds(1, () => [ok('bash', { command: 'pg_isready -h db' }, 'db:5432 - accepting connections')]),
  ],
  'a debugger that goes from line to line': rounds(24, (round) => [
    ok('gdb', { cmd: 'step' }, `${200 + round * 3}\t  ${statements[round]};`),
  ]),
  'a copy that grows': rounds(25, (round) => [
    ok('bash', { command: 'du -sh /backup' }, `${10 + round * 2}.4G /backup`),
  ]),
  'a queue that empties': rounds(24, (round) => [ok('queue_depth', { queue: 'mail' }, { depth: 900 - round * 31 })]),
  'a flaky test until it fails in the same way again': rounds(8, (round) => [
    round % 2 === 0
      ? ok('bash', { command: 'npm test -- flaky' }, `1 passed (${round}.3s)`)
      : failed('bash', { command: 'npm test -- flaky' }, `1 failed: timeout at step ${(round * 5) % 7}`),
  ]),
  'a test that passes several times after it failed': rounds(8, (round) => [
    round === 0
      ? failed('bash', { command: 'npm test -- flaky' }, '1 failed, 3 passed')
      : ok('bash', { command: 'npm test -- flaky' }, '4 passed'),
  ]),
  'a page that is scrolled and read as pictures': rounds(14, (round) => [
    ok('computer', { action: 'scroll', amount: 5 }, [{ type: 'image', data: `iVBORw0KGgo${round * 7919}a${round}f0` }]),
  ]),
  'keys whose effect is only on the screen': rounds(9, () => [
    ok('bash', { command: 'tmux send-keys -t main Down' }, ''),
  ]),
  'a benchmark that prints only durations': rounds(6, (round) => [
    ok('bash', { command: 'hyperfine ./app' }, `Time (mean): ${100 + ((round * 7) % 5)}.3 ms`),
  ]),
  'a training that logs its epochs and a score that goes up and down': rounds(55, (round) => [
    ok(
      'bash',
      { command: 'sleep 60; tail -1 train.log' },
      `Epoch ${round + 1}/60 - loss: ${4 - round / 20} - accuracy: 0.${50 + ((round * 17) % 40)}`,
    ),
  ]),
  'a solver that logs iterations without a pause': rounds(50, (round) => [
    ok('bash', { command: 'tail -1 solve.log' }, `iteration ${round + 1}/200 residual ${(round * 31) % 17}`),
  ]),
  'a backlog that is worked off at uneven speed, without a pause': rounds(60, (round) => [
    ok('bash', { command: './backlog.sh' }, `orders ${90_000 - round * 900 - ((round * 37) % 300)}`),
  ]),
  'a query of a count that rises at uneven speed': rounds(60, (round) => [
    ok(
      'query',
      { sql: 'SELECT blocks_done FROM pg_stat_progress_create_index' },
      `blocks_done ${round * 900 + ((round * 37) % 300)}`,
    ),
  ]),
  'a form that is filled for each of many people': rounds(20, (round) => [
    ok('browser_navigate', { url: 'https://crm.example/new' }, 'Navigated to https://crm.example/new'),
    ok('browser_type', { selector: '#name', text: `Person ${round}` }, 'ok'),
    ok('browser_click', { selector: '#save' }, `Record ${2000 + round} was stored.`),
  ]),
  'text that is typed into one field after another by keyboard': rounds(30, (round) => [
    ok('computer', { action: 'key', text: 'Tab' }, 'Pressed Tab'),
    ok('computer', { action: 'type', text: `value ${round}` }, 'Typed'),
  ]),
  'a direction that is blocked in many rooms of a game': rounds(12, (round) => [
    ok('game', { action: 'go up' }, 'A ceiling is in the way.'),
    ok('game', { action: `open the door ${round}` }, `${statements[round]} is behind the door.`),
  ]),
  'a training whose loss falls while its speed goes up and down': rounds(40, (round) => [
    ok(
      'bash',
      { command: 'tail -1 train.log' },
      `step ${round * 100} loss ${(3 / (round + 1)).toFixed(4)} ${900 + ((round * 7919) % 700)} tok/s`,
    ),
  ]),
  'a count that rises, read by a tool whose name says nothing': rounds(28, (round) => [
    ok(
      'es_request',
      { path: '/_cat/indices/logs?h=docs.count' },
      String(120_000 + round * 5000 + ((round * round * 37) % 900)),
    ),
  ]),
  'a remote control whose button is pressed until the volume is right': rounds(18, (round) => [
    ok('remote', { button: 'volume_up' }, `volume ${20 + round}`),
  ]),
  'a debugger that evaluates the same expression after each step': rounds(30, (round) => [
    ok('debug_step', { kind: 'over' }, { file: 'a.py', line: 40 + round }),
    ok('debug_eval', { expression: 'total' }, String((round * 7919) % 1000)),
  ]),
  'upgrades by short names, with a build after each': rounds(20, (round) => [
    ok('bash', { command: `pnpm up dep${round} --latest` }, `Packages: +${round % 3}`),
    ok('bash', { command: 'pnpm build' }, 'Build is complete'),
  ]),
  'status codes of different addresses, as a command prints them': rounds(20, (round) => [
    ok('bash', { command: `curl -s -o /dev/null -w '%{http_code}' https://a.example/${round}` }, '404'),
  ]),
  'the same health report of many hosts': rounds(40, (round) => [
    ok('http_get', { url: `https://host${round}.example/health` }, 'All systems are up.'),
  ]),
  'files with no issues, in the words of a checker without a known verb': rounds(40, (round) => [
    ok('ruff', { path: `src/part${round}.py` }, round % 2 === 0 ? 'No issues found.' : 'Keine Fehler gefunden.'),
  ]),
  'notes of the user that are read one after another': rounds(40, (round) => [
    ok('obsidian_read_note', { title: `Note ${round}` }, `${statements[round % 20]} is in note ${round}`),
  ]),
  'entries of a list of the user that are completed': rounds(40, (round) => [
    ok('complete_todo', { id: `${7000 + round}` }, 'ok'),
  ]),
  'notes of a melody': rounds(40, (round) => [ok('play_note', { pitch: 40 + round }, 'ok')]),
  'records with an empty list and a count of zero': rounds(40, (round) => [
    ok('get_user', { login: `u${round}` }, { name: statements[round % 20], groups: [], logins: 0 }),
  ]),
  'a share in a member of a report with figures that go up and down': rounds(50, (round) => [
    ok('get_rollout', { flag: 'x' }, { flag: 'x', percentage: round * 2 + 1, errors: (round * 7) % 4 }),
  ]),
  'a fraction in a member of a report': rounds(50, (round) => [
    ok('render_status', {}, { progress: (round + 1) / 51, fps: 20 + ((round * 17) % 40) }),
  ]),
  'figures of a report whose sums coincide': rounds(60, (round) => [
    ok('get_load', { host: 'a' }, { left: (round * 7) % 31, right: 31 - ((round * 7) % 31) }),
  ]),
  'commands of an unknown program, with the same check after each': rounds(24, (round) => [
    ok('bash', { command: `acme deploy service${round}` }, `Deployed service${round}`),
    ok('bash', { command: 'acme status' }, 'All services are healthy.'),
  ]),
  'folders with the same files, listed by shell': rounds(40, (round) => [
    ok('bash', { command: `ls packages/part${round}` }, 'index.ts\npackage.json'),
  ]),
  'counts of zero, with the exit code of a search': rounds(18, (round) => [
    failed('bash', { command: `grep -c name${round} src/app.ts` }, '0\nExit code: 1'),
  ]),
};
