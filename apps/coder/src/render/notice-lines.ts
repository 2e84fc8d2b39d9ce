import type { FailoverTarget } from '@h/failover';
import type { TurnEvent } from '@h/turn';
import type { Palette } from './palette.js';
import { oneLine } from './printable.js';
import { counted, duration, grouped } from './quantity.js';

const askedText = ({ model, credential }: FailoverTarget): string =>
  [model ?? 'the model', ...(credential === undefined ? [] : [`with ${credential}`])].join(' ');

/** What the operators have to say about a turn, one line for each thing. */
export const noticeLines = (event: TurnEvent, palette: Palette): readonly string[] => {
  const done = (text: string): readonly string[] => [palette.dim(oneLine(text))];
  const warning = (text: string): readonly string[] => [palette.yellow(`! ${oneLine(text)}`)];
  switch (event.type) {
    case 'compaction.done': {
      const { tokensBefore, tokensAfter, strategies, durationMs } = event;
      return done(
        `⇣ compacted: ${grouped(tokensBefore)} → ${grouped(tokensAfter)} tokens (${strategies.join(', ')}, ${duration(durationMs)})`,
      );
    }
    case 'compaction.failed':
      return warning(`not compacted${event.strategy === undefined ? '' : ` by ${event.strategy}`}: ${event.message}`);
    case 'cache.checked':
      return event.outcome === 'lost'
        ? warning(
            `the provider's cache was lost: ${grouped(event.cachedBefore)} tokens were in it, ${grouped(event.cacheRead)} were read`,
          )
        : [];
    case 'prompt.skipped':
      return warning(`left out of the prompt: ${event.section} (${event.message})`);
    case 'prompt.problem':
    case 'skills.problem':
      return warning(event.message);
    case 'failover.retrying':
      return done(`↻ ${event.reason}: asking again in ${duration(event.delayMs)}`);
    case 'failover.switched':
      return done(
        `↻ ${event.reason}: asking ${askedText(event.to)}${event.delayMs === 0 ? '' : ` in ${duration(event.delayMs)}`}`,
      );
    case 'failover.waiting':
      return warning(`${event.reason}: waiting ${duration(event.delayMs)} for ${askedText(event.to)}`);
    case 'failover.exhausted':
      return event.availableAt === undefined
        ? []
        : warning(`nobody is left to ask before ${new Date(event.availableAt).toISOString()}`);
    case 'hook.failed':
      return warning(
        `the hook ${event.hook} failed${event.effect === 'denied' ? ', so it was denied' : ''}: ${event.error.message}`,
      );
    case 'hook.notice':
      return done(`${event.hook}: ${event.message}`);
    case 'hook.sent-back':
      return done(
        `↺ ${event.hook}: ${event.reason}${event.refused ? ' (no more: it has gone back often enough)' : ''}`,
      );
    case 'approval.remembered':
      return done(`allowed before: ${event.rule}`);
    case 'approval.store-failed':
      return warning(`what you allow can not be remembered: ${event.error.message}`);
    case 'loop.warning':
      return warning(`loop (${event.detector ?? ''}): ${event.message}`);
    case 'budget.near':
    case 'budget.wrap-up':
      return warning(
        `${event.limit}: ${grouped(event.used)} of ${grouped(event.max)} used${event.type === 'budget.wrap-up' ? '; this step sums up, without tools' : ''}`,
      );
    case 'truncation.recovered':
      return done('the answer goes on where it was cut off');
    case 'queue.waiting':
      return done(`waiting for a place: ${event.position} in line`);
    case 'subagent.spawned':
      return done(`⎇ ${event.agent} begins`);
    case 'subagent.refused':
      return warning(`no ${event.agent}: ${event.reason}`);
    case 'subagent.ended': {
      const { agent, status, outcome, steps, usage, durationMs } = event;
      const how = status === 'failed' && outcome !== undefined ? `${status} (${outcome})` : status;
      const line = `⎇ ${agent} ended: ${how} · ${counted(steps, 'step')} · tokens: ${grouped(usage.input)} in, ${grouped(usage.output)} out · ${duration(durationMs)}`;
      return status === 'ok' ? done(line) : warning(line);
    }
    case 'subagent.not-kept':
      return warning(`a sub-agent could not be recorded: ${event.reason}`);
    case 'continuity.problem':
      return warning(`the plan (${event.what}): ${event.error.message}`);
    case 'continuity.rule-proposed':
      return done(`proposed for AGENTS.md: ${event.rule}`);
    case 'handoff.started':
      return done(`hand-off (${event.trigger}): writing a briefing for a fresh context`);
    case 'handoff.done':
      return done('⇣ continues in a fresh context');
    case 'handoff.failed':
      return warning(`no briefing could be written: ${event.error.message}`);
    case 'handoff.refused':
      return warning(`no hand-off: ${event.reason}`);
    case 'security.redacted':
      return done(`secrets were taken out of what ${event.tool} returned`);
    case 'security.suspicious':
      return warning(
        `what ${event.tool} returned tries to redirect the model: ${event.findings.map(({ rule }) => rule).join(', ')}`,
      );
    default:
      return [];
  }
};
