import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ApprovalDecision } from '@h/turn';
import { choiceLabels, choices, questionText, type Question } from './question.js';

interface Open {
  readonly question: Question;
  readonly decide: (decision: ApprovalDecision) => void;
}

/** Asks on a local page, for clients that cannot ask their user. Its address contains a secret. */
export class ApprovalPage {
  readonly #open = new Map<string, Open>();
  readonly #secret = randomBytes(24).toString('base64url');
  readonly #onNote: (note: string) => void;
  #server: Server | undefined;
  #listening: Promise<string> | undefined;

  constructor(onNote: (note: string) => void) {
    this.#onNote = onNote;
  }

  /** Asks a question. The page opens with the first one. An abort withdraws it. */
  async ask(question: Question, signal: AbortSignal): Promise<ApprovalDecision> {
    this.#listening ??= this.#listen();
    const url = await this.#listening.catch((error: unknown) => {
      // The next question tries again.
      this.#listening = undefined;
      throw error;
    });
    signal.throwIfAborted();
    this.#onNote(`The call ${question.call?.name ?? ''} waits for your decision: ${url}`);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#open.delete(question.id);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const decide = (decision: ApprovalDecision): void => {
        this.#open.delete(question.id);
        signal.removeEventListener('abort', onAbort);
        resolve(decision);
      };
      this.#open.set(question.id, { question, decide });
    });
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  #listen(): Promise<string> {
    const server = createServer((request, response) => this.#handle(request, response));
    server.unref();
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', () => {
        server.on('error', (error) => this.#onNote(error.message));
        resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${this.#secret}/`);
      });
    });
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const [, secret = '', id = '', choice = ''] = (request.url ?? '').split('/');
    // Another site may resolve its name to this machine; its requests have another host.
    const isLocal = /^127\.0\.0\.1:\d+$/.test(request.headers.host ?? '');
    if (!isLocal || !isEqual(secret, this.#secret)) return void response.writeHead(404).end();
    if (request.method === 'POST') {
      const decision = choices.find((known) => known === choice);
      const asked = [...this.#open.keys()].find((open) => encodeURIComponent(open) === id);
      if (decision !== undefined && asked !== undefined) this.#open.get(asked)?.decide({ decision });
      return void response.writeHead(303, { location: `/${secret}/` }).end();
    }
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    });
    response.end(pageOf([...this.#open.values()].map(({ question }) => question)));
    return undefined;
  }
}

const isEqual = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0) ?? 0};`);

const pageOf = (questions: readonly Question[]): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="3"><title>MCP guard</title>
<style>body{font:16px/1.5 system-ui;margin:2rem auto;max-width:50rem}pre{background:#eee;padding:1rem;white-space:pre-wrap;overflow-wrap:anywhere}form{display:inline}</style>
</head><body><h1>Calls that wait for you</h1>
${questions.length === 0 ? '<p>No call waits.</p>' : questions.map(questionHtml).join('\n')}
</body></html>`;

const questionHtml = (question: Question): string => {
  const buttons = choices.map(
    (choice) =>
      `<form method="post" action="${escaped(encodeURIComponent(question.id))}/${choice}"><button>${choiceLabels[choice]}</button></form>`,
  );
  return `<section><pre>${escaped(questionText(question))}</pre>${buttons.join(' ')}</section>`;
};
