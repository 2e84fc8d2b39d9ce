import { AsyncLocalStorage } from 'node:async_hooks';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { ownOptions } from './host-request.js';
import type { ModelSource } from './model-source.js';

/** The marked calls around the current code. One for all bridges, because Node copies each value to every promise. */
const surrounding = new AsyncLocalStorage<readonly string[]>();
const markOption = 'passed';

/**
 * Recognizes the calls that have passed the operators of one `attach()`. A model that the host chooses for a step passes
 * them, and may call the attached model, as a router does: that call must not pass them again.
 *
 * Two marks show such a call, because a router may drop the provider options, and a queue the asynchronous context. Both
 * hold only while the router is called, and not for the steps of an agent that the router runs.
 */
export class GuardMark {
  /** The marks of the calls in progress. */
  readonly #open = new Set<string>();

  /** Marks the calls of the models of a source until `onEnd` is called. */
  mark(source: ModelSource): { readonly source: ModelSource; readonly onEnd: () => void } {
    // oxlint-disable-next-line h/no-clock -- the mark must be unique and nothing else depends on it
    const mark = crypto.randomUUID();
    this.#open.add(mark);
    const within = <Value>(call: () => Value): Value =>
      surrounding.run([...(surrounding.getStore() ?? []), mark], call);
    return {
      source: async (choice) => {
        const model = await source(choice);
        return {
          specificationVersion: 'v4',
          provider: model.provider,
          modelId: model.modelId,
          supportedUrls: model.supportedUrls,
          doGenerate: (call) => within(() => model.doGenerate(marked(call, mark))),
          doStream: (call) => within(() => model.doStream(marked(call, mark))),
        } satisfies LanguageModelV4;
      },
      onEnd: () => void this.#open.delete(mark),
    };
  }

  isOn({ providerOptions }: LanguageModelV4CallOptions): boolean {
    const { [markOption]: mark, run } = providerOptions?.[ownOptions] ?? {};
    const isOpen = (one: unknown): boolean => this.#open.has(one as string);
    return run === undefined && (isOpen(mark) || surrounding.getStore()?.some(isOpen) === true);
  }

  /** Returns the call without the options of this package. */
  off(call: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
    const { [ownOptions]: _own, ...providerOptions } = call.providerOptions ?? {};
    return { ...call, providerOptions };
  }
}

const marked = (call: LanguageModelV4CallOptions, mark: string): LanguageModelV4CallOptions => ({
  ...call,
  providerOptions: { ...call.providerOptions, [ownOptions]: { [markOption]: mark } },
});
