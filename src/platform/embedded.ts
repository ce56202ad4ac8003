import { readFileSync } from 'node:fs'

/** How every Zstandard frame begins. */
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd]

/**
 * The content of a large file that is imported as a path. The build compresses such files
 * (`scripts/smaller.ts`); from sources, they are read as they are.
 */
export function readEmbedded(path: string): Uint8Array<ArrayBuffer> {
  const bytes = readFileSync(path)
  return ZSTD.every((byte, index) => bytes[index] === byte)
    ? new Uint8Array(Bun.zstdDecompressSync(bytes))
    : bytes
}
