import { resolve } from 'node:path'
import { Type } from '@sinclair/typebox'
import { formatDuration, parseDuration } from './durations.ts'
import { type Kind, kindOf } from './kind.ts'
import { formatSize, parseSize } from './sizes.ts'

/** A whole number within bounds. */
export const integer = (minimum: number, maximum: number) =>
  kindOf({
    schema: Type.Integer({ minimum, maximum }),
    expected: `an integer from ${minimum} to ${maximum}`,
    fromText: (text) => (/^-?\d+$/.test(text) ? Number(text) : text),
    write: (value) => value,
  })

/** On or off. */
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

/** Text of a given pattern. Nothing of `pattern` may let a control character through. */
export const word = (pattern: RegExp, expected: string) =>
  kindOf({
    schema: Type.String({ pattern: pattern.source }),
    expected,
    write: (value) => value,
  })

/** One line of any text: identifiers and secrets that somebody else issued. */
export const line = (length: number) =>
  word(new RegExp(`^[^\\p{Cc}]{1,${length}}$`, 'u'), `one line of 1 to ${length} characters`)

/** A span of time, between bounds that are written as the value is. */
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

/** A number of bytes, between bounds that are written as the value is. */
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

/** A file or directory; a relative one starts at the working directory. */
export const path: Kind<string> = {
  ...line(4096),
  expected: 'a path',
  resolve: (value, cwd) => resolve(cwd, value),
}
