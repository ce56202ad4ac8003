import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

/** As `sha256sum` writes it and `sha256sum --check` reads it. */
export function checksums(files: readonly string[]): string {
  const lines = [...files].sort().map((file) => `${sha256(file)}  ${basename(file)}\n`)
  return lines.join('')
}

const sha256 = (file: string) =>
  new Bun.CryptoHasher('sha256').update(readFileSync(file)).digest('hex')
