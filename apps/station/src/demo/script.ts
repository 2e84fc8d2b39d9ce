import type { ChatCompletionRequest, ChatMessage } from '@copilotkit/aimock';

type Calls = readonly { readonly name: string; readonly input: Readonly<Record<string, unknown>> }[];

/** A step of a scripted conversation. */
interface Step {
  readonly text: string;
  readonly calls?: Calls;
}

/** A demonstration: the message of the user, and what the model does. */
export interface Scene {
  readonly title: string;
  readonly message: string;
  /** Returns the step after this many answers. */
  readonly step: (answers: number) => Step;
}

const lastOf =
  (steps: readonly Step[]) =>
  (answers: number): Step => {
    const last = steps.length - 1;
    return steps[Math.min(answers, last)] ?? { text: 'Done.' };
  };

const read = (path: string): Calls => [{ name: 'read_file', input: { path } }];
const edit = (path: string, find: string, replace: string): Calls => [
  { name: 'edit_file', input: { path, find, replace } },
];
const test = (pattern: string): Calls => [{ name: 'run_tests', input: { pattern } }];

/** What the demonstration shows, in this order. */
export const scenes: readonly Scene[] = [
  {
    title: 'Add a retry to the payment client',
    message: 'Add a retry with backoff to the payment client, and a test for it.',
    step: lastOf([
      {
        text: "I'll read the client and its test first.",
        calls: [...read('src/payments.ts'), ...read('src/payments.test.ts')],
      },
      {
        text: "The client sends one request and throws. I'll add a retry for status 503 and for network errors.",
        calls: edit('src/payments.ts', 'return send(order);', 'return retry(() => send(order));'),
      },
      {
        text: 'Now the test: the server fails twice and then accepts the payment.',
        calls: edit('src/payments.test.ts', '});\n', "  it('retries twice');\n});\n"),
      },
      { text: "I'll run the tests of this module.", calls: test('payments') },
      {
        text: "One assertion expects the old error message. I'll update it and run all tests.",
        calls: [...edit('src/payments.test.ts', 'retries twice', 'retries twice, then succeeds'), ...test('all')],
      },
      {
        text: 'The payment client now retries network errors and status 503 three times, with a backoff of 200 ms, 400 ms and 800 ms. Other failures are reported at once, as before. A test covers the success after two failures. All 48 tests pass.',
      },
    ]),
  },
  {
    title: 'Release version 2.4.0',
    message: 'Release version 2.4.0 to production if the tests pass.',
    step: lastOf([
      { text: "I'll run the tests before the release.", calls: test('all') },
      {
        text: 'All tests pass. The release needs your approval.',
        calls: [{ name: 'deploy', input: { version: '2.4.0', environment: 'production' } }],
      },
      { text: 'The answer has arrived, so my work on the release ends here. See the result of the last call.' },
    ]),
  },
  {
    title: 'Find out why the build hangs',
    message: 'Find out why the build hangs at "linking".',
    step: (answers) => ({
      text: answers === 0 ? "I'll check the status of the build." : "The build is still linking. I'll check again.",
      calls: [{ name: 'build_status', input: { build: 812 } }],
    }),
  },
  {
    title: 'Summarize the open issues',
    message: 'Summarize the open issues of this week in three sentences.',
    step: lastOf([
      { text: "I'll read the list of issues.", calls: read('issues.md') },
      {
        text: 'Two issues are about payments: a timeout that hides the reason of a failure, and a refund that is booked twice. One asks for keyboard shortcuts in the order table. The refund is the only one that loses money, so I would begin there.',
      },
    ]),
  },
];

/** The model that is overloaded in the last scene, so that the agent falls back to another. */
export const overloadedModel = 'scripted-large';

/** Returns the answer of the scripted model. */
export const answerOf = (request: ChatCompletionRequest) => {
  const scene = sceneOf(request.messages);
  if (scene === scenes[3] && request.model.includes(overloadedModel)) {
    return { status: 529, error: { type: 'overloaded_error', message: 'Overloaded' } };
  }
  const user = request.messages.findLastIndex((message) => message.role === 'user' && textOf(message) !== '');
  const answers = request.messages.slice(user + 1).filter(({ role }) => role === 'assistant').length;
  const hasTools = (request.tools?.length ?? 0) > 0;
  const { text, calls = [] } = scene?.step(answers) ?? {
    text: 'This is the scripted model of the demonstration: it knows four tasks. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY and start again to work with a real one.',
  };
  return {
    content: hasTools ? text : 'The task is not finished: the same call was repeated without a new result.',
    toolCalls: (hasTools ? calls : []).map(({ name, input }, index) => ({
      id: `toolu_${request.messages.length}_${index}`,
      name,
      arguments: JSON.stringify(input),
    })),
    usage: {
      input_tokens: Math.ceil(JSON.stringify(request.messages).length / 4),
      output_tokens: Math.ceil(text.length / 4),
    },
  };
};

const sceneOf = (messages: readonly ChatMessage[]): Scene | undefined => {
  const said = messages
    .filter(({ role }) => role === 'user')
    .map(textOf)
    .join('\n');
  return scenes
    .map((scene) => ({ scene, at: said.lastIndexOf(scene.message) }))
    .filter(({ at }) => at >= 0)
    .toSorted((left, right) => right.at - left.at)[0]?.scene;
};

const textOf = ({ content }: ChatMessage): string =>
  typeof content === 'string' ? content : (content?.map((part) => part.text ?? '').join('\n') ?? '');
