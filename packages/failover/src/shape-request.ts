import type { ModelSettings, TurnEventOf } from '@h/turn';
import type { FailoverTarget } from './events.js';
import { PortableHistory } from './portable/portable-history.js';

type Request = TurnEventOf<'model.request'>;

/** Gives a request the names, the settings and the history that a target accepts. */
export type ShapeRequest = (request: Request, target: FailoverTarget, settings: ModelSettings | undefined) => Request;

/**
 * Shapes requests for targets; each target has one portable history, which is extended as the conversation grows.
 *
 * @param home the target that wrote the messages that name no other
 */
export const requestShaper = (home: () => FailoverTarget): ShapeRequest => {
  let histories: Map<string, PortableHistory> | undefined;
  let latest: { readonly target: FailoverTarget; readonly history: PortableHistory } | undefined;

  const historyFor = (target: FailoverTarget): PortableHistory => {
    if (latest?.target === target) return latest.history;
    const name = `${target.model ?? ''}\0${target.credential ?? ''}`;
    let history = histories?.get(name);
    if (history === undefined) (histories ??= new Map()).set(name, (history = new PortableHistory(target, home())));
    latest = { target, history };
    return history;
  };

  return (request, target, settings) => {
    const { model, credential } = target;
    const messages = historyFor(target).for(request.messages);
    const isSame = request.model === model && request.credential === credential && messages === request.messages;
    if (isSame && settings === undefined) return request;
    // The new members come first: after a spread they cost V8 ten times as much.
    const widened: Request = { model, credential, ...request, messages };
    const shaped =
      widened.model === model && widened.credential === credential ? widened : { ...widened, model, credential };
    return settings === undefined ? shaped : { ...shaped, settings: { ...request.settings, ...settings } };
  };
};
