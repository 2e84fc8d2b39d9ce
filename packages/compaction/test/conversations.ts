import type { AssistantPart, Message, ToolPart, ToolResultOutput } from '@h/turn';
import { createHash } from 'node:crypto';

const hex = (seed: string): string => createHash('sha256').update(seed).digest('hex');

const uuidOf = (seed: string): string => {
  const value = hex(seed);
  return `${value.slice(0, 8)}-${value.slice(8, 12)}-4${value.slice(13, 16)}-a${value.slice(17, 20)}-${value.slice(20, 32)}`;
};

/** Options of {@link conversation}. */
export interface ConversationOptions {
  /** How many files the agent works through; each takes three to five messages. */
  readonly files?: number;
  /** What the ids are made of, so that two conversations have different ones. */
  readonly seed?: string;
  /** Whether the last request is still being worked on. */
  readonly isOpen?: boolean;
}

/** A long transcript and the names in it that must not get lost. */
export interface Conversation {
  readonly messages: readonly Message[];
  readonly identifiers: readonly string[];
  readonly firstAsk: string;
  readonly lastAsk: string;
}

/**
 * An agent at work on many files: calls in parallel, errors, images, scripts of several kinds, decisions, and
 * identifiers of every kind. The default has some 400 messages.
 */
export const conversation = ({ files = 100, seed = 'a', isOpen = true }: ConversationOptions = {}): Conversation => {
  const deploy = uuidOf(`${seed}-deploy`);
  const commit = hex(`${seed}-commit`).slice(0, 40);
  const identifiers = [
    deploy,
    commit,
    `10.0.${seed.length}.7:8443`,
    `db-${seed}.internal.example.com:5432`,
    `https://ci.example.com/runs/${hex(seed).slice(0, 12)}`,
    `/srv/app-${seed}/config.yaml`,
    `FEATURE_FLAG=${seed}-enabled-7`,
    `${files} of ${files + 26}`,
  ];
  const firstAsk = `Move all ${files + 26} handlers of deployment ${deploy} to the new router, and keep $& and $1 as they are. Nichts vergessen, 请小心。`;
  const lastAsk = `Now check handler ${files} against ${identifiers[4]} and tell me what is left.`;
  const messages: Message[] = [
    { role: 'user', content: firstAsk },
    {
      role: 'assistant',
      content: [
        {
          type: 'text',
          text: `I begin at commit ${commit}, on ${identifiers[2]} with ${identifiers[3]}. Decision: FEATURE_FLAG=${seed}-enabled-7 stays on, because the old router still serves beta. The settings are in ${identifiers[5]}.`,
        },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'This is how it looks.' },
        { type: 'image', image: new Uint8Array(64), mediaType: 'image/png' },
      ],
    },
  ];
  for (let file = 1; file <= files; file += 1) messages.push(...stepOn(file, files, seed));
  messages.push({ role: 'assistant', content: [{ type: 'text', text: `${identifiers.at(-1)} handlers are moved.` }] });
  messages.push({ role: 'user', content: lastAsk });
  if (isOpen) {
    messages.push({
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: `${seed}-last`, toolName: 'bash', input: { command: 'npm test' } }],
    });
    messages.push(toolMessage([`${seed}-last`, 'bash', { type: 'text', value: 'ok' }]));
  } else {
    messages.push({ role: 'assistant', content: [{ type: 'text', text: 'All is well.' }] });
  }
  return { messages, identifiers, firstAsk, lastAsk };
};

const notes = [
  'Nothing of note.',
  '所有测试都通过了。',
  'Сборка прошла успешно.',
  'Größe geändert ✅',
  'すべて正常です。',
];

const stepOn = (file: number, files: number, seed: string): readonly Message[] => {
  const path = `src/handlers/handler-${file}.ts`;
  const [read, test, edit] = [`${seed}-${file}-read`, `${seed}-${file}-test`, `${seed}-${file}-edit`];
  const failed = file % 7 === 0;
  const content: AssistantPart[] = [
    { type: 'reasoning', text: `Next is ${path}.`, providerOptions: { anthropic: { signature: hex(read) } } },
    { type: 'text', text: `Handler ${file} of ${files + 26}. ${notes[file % notes.length]}` },
    { type: 'tool-call', toolCallId: read, toolName: 'read', input: { path } },
    { type: 'tool-call', toolCallId: test, toolName: 'bash', input: { command: `npm test -- ${path}` } },
  ];
  const listing = Array.from(
    { length: 30 },
    (_, line) => `${line + 1}: const value${line} = await load('${hex(`${path}${line}`).slice(0, 8)}');`,
  ).join('\n');
  const outcome: ToolResultOutput = failed
    ? { type: 'error-text', value: `TypeError at ${path}:${file}: cannot read properties of undefined` }
    : { type: 'json', value: { passed: file, failed: 0 } };
  return [
    { role: 'assistant', content },
    toolMessage([read, 'read', { type: 'text', value: listing }], [test, 'bash', outcome]),
    {
      role: 'assistant',
      content: [
        { type: 'tool-call', toolCallId: edit, toolName: 'edit', input: { path, oldText: 'old()', newText: 'new()' } },
      ],
    },
    toolMessage([edit, 'edit', { type: 'text', value: 'edited' }]),
  ];
};

const toolMessage = (
  ...results: readonly (readonly [id: string, name: string, output: ToolResultOutput])[]
): Message => ({
  role: 'tool',
  content: results.map(([toolCallId, toolName, output]): ToolPart => ({
    type: 'tool-result',
    toolCallId,
    toolName,
    output,
  })),
});
