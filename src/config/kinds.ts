import { resolve } from 'node:path'
import { Type } from '@sinclair/typebox'
import { formatDuration, parseDuration } from './durations.ts'
import { type Kind, kindOf } from './kind.ts'
import { formatSize, parseSize } from './sizes.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** A whole number within bounds. */
export const integer = (minimum: number, maximum: number) =>
  kindOf({
    schema: Type.Integer({ minimum, maximum }),
    expected: `a whole number from ${minimum} to ${maximum}`,
    fromText: (text) => (/^-?\d+$/.test(text) ? Number(text) : text),
    write: (value) => value,
  })

/** A whole number within bounds, or one word in place of it. */
export const integerOr = <const W extends string>(minimum: number, maximum: number, word: W) =>
  kindOf({
    schema: Type.Unsafe<number | W>(
      Type.Union([Type.Integer({ minimum, maximum }), Type.Literal(word)]),
    ),
    expected: `a whole number from ${minimum} to ${maximum}, or "${word}"`,
    fromText: (text) => (/^-?\d+$/.test(text) ? Number(text) : text),
    write: (value) => value,
  })

/** True or false. */
export const toggle = kindOf({
  schema: Type.Boolean(),
  expected: 'true or false',
  fromText: (text) => ({ true: true, false: false })[text] ?? text,
  write: (value) => value,
})

/** One of a few words. */
export function choice<const T extends string>(...words: T[]): Kind<T> {
  const quoted = words.map((word) => `"${word}"`)
  return kindOf({
    schema: Type.Unsafe<T>(Type.Union(words.map((word) => Type.Literal(word)))),
    expected: `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`,
    write: (value) => value,
  })
}

/** Text that `accepts` returns true for, normalized by `tidy`. */
export const text = (
  expected: string,
  accepts: (written: string) => boolean,
  tidy = (written: string) => written,
): Kind<string> =>
  kindOf({
    schema: Type.String(),
    expected,
    parse: (raw) => (typeof raw === 'string' && accepts(raw) ? tidy(raw) : undefined),
    write: (value) => value,
  })

/** Text that matches a pattern. */
export const word = (pattern: RegExp, expected: string) =>
  text(expected, (written) => pattern.test(written))

/** Text without control characters, which terminals and headers would interpret. */
const oneLine = (length: number) => new RegExp(`^[^\\p{Cc}]{1,${length}}$`, 'u')

/** One line of any text, such as ids and secrets from a provider. */
export const line = (length: number) =>
  word(oneLine(length), `1 to ${length} characters on one line`)

/** A file or directory; a relative one starts at the working directory. */
export const path: Kind<string> = {
  ...word(oneLine(4096), 'a path'),
  resolve: (value, cwd) => resolve(cwd, value),
}

/** A duration in milliseconds, between bounds such as `1s` and `24h`. */
export const duration = (shortest: string, longest: string) =>
  kindOf({
    schema: Type.Integer({
      minimum: parseDuration(shortest) ?? Number.NaN,
      maximum: parseDuration(longest) ?? Number.NaN,
    }),
    expected: `a duration from ${shortest} to ${longest}`,
    unit: 'Ms',
    parse: (raw) => (typeof raw === 'string' ? parseDuration(raw) : undefined),
    write: formatDuration,
  })

/** The length of a tick. It divides a minute or an hour, because schedules have whole minutes. */
export const tick: Kind<number> = kindOf({
  schema: Type.Integer({ minimum: 100, maximum: HOUR }),
  expected: 'a duration from 100ms to 1h that divides a minute evenly, or an hour in whole minutes',
  unit: 'Ms',
  parse: (raw) => (typeof raw === 'string' ? aligned(parseDuration(raw)) : undefined),
  write: formatDuration,
})

const aligned = (ms: number | undefined) =>
  ms !== undefined && (MINUTE % ms === 0 || (ms % MINUTE === 0 && HOUR % ms === 0)) ? ms : undefined

/** A number of bytes, between bounds such as `1KB` and `1MB`. */
export const size = (smallest: string, largest: string) =>
  kindOf({
    schema: Type.Integer({
      minimum: parseSize(smallest) ?? Number.NaN,
      maximum: parseSize(largest) ?? Number.NaN,
    }),
    expected: `a size from ${smallest} to ${largest}`,
    unit: 'Bytes',
    parse: (raw) => (typeof raw === 'string' ? parseSize(raw) : undefined),
    write: formatSize,
  })
