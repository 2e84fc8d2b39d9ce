import { createHash } from 'node:crypto';

/** Returns pseudo-random bytes that are the same in each run. */
const hashOf = (seed: string | number): Buffer => createHash('sha256').update(String(seed)).digest();

const uuid = (seed: number): string => {
  const hex = hashOf(seed).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
};

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');

/** Typical inputs and outputs of agents, in several formats and scripts. */
export const samples: Readonly<Record<string, string>> = {
  prose: lines(
    40,
    (index) =>
      `We looked at the failing test number ${index} and believe that the parser drops the last token whenever a newline follows the closing bracket. It was noticed by accident, while somebody measured how long a summary takes.`,
  ),
  code: lines(
    60,
    (index) =>
      `export const handler${index} = async (request: IncomingMessage, options: HandlerOptions = {}): Promise<void> => {\n  const { retries = 3, timeoutMs } = options;\n  for (let attempt = 0; attempt < retries; attempt += 1) await send(request.url ?? '/', timeoutMs);\n};`,
  ),
  json: JSON.stringify(
    Array.from({ length: 100 }, (_, index) => ({
      id: uuid(index),
      name: `file-${index}.ts`,
      size: index * 713,
      tags: ['a', 'b'],
    })),
  ),
  log: lines(
    100,
    (index) =>
      `2026-11-20T14:${10 + (index % 50)}:33.123Z ERROR [worker-${index}] Connection to db-${index}.internal.example.com:5432 refused (ECONNREFUSED) after ${index * 3}ms`,
  ),
  hex: lines(60, (index) => hashOf(index).toString('hex')),
  base64: Buffer.concat(Array.from({ length: 60 }, (_, index) => hashOf(index))).toString('base64'),
  numbers: lines(200, (index) => `${index},${((index * 37) % 1000) / 10},2026-11-${10 + (index % 20)},ok`),
  german: lines(
    30,
    () =>
      'Die Zusammenfassung eines Gesprächs darf keine Bezeichner verlieren; deshalb prüfen wir wörtlich, ob sie noch da sind.',
  ),
  russian: lines(
    30,
    () => 'Сводка разговора не должна терять идентификаторы, поэтому мы проверяем их буквально в сохранённом тексте.',
  ),
  chinese: lines(
    30,
    () => '对话摘要绝不能丢失重要的标识符，因此我们会在存储的文本中逐字检查它们是否仍然存在。请修复失败的测试。',
  ),
  japanese: lines(
    30,
    () => '会話の要約は重要な識別子を失ってはならないため、保存されるテキストに残っているかを確認します。',
  ),
  hindi: lines(30, () => 'बातचीत का सारांश महत्वपूर्ण पहचानकर्ताओं को कभी नहीं खोना चाहिए।'),
  emoji: lines(30, () => '😀😂🔥👍🏽👨‍👩‍👧‍👦✅❌🚀'),
};
