import { HEAPS, UNSAFE_IN_LINE } from '../../src/platform/unsafe-characters.ts'

/** Most characters in a line of a list. */
const MAX_LENGTH = 160
/** Shorter text always fits and needs no title. */
const SHORT = 24
/** Most characters in a title attribute. */
const MAX_TITLE_LENGTH = 10_000

/** Untrusted text in one line: isolated in its direction, shortened, and in full in the title. */
export const Text = ({ text, limit = MAX_LENGTH }: { text: string; limit?: number }) => {
  const shown = shorten(text, limit)
  return (
    <bdi
      class="text"
      title={shown === text && text.length < SHORT ? undefined : text.slice(0, MAX_TITLE_LENGTH)}
    >
      {shown === '' ? '–' : shown}
    </bdi>
  )
}

/** Untrusted text in full, over several lines. */
export const LongText = ({ text }: { text: string }) => (
  <bdi class="longtext">{text.replaceAll(TURNS, '').replaceAll(HEAPS, '$1')}</bdi>
)

/** Bidirectional control characters, which could make a name look like another one. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g

/** Shortens text to one line of at most `limit` characters. */
export function shorten(text: string, limit = MAX_LENGTH): string {
  const line = text
    .slice(0, limit * 8)
    .replaceAll(UNSAFE_IN_LINE, ' ')
    .replaceAll(HEAPS, '$1')
    .trim()
  const characters = [...line]
  const isWhole = characters.length <= limit && text.length <= limit * 8
  return isWhole ? line : `${characters.slice(0, limit).join('').trimEnd()}…`
}

/** Shortens an ID in the middle. */
export const shortenMiddle = (id: string, head = 8, tail = 4): string =>
  id.length <= head + tail + 4 ? id : `${id.slice(0, head)}…${id.slice(-tail)}`

/** Email address of an operator, marked if it is not verified. */
export const Address = (of: { email: string; isVerified: boolean; limit?: number }) => (
  <>
    <Text text={of.email} {...(of.limit !== undefined && { limit: of.limit })} />
    {!of.isVerified && <span class="hint"> (not verified)</span>}
  </>
)
