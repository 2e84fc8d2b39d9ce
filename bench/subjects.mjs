/** What is measured: each loop by name, with the module that makes it and its options. */
import { operatorNames } from './operator-names.mjs';

/** @typedef {{ title: string, module: string, options?: object }} Subject */

/** The loops of this repository and the floor below them. @type {Record<string, Subject>} */
export const own = {
  bare: { title: 'bare async generator', module: 'bare' },
  turn: { title: '`@h/turn`, no operator', module: 'h' },
  'plain-files': { title: 'bare generator, files, `mkdir` as lock', module: 'plain-files', options: { lock: 'mkdir' } },
  stack: { title: 'all ten operators', module: 'h', options: { names: operatorNames } },
  files: {
    title: "all ten, `fileSessions({ fsync: 'never' })`",
    module: 'h',
    options: { names: operatorNames, files: true },
  },
};

/** The loops of others. @type {Record<string, Subject>} */
export const peers = {
  'proper-lockfile': {
    title: 'bare generator, files, proper-lockfile 4.1.2',
    module: 'plain-files',
    options: { lock: 'proper-lockfile' },
  },
  pi: { title: 'pi-agent-core 0.87.1', module: 'pi' },
  'ai-sdk': { title: 'AI SDK 7.0.173', module: 'ai-sdk' },
  'openai-agents': { title: 'OpenAI Agents 0.20.0', module: 'openai-agents' },
  langchain: { title: 'LangChain 1.5.14', module: 'langchain' },
  'langchain-middleware': {
    title: 'LangChain 1.5.14, nine middleware',
    module: 'langchain',
    options: { middleware: true },
  },
};

/** Each operator alone, and the stack without it. @type {Record<string, Subject>} */
export const operators = Object.fromEntries(
  operatorNames.flatMap((name) => [
    [`only ${name}`, { title: name, module: 'h', options: { names: [name] } }],
    [
      `without ${name}`,
      { title: `without ${name}`, module: 'h', options: { names: operatorNames.filter((other) => other !== name) } },
    ],
  ]),
);
