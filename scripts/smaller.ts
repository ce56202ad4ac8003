/** What the build changes in modules and files of others, so that the executable is smaller. */
import { readFileSync } from 'node:fs'
import type { BunPlugin } from 'bun'

/** Large files that `src/platform/embedded.ts` reads. */
const COMPRESSED = /\/(cedar_wasm_bg\.wasm|language-common\/src\/passwords\.json)$/

/** The compression level of Zstandard that is smallest without needing more memory to read. */
const LEVEL = 19

/** A package whose comment has the only letters beyond ASCII in the bundle; the notices have it too. */
const WITH_LETTERS = /\/otpauth\/dist\/.+\.js$/

const BEYOND_ASCII = /[^\p{ASCII}]/u

export const smaller: BunPlugin = {
  name: 'smaller',
  setup(build) {
    build.onLoad({ filter: COMPRESSED }, ({ path }) => ({
      contents: Bun.zstdCompressSync(readFileSync(path), { level: LEVEL }),
      loader: 'file',
    }))
    build.onLoad({ filter: WITH_LETTERS }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/^\/\/!.*\n/gm, ''),
      loader: 'js',
    }))
  },
}

/** A long text as `src/platform/notices.ts` reads it. */
export const packed = (text: string): string =>
  Bun.zstdCompressSync(text, { level: LEVEL }).toString('base64')

/** Throws if a source has a letter beyond ASCII: Bun would store two bytes for each letter of it. */
export async function requireAscii(sources: readonly Bun.BuildArtifact[]) {
  for (const source of sources) {
    if (source.loader === 'file') continue
    const line = (await source.text()).split('\n').find((text) => BEYOND_ASCII.test(text))
    if (line !== undefined)
      throw new Error(
        `the bundle has a letter beyond ASCII, which doubles its size: ${line.slice(0, 200)}`,
      )
  }
}
