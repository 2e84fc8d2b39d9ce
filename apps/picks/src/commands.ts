// A hand-written loop around fetch, without RxJS: commands are judged before they run.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { judgeCommand } from '@h/shell';

interface Call {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}
interface Message {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly Call[];
  readonly tool_call_id?: string;
}
const parameters = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] };
const bash = { type: 'function', function: { name: 'bash', description: 'Runs a command.', parameters } };

const runCall = async (call: Call): Promise<Message> => {
  const { command } = JSON.parse(call.function.arguments) as { readonly command: string };
  const { decision, findings } = judgeCommand(command, { cwd: process.cwd() });
  const run = async () => (await promisify(execFile)('bash', ['-c', command])).stdout;
  const content = decision === 'allow' ? await run() : `Not run: ${findings[0]?.why ?? decision}`;
  console.log(`$ ${command}\n${content}`);
  return { role: 'tool', tool_call_id: call.id, content };
};

const messages: Message[] = [{ role: 'user', content: 'Clean up the build folder.' }];
const url = process.env['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1';
for (let calls: readonly Call[] | undefined = []; calls;) {
  const body = JSON.stringify({ model: 'gpt-5-mini', messages, tools: [bash] });
  const headers = { authorization: `Bearer ${process.env['OPENAI_API_KEY']}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body });
  const { choices } = (await answer.json()) as { readonly choices: readonly { readonly message: Message }[] };
  const message = choices[0]?.message as Message;
  calls = message.tool_calls;
  messages.push(message, ...(await Promise.all((calls ?? []).map(runCall))));
}
console.log(messages.at(-1)?.content);
