import { openTelemetry as openExport, type Telemetry } from '@h/observe/otlp';
import { InvalidOptionError } from '@h/options';
import { UsageError } from './usage-error.js';

/**
 * Opens the telemetry of `--otel`.
 *
 * @param warn receives a message at the end if an export failed
 * @throws UsageError if `url` is not an HTTP URL
 */
export const openTelemetry = async (url: string | undefined, warn: (text: string) => void): Promise<Telemetry> => {
  const onFailure = ({ message }: Error): void => warn(`--otel: exporting to ${url} failed: ${message}`);
  try {
    return await openExport({ url, serviceName: 'h-coder', onFailure });
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error;
    throw new UsageError(
      `--otel must be the URL of a collector, such as http://127.0.0.1:4318, but is ${JSON.stringify(url)}.`,
      { cause: error },
    );
  }
};
