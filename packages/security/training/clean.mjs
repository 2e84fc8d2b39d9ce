/** Reads and writes the features of real ordinary passages: a count, then the sorted features as differences. */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

export const encoded = (passages) => {
  const numbers = [passages.length];
  for (const one of passages) {
    numbers.push(one.length);
    let last = 0;
    for (const feature of Int32Array.from(one).toSorted()) {
      numbers.push(feature - last);
      last = feature;
    }
  }
  const bytes = [];
  for (let one of numbers) {
    for (; one > 127; one >>>= 7) bytes.push((one & 127) | 128);
    bytes.push(one);
  }
  return brotliCompressSync(Buffer.from(bytes), { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } });
};

export const decoded = (buffer) => {
  const bytes = brotliDecompressSync(buffer);
  let place = 0;
  const next = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[place++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  return Array.from({ length: next() }, () => {
    let last = 0;
    return Int32Array.from({ length: next() }, () => (last += next()));
  });
};
