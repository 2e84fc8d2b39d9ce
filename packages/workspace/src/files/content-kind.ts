/** The type of a file by its first bytes, because names may be wrong. */
export type ContentKind =
  | { readonly kind: 'text' }
  /** An image of a type that model providers accept. */
  | { readonly kind: 'image'; readonly mediaType: string }
  /** Other content that is not text; `description` completes "The file is …". */
  | { readonly kind: 'binary'; readonly description: string };

/** Number of bytes that {@link contentKind} examines; git examines the same number for a NUL. */
export const headBytes = 8_000;

interface Signature {
  readonly bytes: string;
  readonly at?: number;
  readonly mediaType?: string;
  readonly description?: string;
}

const signatures: readonly Signature[] = [
  { bytes: '89504e470d0a1a0a', mediaType: 'image/png' },
  { bytes: 'ffd8ff', mediaType: 'image/jpeg' },
  { bytes: '474946383761', mediaType: 'image/gif' },
  { bytes: '474946383961', mediaType: 'image/gif' },
  { bytes: '57454250', at: 8, mediaType: 'image/webp' },
  { bytes: '255044462d', description: 'a PDF document' },
  { bytes: 'fffe', description: 'UTF-16 text, which the file tools do not edit (convert it to UTF-8)' },
  { bytes: 'feff', description: 'UTF-16 text, which the file tools do not edit (convert it to UTF-8)' },
  { bytes: '504b0304', description: 'a ZIP archive (or a document made of one)' },
  { bytes: '1f8b', description: 'gzip data' },
  { bytes: 'fd377a585a00', description: 'xz data' },
  { bytes: '28b52ffd', description: 'zstd data' },
  { bytes: '377abcaf271c', description: 'a 7z archive' },
  { bytes: '7f454c46', description: 'an ELF program or library' },
  { bytes: 'cffaedfe', description: 'a Mach-O program or library' },
  { bytes: 'cafebabe', description: 'a Java class or a Mach-O program' },
  { bytes: '0061736d', description: 'a WebAssembly module' },
  { bytes: '53514c69746520666f726d6174203300', description: 'an SQLite database' },
  { bytes: '66747970', at: 4, description: 'a media container (MP4, HEIC, AVIF …)' },
  { bytes: '4f676753', description: 'Ogg media' },
];

/** Distinguishes text, images and other files by their first {@link headBytes}. */
export const contentKind = (head: Buffer): ContentKind => {
  const found = signatures.find(({ bytes, at = 0 }) =>
    head.subarray(at, at + bytes.length / 2).equals(Buffer.from(bytes, 'hex')),
  );
  if (found?.mediaType !== undefined) return { kind: 'image', mediaType: found.mediaType };
  if (found?.description !== undefined) return { kind: 'binary', description: found.description };
  return head.includes(0) ? { kind: 'binary', description: 'binary data of an unknown type' } : { kind: 'text' };
};
