import { HEAPS, LINE_TRICKS } from '../../src/platform/tricks.ts'

/** Beyond it nobody reads on in a line of a list. */
const LONGEST = 160
/** What is no longer fits wherever names stand. */
const SHORT = 24
/** A title that is longer is cut by browsers themselves. */
const LONGEST_TITLE = 10_000

/**
 * What somebody else has written, in one line: it keeps its direction to itself, ends where its
 * place ends, and is whole in the title.
 */
export const Text = ({ text, limit = LONGEST }: { text: string; limit?: number }) => {
  const shown = shorten(text, limit)
  return (
    <bdi
      class="text"
      title={shown === text && text.length < SHORT ? undefined : text.slice(0, LONGEST_TITLE)}
    >
      {shown === '' ? '–' : shown}
    </bdi>
  )
}

/** The same in many lines, where a page is about it. */
export const LongText = ({ text }: { text: string }) => (
  <bdi class="longtext">{text.replaceAll(TURNS, '').replaceAll(HEAPS, '$1')}</bdi>
)

/** Marks that turn what follows round: a name could pass for another by them. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g

/** One line of at most so many characters. */
export function shorten(text: string, limit = LONGEST): string {
  const line = text
    .slice(0, limit * 8)
    .replaceAll(LINE_TRICKS, ' ')
    .replaceAll(HEAPS, '$1')
    .trim()
  const characters = [...line]
  const isWhole = characters.length <= limit && text.length <= limit * 8
  return isWhole ? line : `${characters.slice(0, limit).join('').trimEnd()}…`
}

/** Both ends of a name that is told apart by its ends. */
export const shortenMiddle = (id: string, head = 8, tail = 4): string =>
  id.length <= head + tail + 4 ? id : `${id.slice(0, head)}…${id.slice(-tail)}`
