import {
  annotate,
  intercept,
  notice,
  type Message,
  type NewEvent,
  type ToolStatus,
  type TurnEventOf,
  type TurnOperator,
  type UserMessage,
} from '@h/turn';
import { answerRedaction } from './answers.js';
import { redactOutcome, textsOf, wrapOutput } from './outcome.js';
import { createRedactor, type Redactor } from '@h/redact';
import { scanContext, type ScanContextResult } from './scan/scan-context.js';
import { checkSecurityOptions, type RedactionPlace, type SecurityOptions } from './security-options.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** Secrets were taken out of a tool's result. */
    'security.redacted': { readonly call: string; readonly tool: string };
    /** A result from outside tries to redirect the model. It was wrapped and handed on. */
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
/** Longer results are capped by `tools()` before they come here. */
const maxScanned = 262_144;

/** Results that the harness wrote itself. */
const own: ReadonlySet<ToolStatus> = new Set([
  'denied',
  'invalid-input',
  'unknown-tool',
  'skipped',
  'cancelled',
  'interrupted',
]);

/**
 * Has the last word on what goes in and out: takes secrets out of tools' results, and wraps the results of tools that reach outside, so
 * that the model can tell data from instructions.
 *
 * Belongs behind `tools()`, so that no cut goes through a wrap, and behind `loopDetect()`, which compares results without the ids of
 * wraps. A result that was treated carries `annotations.security`; a resumed turn finds it as it left, with the same id, and
 * a second `security()` leaves it alone. Put {@link externalContentRule} into the system prompt.
 *
 * @throws InvalidOptionError
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
  const { redactor = createRedactor(), redact = ['results', 'progress', 'approvals'] } = options;
  const at = (place: RedactionPlace): Redactor | undefined =>
    redactor !== false && redact.includes(place) ? redactor : undefined;
  const [results, progress, approvals, input, answers, state] = [
    at('results'),
    at('progress'),
    at('approvals'),
    at('input'),
    at('answers'),
    at('state'),
  ];

  return intercept('security', () => {
    const said = answers === undefined ? undefined : answerRedaction(answers);
    return {
      decide: {
        'tool.result': (event) =>
          event.annotations?.[annotationName] === undefined ? treat(event, results, options) : undefined,
        ...(progress !== undefined && {
          'tool.progress': (event) => changed(event, 'progress', progress.redactData(event.progress)),
        }),
        ...(state !== undefined && {
          'session.state': (event) => changed(event, 'value', state.redactData(event.value)),
        }),
        ...(approvals !== undefined && { 'approval.request': (event) => redactApproval(event, approvals) }),
        ...(input !== undefined && {
          'turn.start': (event) => changed(event, 'input', redactMessages(event.input, input)),
          'input.received': (event) => changed(event, 'message', redactMessage(event.message, input)),
          'history.append': (event) =>
            event.origin === 'input' || event.origin === 'steering'
              ? changed(event, 'messages', redactMessages(event.messages, input))
              : undefined,
        }),
        ...(said !== undefined && {
          'model.delta': said.delta,
          'model.response': (event) => [...said.flush(), said.response(event)],
          'model.error': (event) => [...said.flush(), event],
        }),
      },
    };
  });
};

/** The event with another value in one place; nothing, where it is the same. */
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
  const told = findings.filter(({ severity }) => severity !== 'note').slice(0, maxFindings);
  return [
    notice('security.suspicious', {
      call,
      tool,
      verdict,
      findings: told.map(({ rule, severity, line }) => ({ rule, severity, line })),
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
    if (options.sourceOf !== undefined) return options.sourceOf(event);
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

/** Texts of a user's message; files are left alone. */
const redactMessage = <One extends Message>(message: One, { redact }: Redactor): One => {
  if (message.role !== 'user') return message;
  const { content }: UserMessage = message;
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
