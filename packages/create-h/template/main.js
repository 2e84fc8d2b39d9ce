// @ts-check
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { createSandbox } from '@h/sandbox';
import { createAgent } from './agent.js';
import { chooseModel } from './models.js';

const { name, model } = await chooseModel();
const folder = resolve('workspace');
await mkdir(folder, { recursive: true });
// Commands run on this machine. `mode: 'bubblewrap'` or `'docker'` confines them.
const sandbox = await createSandbox({ mode: 'host', root: folder });
const agent = createAgent({ model, folder, sessions: resolve('.agent/sessions'), sandbox });
const input = process.argv.slice(2).join(' ') || 'Look around and leave a note.';
console.log(`model: ${name}, folder: ${folder}\n\n› ${input}\n`);

/** Asks the person at the terminal about a call. Without a terminal the call is denied. */
const ask = async (/** @type {string} */ question) => {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // The terminal delivers Ctrl-C to the question.
  terminal.once('SIGINT', () => {
    terminal.close();
    stop();
  });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return answer.trim().toLowerCase() === 'y';
};

const running = agent.turn({ session: 'main', input }).subscribe((event) => {
  if (event.type === 'model.delta' && event.delta.type === 'text') process.stdout.write(event.delta.text);
  if (event.type === 'tool.result') {
    console.log(
      `\n${event.status === 'ok' ? '✓' : '✗'} ${event.call.name} ${JSON.stringify(event.call.input)} (${event.status})`,
    );
  }
  if (event.type === 'approval.request') {
    const { id, call, reason } = event;
    void ask(`${call?.name} ${JSON.stringify(call?.input)}\n${reason}`).then((isAllowed) =>
      agent.answer(id, isAllowed ? 'once' : { decision: 'deny', reason: 'The user denied the call.' }),
    );
  }
  if (event.type === 'turn.end') {
    console.log(`\n\n${event.outcome}${event.reason ? `: ${event.reason}` : ''} after ${event.steps} steps`);
    process.exitCode = event.outcome === 'completed' ? 0 : 1;
    void sandbox.close();
  }
});
const stop = () => {
  running.unsubscribe();
  process.exitCode = 130;
  void sandbox.close();
};
process.once('SIGINT', stop);
