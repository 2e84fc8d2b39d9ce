import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { bareEnvironment, main } from './coder-process.js';
import { sampleProject } from './folders.js';
import { startModelServer } from './model-server.js';

const hasTmux = ((): boolean => {
  try {
    return execFileSync('tmux', ['-V'], { encoding: 'utf8' }).startsWith('tmux');
  } catch {
    return false;
  }
})();

const lines = Array.from({ length: 60 }, (_, index) => `${index + 1}. Line of the paste, with "quotes" and ünïcode.`);
const pasted = lines.join('\n');

/** Starts the app in a terminal of its own tmux server. */
const startInTmux = async () => {
  const server = await startModelServer(() => 'I have read it.');
  const socket = `h-${randomUUID()}`;
  const tmux = (words: readonly string[], input?: string): string =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...words], {
      encoding: 'utf8',
      input,
      env: { ...bareEnvironment(), LC_ALL: 'C.UTF-8', OLLAMA_API_KEY: 'k' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  const words = ['--model', 'ollama/x', '--base-url', `${server.url}/v1`, '--workspace', await sampleProject()];
  const exitCode = join(await mkdtemp(join(tmpdir(), 'h-coder-tmux-')), 'exit-code');
  const program = ['sh', '-c', 'trap : HUP; "$@"; echo $? > "$0"', exitCode, process.execPath, main, ...words];
  tmux(['new-session', '-d', '-x', '100', '-y', '40', ...program]);
  const close = () => void tmux(['kill-server']);
  onTestFinished(() => {
    try {
      close();
    } catch {
      // The test has closed the terminal.
    }
  });
  const screen = (): string => tmux(['capture-pane', '-p', '-t', '0']);
  const shows = (text: string): Promise<void> =>
    vi.waitFor(() => expect(screen()).toContain(text), { timeout: 60_000, interval: 50 });
  await shows('Enter a message; /help lists commands');
  return {
    shows,
    screen,
    tmux,
    close,
    exitCode: () => readFile(exitCode, 'utf8'),
    type: (text: string) => tmux(['send-keys', '-t', '0', '-l', text]),
    enter: () => tmux(['send-keys', '-t', '0', 'Enter']),
    /** The messages that the model has received from the user, once there are any. */
    messages: async (): Promise<string> => {
      await shows('I have read it.');
      await shows('completed');
      return (server.requests.at(-1)?.messages ?? [])
        .filter(({ role }) => role === 'user')
        .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))
        .join('\n---\n');
    },
  };
};

describe.skipIf(!hasTmux)('60 lines pasted in tmux (skipped without tmux)', () => {
  it.each([
    ['with paste mode', ['-p']],
    ['without paste mode', []],
  ])('arrive as one message %s', async (_, flags) => {
    const { tmux, shows, enter, messages } = await startInTmux();
    tmux(['load-buffer', '-'], pasted);
    tmux(['paste-buffer', ...flags, '-t', '0']);
    await shows('[60 pasted lines]');
    enter();
    expect(await messages()).toContain(pasted);
  });

  it('arrive as one message with paste mode, line by line', async () => {
    const { type, shows, enter, messages } = await startInTmux();
    type('\u001B[200~');
    for (const [index, line] of lines.entries()) type(index === 0 ? line : `\r${line}`);
    type('\u001B[201~');
    await shows('[60 pasted lines]');
    enter();
    expect(await messages()).toContain(pasted);
  });

  it('are all sent without paste mode, line by line like typed messages', async () => {
    const { type, enter, screen, messages } = await startInTmux();
    for (const line of lines) {
      type(line);
      enter();
    }
    await vi.waitFor(
      async () => {
        // On a busy machine the app reads several lines at once, which it takes for a paste.
        if (screen().includes('pasted lines]')) enter();
        const received = await messages();
        for (const line of lines) expect(received).toContain(line);
      },
      { timeout: 60_000, interval: 100 },
    );
  });
});

describe.skipIf(!hasTmux)('a terminal in tmux (skipped without tmux)', () => {
  it('ends the app by SIGHUP when it is closed, without a crash', async () => {
    const { close, exitCode } = await startInTmux();
    close();
    await vi.waitFor(async () => expect(await exitCode()).toBe('129\n'), { timeout: 60_000, interval: 50 });
  });
});
