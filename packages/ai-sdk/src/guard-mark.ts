import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { ownOptions } from './host-request.js';
import type { ModelSource } from './model-source.js';

/**
 * Marks the calls that have passed the operators of one `attach()`. A model that the host chooses for a step passes them,
 * and may call the attached model, as a router does: that call must not pass them again.
 */
export class GuardMark {
  // oxlint-disable-next-line h/no-clock -- the name must be unique and nothing else depends on it
  readonly #name = `passed-${crypto.randomUUID()}`;

  /** Marks the calls of the models of a source. */
  marking(source: ModelSource): ModelSource {
    return async (choice) => {
      const model = await source(choice);
      return {
        specificationVersion: 'v4',
        provider: model.provider,
        modelId: model.modelId,
        supportedUrls: model.supportedUrls,
        doGenerate: (call) => model.doGenerate(this.#marked(call)),
        doStream: (call) => model.doStream(this.#marked(call)),
      } satisfies LanguageModelV4;
    };
  }

  isOn({ providerOptions }: LanguageModelV4CallOptions): boolean {
    return providerOptions?.[ownOptions]?.[this.#name] === true;
  }

  /** Returns the call without the options of this package. */
  off(call: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
    const { [ownOptions]: _own, ...providerOptions } = call.providerOptions ?? {};
    return { ...call, providerOptions };
  }

  #marked(call: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
    const own = { ...call.providerOptions?.[ownOptions], [this.#name]: true };
    return { ...call, providerOptions: { ...call.providerOptions, [ownOptions]: own } };
  }
}
