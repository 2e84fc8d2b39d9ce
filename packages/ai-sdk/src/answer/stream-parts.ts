import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';

/** Yields the parts of a stream, and cancels the stream when the consumer stops. */
export async function* partsOf(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  signal: AbortSignal,
): AsyncGenerator<LanguageModelV4StreamPart, void, undefined> {
  const reader = stream.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}
