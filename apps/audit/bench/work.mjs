/**
 * The work that the sessions of the corpus record. What tools return is real text: sources, declarations, documents and
 * data from `node_modules` and from this repository, and output of programs that is made from them.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folders = ['node_modules/.pnpm', 'packages', 'docs'];
const codeFiles = /\.(?:[cm]?[jt]sx?|json|css|ya?ml)$/;
const generatedFiles = /\.min\.|\.map$|dist\/.*-[\w-]{8}\.js$|[/\\](?:dist|training)[/\\].*\.(?:bin|txt)$/;
const size = { min: 400, max: 40_000 };
const maxFiles = 12_000;

/** Reads the texts from which all sessions draw: `{ path, text }`, code and documents. */
export const readSources = () => {
  const code = [];
  const documents = [];
  const walk = (folder, depth) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth < 9) walk(path, depth + 1);
      if (!entry.isFile() || generatedFiles.test(path)) continue;
      const list = entry.name.endsWith('.md') ? documents : codeFiles.test(entry.name) ? code : undefined;
      if (list === undefined || list.length >= maxFiles) continue;
      const text = readFileSync(path, 'utf8');
      if (text.length >= size.min && text.length <= size.max) list.push({ path: relative(root, path), text });
    }
  };
  for (const folder of folders) walk(join(root, folder), 0);
  return { code, documents };
};

/** How often a coding agent calls its tools, in percent. */
const tools = [
  ['read', 28],
  ['test', 14],
  ['shell', 16],
  ['search', 13],
  ['edit', 14],
  ['write', 3],
  ['plan', 5],
  ['web', 3],
  ['mcp', 3.5],
  ['image', 0.5],
];
const maxReadLines = 2000;
const maxShellChars = 30_000;
const maxMcpChars = 24_000;

/** A project: the files that a session, its sub-agents and its resumed copies read. */
export const projectOf = (random, { code, documents }) => {
  const first = random.integer(0, code.length - 1);
  return {
    // Files that are next to each other belong to one library.
    files: Array.from({ length: 60 }, (_, index) => code[(first + index) % code.length]),
    documents: Array.from({ length: 20 }, () => random.pick(documents)),
  };
};

/** One step: `{ tool, input, text, file, error, thinking, said }`. */
export const stepOf = (random, project) => {
  const tool = random.weighted(tools);
  const file = random.pick(random.chance(0.4) ? project.files.slice(0, 8) : project.files);
  return {
    tool,
    file,
    said: random.chance(0.55) ? sentences(random, project, random.skewed(40, 900)) : undefined,
    thinking: random.chance(0.3) ? sentences(random, project, random.skewed(100, 4000)) : undefined,
    ...actions[tool](random, file, project),
  };
};

const actions = {
  read: (random, file) => {
    const lines = file.text.split('\n');
    const from = lines.length > 200 && random.chance(0.4) ? random.integer(0, lines.length - 100) : 0;
    const shown = lines.slice(from, from + (from > 0 ? random.skewed(30, 400) : maxReadLines));
    return { input: { file_path: file.path }, from, shown, text: numbered(shown, from) };
  },
  test: (random, file, project) => {
    const tail = random.skewed(10, 120);
    const failed = random.chance(0.4) ? random.integer(1, 6) : 0;
    const suites = Array.from({ length: random.skewed(2, 40) }, () => {
      const { path } = random.pick(project.files);
      return Array.from(
        { length: random.integer(1, 8) },
        () => ` ✓ ${path} > ${words(random, file, 6)} ${random.integer(1, 400)}ms`,
      );
    }).flat();
    const errors = Array.from({ length: failed }, () =>
      [
        ` FAIL  ${file.path} > ${words(random, file, 5)}`,
        `AssertionError: expected ${random.integer(0, 99)} to be ${random.integer(0, 99)} // Object.is equality`,
        ` ❯ ${file.path}:${random.integer(1, 400)}:${random.integer(1, 60)}`,
        ...excerpt(random, file, 6).map((line, index) => `    ${index + 1}| ${line}`),
      ].join('\n'),
    );
    return {
      input: { command: `npx vitest run ${file.path} 2>&1 | tail -${tail}` },
      error: failed > 0,
      text: [...suites, ...errors, `Tests  ${failed} failed | ${suites.length} passed`].slice(-tail).join('\n'),
    };
  },
  shell: (random, file, project) => {
    const [command, text] = random.pick(shellCommands)(random, file, project);
    return {
      input: { command, description: words(random, file, 5) },
      text: text.slice(0, random.skewed(200, maxShellChars)),
    };
  },
  search: (random, file, project) => {
    const word = words(random, file, 1);
    const found = Array.from({ length: random.skewed(1, 120) }, () => {
      const { path, text } = random.pick(project.files);
      const lines = text.split('\n');
      const number = random.integer(1, lines.length);
      return `${path}:${number}:${(lines[number - 1] ?? '').slice(0, 300)}`;
    });
    return { input: { pattern: word, path: '.', output_mode: 'content' }, text: found.join('\n') };
  },
  edit: (random, file) => {
    const old = excerpt(random, file, random.skewed(1, 30));
    const line = random.integer(0, old.length - 1);
    const now = old.map((text, index) => (index === line ? `${text} // ${words(random, file, 4)}` : text));
    return {
      input: { file_path: file.path, old_string: old.join('\n'), new_string: now.join('\n') },
      text: `The file ${file.path} has been updated. Here's the result of running \`cat -n\` on a snippet of the edited file:\n${numbered(now, 40)}`,
    };
  },
  write: (random, file) => ({
    input: { file_path: `${file.path}.new.ts`, content: file.text.slice(0, 12_000) },
    text: `File created successfully at: ${file.path}.new.ts`,
  }),
  plan: (random, file) => ({
    input: {
      todos: Array.from({ length: random.integer(3, 9) }, () => ({
        content: words(random, file, 7),
        status: random.pick(['pending', 'in_progress', 'completed']),
      })),
    },
    text: 'Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress.',
  }),
  web: (random, file, project) => ({
    input: { url: `https://docs.example.com/${words(random, file, 1)}`, prompt: words(random, file, 8) },
    text: documentText(random, project, random.skewed(600, 6000)),
  }),
  mcp: (random, file, project) => ({
    input: { query: words(random, file, 4), limit: random.integer(5, 50) },
    text: random.chance(0.5)
      ? documentText(random, project, random.skewed(1000, maxMcpChars))
      : records(random, project, random.skewed(3, 40)),
  }),
  image: (random) => ({ input: { file_path: 'screenshot.png' }, image: random.skewed(40_000, 400_000), text: '' }),
};

