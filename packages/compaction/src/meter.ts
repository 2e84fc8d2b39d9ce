import { MessageList, type ModelRequest } from '@h/turn';
import type { TokenGauge } from './counting/gauge.js';
import { countAll } from './counting/token-counter.js';

/** Counts the requests of one turn; each costs only what is new in it. */
export interface Meter {
  /** The tokens of a request, by the gauge. */
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
