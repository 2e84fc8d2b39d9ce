import { MessageList, type ModelRequest } from '@h/turn';
import type { TokenGauge } from './counting/gauge.js';
import { countAll } from './counting/token-counter.js';

/** Counts requests of one turn, of each only what the one before did not have. */
export interface Meter {
  readonly name: TokenGauge['name'];
  /** Tokens of a request, as the gauge says. */
  measure(request: ModelRequest): CountedRequest;
}

export interface CountedRequest {
  /** The history. */
  readonly messages: number;
  /** Everything else: system prompt, tools, tail. */
  readonly overhead: number;
}

export const createMeter = (gauge: TokenGauge): Meter => {
  let list = MessageList.empty;
  let tokens = 0;
  return {
    name: gauge.name,
    measure: ({ messages, system, tools, tail }) => {
      if (!messages.startsWith(list)) {
        list = MessageList.empty;
        tokens = 0;
      }
      for (let place = list.length; place < messages.length; place += 1) {
        tokens += gauge.message(messages.at(place) as NonNullable<ReturnType<MessageList['at']>>);
      }
      list = messages;
      return {
        messages: tokens,
        overhead: gauge.system(system) + gauge.tools(tools) + (tail.length === 0 ? 0 : countAll(tail, gauge)),
      };
    },
  };
};
