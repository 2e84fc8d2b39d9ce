import type { ModelSettings, TurnEventOf } from '@h/turn';
import type { Asked } from './events.js';
import { PortableHistory } from './portable/portable-history.js';

type Request = TurnEventOf<'model.request'>;

/** Makes of a request what those who are asked take: their names, their settings, a history without what only others understand. */
export class RequestShaper {
  readonly #readers = new Map<string, PortableHistory>();
  readonly #home: () => Asked;
  #latest: { readonly asked: Asked; readonly reader: PortableHistory } | undefined;

  /** @param home who usually answers in the session */
  constructor(home: () => Asked) {
    this.#home = home;
  }

  shape(request: Request, asked: Asked, settings: ModelSettings | undefined): Request {
    const { model, credential } = asked;
    const messages = this.#readerFor(asked).for(request.messages);
    if (
      request.model === model &&
      request.credential === credential &&
      messages === request.messages &&
      settings === undefined
    ) {
      return request;
    }
    // The new members come first: behind a spread they cost V8 ten times as much.
    const widened: Request = { model, credential, ...request, messages };
    const shaped =
      widened.model === model && widened.credential === credential ? widened : { ...widened, model, credential };
    return settings === undefined ? shaped : { ...shaped, settings: { ...request.settings, ...settings } };
  }

  #readerFor(asked: Asked): PortableHistory {
    if (this.#latest?.asked === asked) return this.#latest.reader;
    const name = `${asked.model ?? ''}\0${asked.credential ?? ''}`;
    let reader = this.#readers.get(name);
    if (reader === undefined) this.#readers.set(name, (reader = new PortableHistory(asked, this.#home())));
    this.#latest = { asked, reader };
    return reader;
  }
}
