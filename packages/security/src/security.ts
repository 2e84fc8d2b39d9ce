import {
  annotate,
  isNotice,
  intercept,
  notice,
  type Message,
  type NewEvent,
  type SharedDecideHandlers,
  type ToolStatus,
  type TurnEventOf,
  type TurnOperator,
  type UserMessage,
} from '@h/turn';
import { answerRedaction, type AnswerRedaction } from './answers.js';
import { redactOutcome, textsOf, wrapOutput } from './outcome.js';
import { progressRedaction, type ProgressRedaction } from './progress.js';
import { createRedactor, type Redactor } from '@h/redact';
import { scanContext, type ScanContextResult } from './scan/scan-context.js';
import { checkSecurityOptions, defaultPlaces, type RedactionPlace, type SecurityOptions } from './security-options.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** Secrets in a tool result were replaced. */
    'security.redacted': { readonly call: string; readonly tool: string };
    /** An external result tries to redirect the model. It was wrapped and passed on. */
    'security.suspicious': {
      readonly call: string;
      readonly tool: string;
      readonly verdict: Exclude<ScanContextResult['verdict'], 'clean'>;
      readonly findings: readonly { readonly rule: string; readonly severity: string; readonly line: number }[];
    };
  }
}

const annotationName = 'security';
const maxFindings = 20;
/** Maximum number of scanned characters. `tools()` truncates longer results. */
const maxScanned = 262_144;

/** Statuses of results that the harness creates. */
const own: ReadonlySet<ToolStatus> = new Set([
  'denied',
  'invalid-input',
  'unknown-tool',
  'skipped',
  'cancelled',
  'interrupted',
]);

/**
 * Redacts secrets in events, and wraps the results of external tools so that the model can tell data from instructions.
 *
 * Place it after `tools()`, so that truncation does not split a wrap, and after `loopDetect()`, which compares results
 * without wrap ids. A processed result carries `annotations.security`: a resumed turn has the same wraps, and a second
 * `security()` passes the result unchanged. Call inputs and reasoning are not changed; `eventRedactor` of `@h/redact`
 * redacts them for observers. Put {@link externalContentRule} into the system prompt.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 *
 * @example
 * ```ts
 * harness({ model, tools: driver }).pipe(
 *   prompt({ frozen: [externalContentRule] }),
 *   tools({ driver, artifacts, redact }),
 *   security({ redactor, external: ['fetch_page'] }),
 * );
 * ```
 */
export const security = (options: SecurityOptions = {}): TurnOperator => {
  checkSecurityOptions(options);
  const { redactor = createRedactor(), redact = defaultPlaces } = options;
  const at = (place: RedactionPlace): Redactor | undefined =>
    redactor !== false && redact.includes(place) ? redactor : undefined;
  const results = at('results');

  const place = {
    after: ['queue', 'hooks', 'guardrails', 'failover', 'prompt', 'compaction', 'loop-detect', 'tools'],
    before: ['observe', 'record'],
  };
  const decide: SharedDecideHandlers<TurnRedaction> = {
    'tool.result': ({ progress }, event) => {
      progress?.end(event.call.id);
      return event.annotations?.[annotationName] === undefined ? treat(event, results, options) : undefined;
    },
    'tool.progress': ({ progress }, event) => progress?.progress(event),
    'session.state': (_, event) => redactMember(event, 'value', at('state')),
    'approval.request': (_, event) => mapped(at('approvals'), (known) => redactApproval(event, known)),
    ...errorHandlers(at('errors')),
    ...messageHandlers({ input: at('input'), context: at('context'), metadata: at('metadata') }),
    ...answerHandlers(at('answers'), at('errors')),
    ...mapped(at('notices'), (known) => ({ '*': noticeHandler(known) })),
  };
  const setup = (): TurnRedaction => ({
    progress: mapped(at('progress'), progressRedaction),
    answers: mapped(at('answers'), answerRedaction),
  });
  return intercept('security', { setup, decide }, place);
};

/** The redaction of text that arrives in parts during one turn. */
interface TurnRedaction {
  readonly progress: ProgressRedaction | undefined;
  readonly answers: AnswerRedaction | undefined;
}

type TurnHandlers = SharedDecideHandlers<TurnRedaction>;

