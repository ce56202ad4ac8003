import { formattedJson } from './json.tsx'

export interface DiffLine {
  kind: 'same' | 'gone' | 'new' | 'left out'
  text: string
}

/** Longer ranges are not compared line by line: the cost is the product of their lengths. */
const MAX_COMPARED = 200
/** Context lines around a change. */
const AROUND = 2
const MAX_SHOWN = 80

/** Line diff of two texts, with context around each change. */
export function diffOf(was: string, now: string): DiffLine[] {
  const [before, after] = [linesOf(was), linesOf(now)]
  const head = sharedLength(before, after)
  const tail = sharedLength(before.slice(head).toReversed(), after.slice(head).toReversed())
  const gone = before.slice(head, before.length - tail)
  const added = after.slice(head, after.length - tail)
  const lines: DiffLine[] = [
    ...before.slice(0, head).map(same),
    ...between(gone, added),
    ...after.slice(after.length - tail).map(same),
  ]
  return shortened(lines)
}

/** Lines of a text; JSON is formatted first, so that only values are compared. */
function linesOf(text: string): string[] {
  try {
    return formattedJson(JSON.parse(text)).split('\n')
  } catch {
    return text.split('\n')
  }
}

function sharedLength(one: readonly string[], other: readonly string[]): number {
  const most = Math.min(one.length, other.length)
  for (let at = 0; at < most; at++) if (one[at] !== other[at]) return at
  return most
}

const same = (text: string): DiffLine => ({ kind: 'same', text })
const goneLine = (text: string): DiffLine => ({ kind: 'gone', text })
const newLine = (text: string): DiffLine => ({ kind: 'new', text })

function between(gone: readonly string[], added: readonly string[]): DiffLine[] {
  if (gone.length > MAX_COMPARED || added.length > MAX_COMPARED)
    return [...gone.map(goneLine), ...added.map(newLine)]
  const shared = sharedTable(gone, added)
  const lines: DiffLine[] = []
  let [left, right] = [0, 0]
  while (left < gone.length || right < added.length) {
    const [was, now] = [gone[left], added[right]]
    if (was !== undefined && was === now) {
      lines.push(same(was))
      left++
      right++
    } else if (was !== undefined && (now === undefined || isBetterGone(shared, left, right))) {
      lines.push(goneLine(was))
      left++
    } else if (now !== undefined) {
      lines.push(newLine(now))
      right++
    }
  }
  return lines
}

const isBetterGone = (shared: number[][], left: number, right: number): boolean =>
  (shared[left + 1]?.[right] ?? 0) >= (shared[left]?.[right + 1] ?? 0)

/** Lengths of the longest common subsequences from each pair of lines on. */
function sharedTable(one: readonly string[], other: readonly string[]): number[][] {
  const table = Array.from({ length: one.length + 1 }, () =>
    new Array<number>(other.length + 1).fill(0),
  )
  for (let left = one.length - 1; left >= 0; left--) {
    const [row, below] = [table[left] ?? [], table[left + 1] ?? []]
    for (let right = other.length - 1; right >= 0; right--)
      row[right] =
        one[left] === other[right]
          ? (below[right + 1] ?? 0) + 1
          : Math.max(below[right] ?? 0, row[right + 1] ?? 0)
  }
  return table
}

function shortened(lines: readonly DiffLine[]): DiffLine[] {
  const shown: DiffLine[] = []
  for (const [at, line] of lines.entries()) {
    if (shown.length === MAX_SHOWN) return [...shown, LEFT_OUT]
    if (isNearChange(lines, at)) shown.push(line)
    else if (shown.at(-1) !== LEFT_OUT) shown.push(LEFT_OUT)
  }
  return shown
}

const LEFT_OUT: DiffLine = { kind: 'left out', text: '…' }

function isNearChange(lines: readonly DiffLine[], at: number): boolean {
  for (let near = Math.max(0, at - AROUND); near <= at + AROUND && near < lines.length; near++)
    if (lines[near]?.kind !== 'same') return true
  return false
}
