import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { notFound } from '../platform/errors.ts'
import { type Configured, STANDARD_STREAM } from './command.ts'

/** `--to` as a file, or `name` in that directory; undefined (`-` or no option) is stdout. */
export function targetOf(
  { io, options }: Pick<Configured, 'io' | 'options'>,
  name: string,
): string | undefined {
  if (options.to === undefined || options.to === STANDARD_STREAM) return undefined
  const to = resolve(io.cwd, `${options.to}`)
  const isDirectory = statSync(to, { throwIfNoEntry: false })?.isDirectory()
  if (!isDirectory && `${options.to}`.endsWith('/'))
    throw notFound(`directory ${to} does not exist. Is it mounted?`, {
      field: '--to',
      rule: 'unknown',
    })
  return isDirectory ? join(to, name) : to
}