const mapped = <Value, Result>(value: Value | undefined, map: (value: Value) => Result): Result | undefined =>
  value === undefined ? undefined : map(value);

/** Redacts errors and reasons. */
const errorHandlers = (redactor: Redactor | undefined): TurnHandlers => ({
  'turn.stop': (_, event) => redactMember(redactMember(event, 'reason', redactor) ?? event, 'error', redactor, event),
  'turn.end': (_, event) => redactMember(redactMember(event, 'reason', redactor) ?? event, 'error', redactor, event),
  'tool.call': (_, event) => redactMember(event, 'denied', redactor),
  'approval.answer': (_, event) => redactMember(event, 'reason', redactor),
});

interface MessageRedactors {
  readonly input: Redactor | undefined;
  readonly context: Redactor | undefined;
  readonly metadata: Redactor | undefined;
}

/** Redacts user input, messages that operators add to the history or the tail, and turn metadata. */
const messageHandlers = ({ input, context, metadata }: MessageRedactors): TurnHandlers => ({
  'turn.start': (_, event) => {
    const described = redactMember(event, 'metadata', metadata) ?? event;
    const redacted =
      mapped(input, (known) => changed(described, 'input', redactMessages(event.input, known))) ?? described;
    return redacted === event ? undefined : redacted;
  },
  'input.received': (_, event) =>
    mapped(input, (known) => changed(event, 'message', redactMessage(event.message, known))),
  'history.append': (_, event) => {
    if (event.origin === 'response' || event.origin === 'results') return undefined;
    const isInput = event.origin === 'input' || event.origin === 'steering';
    const messages = event.messages.map((message) => {
      // Hooks add their context to the input of a user, in messages that are marked as internal.
      const known = isInput && message.metadata?.internal !== true ? input : context;
      return known === undefined ? message : redactMessage(message, known);
    });
    return messages.some((message, index) => message !== event.messages[index]) ? { ...event, messages } : undefined;
  },
  // The tail is what operators tell the model about the state of things, such as the output of a script.
  'model.request': (_, event) =>
    event.tail.length === 0
      ? undefined
      : mapped(context, (known) => changed(event, 'tail', redactMessages(event.tail, known))),
  'turn.continue': (_, event) =>
    mapped(context, (known) => {
      const reasoned = changed(event, 'reason', known.redact(event.reason)) ?? event;
      const redacted = changed(reasoned, 'messages', redactMessages(event.messages, known)) ?? reasoned;
      return redacted === event ? undefined : redacted;
    }),
});

/** Redacts deltas, responses and model errors. */
const answerHandlers = (redactor: Redactor | undefined, errors: Redactor | undefined): TurnHandlers => ({
  'model.error': ({ answers }, event) => {
    const redacted = redactMember(event, 'error', errors);
    return answers === undefined ? redacted : [...answers.flush(), redacted ?? event];
  },
  ...(redactor !== undefined && {
    'model.delta': ({ answers }: TurnRedaction, event: TurnEventOf<'model.delta'>) => answers?.delta(event),
    'model.response': ({ answers }: TurnRedaction, event: TurnEventOf<'model.response'>) =>
      answers === undefined ? undefined : [...answers.flush(), answers.response(event)],
  }),
});

/** Redacts the payload of every event that has no handler: the notices of all operators. */
const noticeHandler = (redactor: Redactor): NonNullable<TurnHandlers['*']> => {
  return (_, event) => {
    if (!isNotice(event.type)) return undefined;
    const { type, turn, at, annotations, ...payload } = event;
    const redacted = redactor.redactData(payload);
    return redacted === payload
      ? undefined
      : ({ ...redacted, type, turn, at, ...(annotations && { annotations }) } as NewEvent);
  };
};

/** Redacts one member of an event; `undefined` if nothing changes. */
const redactMember = <Event extends NewEvent>(
  event: Event,
  name: keyof Event,
  redactor: Redactor | undefined,
  original: Event = event,
): Event | undefined => {
  const redacted = redactor === undefined ? event : (changed(event, name, redactor.redactData(event[name])) ?? event);
  return redacted === original ? undefined : redacted;
};

