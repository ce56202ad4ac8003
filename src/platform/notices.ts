import { join } from 'node:path'

/** Compressed by Zstandard, in base64. */
declare const GATEHOUSE_NOTICES: string | undefined

const checkout = join(import.meta.dir, '..', '..')

/** All licenses, built into the executable or, in a checkout, made from the installed packages. */
export async function readNotices(): Promise<string> {
  if (typeof GATEHOUSE_NOTICES === 'string') return unpacked(GATEHOUSE_NOTICES)
  const child = Bun.spawn([process.execPath, join('scripts', 'notices.ts')], {
    cwd: checkout,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`The notices of this checkout cannot be read: ${err.trim()}`)
  return out
}

const unpacked = (notices: string): string =>
  Bun.zstdDecompressSync(Buffer.from(notices, 'base64')).toString()