const shellCommands = [
  (random, file, project) => [
    `git diff HEAD~1 -- ${file.path}`,
    [
      `diff --git a/${file.path} b/${file.path}`,
      ...excerpt(random, file, random.skewed(10, 200)).map(
        (line) => `${random.pick([' ', ' ', ' ', '+', '-'])}${line}`,
      ),
      `index ${random.hex(9)}..${random.hex(9)} 100644`,
      ...project.files.slice(0, random.integer(0, 3)).map(({ path }) => ` ${path} | ${random.integer(1, 90)} +++--`),
    ].join('\n'),
  ],
  (random, file, project) => [
    `git log --oneline -${random.integer(5, 30)}`,
    Array.from(
      { length: random.integer(5, 30) },
      () => `${random.hex(9)} fix(${words(random, file, 1)}): ${words(random, random.pick(project.files), 6)}`,
    ).join('\n'),
  ],
  (random, file) => [`cat ${file.path}`, file.text],
  (random, file) => [
    `sed -n '1,${random.integer(40, 300)}p' ${file.path}`,
    file.text.split('\n').slice(0, random.integer(40, 300)).join('\n'),
  ],
  (random, file, project) => [
    'npx tsc --noEmit',
    Array.from({ length: random.skewed(1, 60) }, () => {
      const { path } = random.pick(project.files);
      return `${path}(${random.integer(1, 900)},${random.integer(1, 80)}): error TS${random.pick([2345, 2322, 7006, 2339])}: Argument of type '${words(random, file, 1)}' is not assignable to parameter of type '${words(random, file, 1)}'.`;
    }).join('\n'),
  ],
  (random, file, project) => [
    `ls -la ${file.path.replace(/[^/]*$/, '')}`,
    project.files
      .map(
        ({ path, text }) =>
          `-rw-r--r-- 1 user staff ${text.length} Nov ${random.integer(1, 30)} 09:${random.integer(10, 59)} ${path.replace(/.*\//, '')}`,
      )
      .join('\n'),
  ],
  (random, file, project) => [
    'docker compose logs --tail 200 api',
    Array.from({ length: random.skewed(10, 200) }, () => {
      const time = `2026-10-${random.integer(10, 28)}T0${random.integer(1, 9)}:12:${random.integer(10, 59)}.${random.integer(100, 999)}Z`;
      return random.chance(0.3)
        ? `api-1  | ${JSON.stringify({ level: 'info', time, requestId: random.uuid(), path: `/${words(random, file, 1)}`, ms: random.integer(1, 900) })}`
        : `api-1  | ${time} INFO [${words(random, random.pick(project.files), 1)}] ${words(random, file, 9)}`;
    }).join('\n'),
  ],
  (random) => ['git status --short && git add -A', ` M src/a${random.integer(1, 9)}.ts\n?? src/b.ts`],
];

const numbered = (lines, from) =>
  lines.map((line, index) => `${String(from + index + 1).padStart(6)}→${line}`).join('\n');

const excerpt = (random, { text }, count) => {
  const lines = text.split('\n');
  const from = random.integer(0, Math.max(0, lines.length - count));
  return lines.slice(from, from + count);
};

/** Consecutive words of a file. */
const words = (random, { text }, count) => {
  const from = random.integer(0, Math.max(0, text.length - count * 16));
  return (text.slice(from, from + count * 24).match(/[A-Za-z]{2,16}/g) ?? ['run']).slice(0, count).join(' ');
};

/** Prose: a part of a document. */
const sentences = (random, project, chars) => {
  const { text } = random.pick(project.documents);
  const from = random.integer(0, Math.max(0, text.length - chars));
  return text.slice(from, from + chars);
};

const documentText = (random, project, chars) => {
  let text = '';
  while (text.length < chars) text += `${random.pick(project.documents).text.slice(0, chars - text.length)}\n`;
  return text;
};

/** Records as the servers of trackers and databases return them. */
const records = (random, project, count) =>
  JSON.stringify(
    Array.from({ length: count }, () => ({
      id: random.integer(1, 90_000),
      key: random.uuid(),
      title: words(random, random.pick(project.documents), 8),
      state: random.pick(['open', 'closed']),
      url: `https://tracker.example.com/issues/${random.integer(1, 9000)}`,
      updated_at: `2026-09-${random.integer(10, 28)}T10:00:00Z`,
      body: sentences(random, project, random.skewed(60, 900)),
    })),
    undefined,
    2,
  );