/** Replaces one member of an event; `undefined` if the value is the same. */
const changed = <Event extends NewEvent, Name extends keyof Event>(
  event: Event,
  name: Name,
  value: Event[Name],
): Event | undefined => (value === event[name] ? undefined : { ...event, [name]: value });

const treat = (
  event: TurnEventOf<'tool.result'>,
  redactor: Redactor | undefined,
  options: SecurityOptions,
): readonly NewEvent[] | undefined => {
  const clean = redactor === undefined ? event : redactOutcome(event, redactor);
  const isRedacted = clean !== event;
  const wrapped =
    !own.has(event.status) && isExternal(event, options)
      ? wrapOutput(clean.output, sourceOf(event, options, redactor), options.createId)
      : undefined;
  if (!isRedacted && wrapped === undefined) return undefined;
  const treated = annotate(wrapped === undefined ? clean : { ...clean, output: wrapped.output }, annotationName, {
    redacted: isRedacted,
    ...(wrapped !== undefined && { wrapped: wrapped.id }),
  });
  const { id: call, name: tool } = event.call;
  return [
    ...(isRedacted ? [notice('security.redacted', { call, tool })] : []),
    ...(wrapped !== undefined && options.scan !== false ? suspicions(clean, call, tool) : []),
    treated,
  ];
};

const suspicions = ({ output }: TurnEventOf<'tool.result'>, call: string, tool: string): readonly NewEvent[] => {
  const { verdict, findings } = scanContext(textsOf(output).join('\n').slice(0, maxScanned), { policy: 'warn' });
  if (verdict === 'clean') return [];
  const reported = findings.filter(({ severity }) => severity !== 'note').slice(0, maxFindings);
  return [
    notice('security.suspicious', {
      call,
      tool,
      verdict,
      findings: reported.map(({ rule, severity, line }) => ({ rule, severity, line })),
    }),
  ];
};

const isExternal = (event: TurnEventOf<'tool.result'>, { external = [] }: SecurityOptions): boolean => {
  if ((event.details as { readonly external?: unknown } | null | undefined)?.external === true) return true;
  if (typeof external !== 'function') return external.includes(event.call.name);
  try {
    return external(event);
  } catch {
    return true;
  }
};

const sourceOf = (
  event: TurnEventOf<'tool.result'>,
  options: SecurityOptions,
  redactor: Redactor | undefined,
): string => {
  const source = namedSource(event, options);
  return redactor === undefined ? source : redactor.redact(source);
};

const namedSource = (event: TurnEventOf<'tool.result'>, options: SecurityOptions): string => {
  const { name, input } = event.call;
  try {
    if (options.sourceOf !== undefined) {
      const source: unknown = options.sourceOf(event);
      return typeof source === 'string' ? source : name;
    }
  } catch {
    return name;
  }
  const { url, uri } = (input ?? {}) as { readonly url?: unknown; readonly uri?: unknown };
  const address = [url, uri].find((one): one is string => typeof one === 'string');
  return address === undefined ? name : `${name} ${address}`;
};

const redactApproval = (
  event: TurnEventOf<'approval.request'>,
  { redact, redactData }: Redactor,
): TurnEventOf<'approval.request'> | undefined => {
  const reason = redact(event.reason);
  const call = redactData(event.call);
  return reason === event.reason && call === event.call
    ? undefined
    : { ...event, reason, ...(call !== undefined && { call }) };
};

const redactMessages = <One extends Message>(messages: readonly One[], redactor: Redactor): readonly One[] => {
  const redacted = messages.map((message) => redactMessage(message, redactor));
  return redacted.some((message, index) => message !== messages[index]) ? redacted : messages;
};

/** Redacts the text of a user or system message. Files are unchanged. */
const redactMessage = <One extends Message>(message: One, { redact }: Redactor): One => {
  if (message.role !== 'user' && message.role !== 'system') return message;
  const { content } = message as UserMessage;
  const redacted =
    typeof content === 'string'
      ? redact(content)
      : content.map((part) =>
          part.type === 'text' && redact(part.text) !== part.text ? { ...part, text: redact(part.text) } : part,
        );
  const isSame =
    typeof redacted === 'string' ? redacted === content : redacted.every((part, index) => part === content[index]);
  return isSame ? message : { ...message, content: redacted };
};
