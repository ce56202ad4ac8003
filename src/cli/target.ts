import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { notFound } from '../platform/errors.ts'
import { type Configured, STANDARD_STREAM } from './command.ts'

/**
 * The file that `--to` asks for; undefined is standard output, for `-` and where nothing is said. A
 * directory gets a file of this name.
 */
export function targetOf(
  { io, options }: Pick<Configured, 'io' | 'options'>,
  name: string,
): string | undefined {
  if (options.to === undefined || options.to === STANDARD_STREAM) return undefined
  const to = resolve(io.cwd, `${options.to}`)
  const isDirectory = statSync(to, { throwIfNoEntry: false })?.isDirectory()
  if (!isDirectory && `${options.to}`.endsWith('/'))
    throw notFound(`found no directory ${to}. Create it, or mount it`, {
      field: '--to',
      rule: 'unknown',
    })
  return isDirectory ? join(to, name) : to
}
