const MAX_LENGTH = 80

/** The candidate most similar to `word`, if it is close enough to be a typo. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined
  const ranked = [...candidates].map((candidate) => ({ candidate, edits: edits(word, candidate) }))
  const best = ranked.toSorted((a, b) => a.edits - b.edits)[0]
  return best && best.edits <= tolerance(word, best.candidate) ? best.candidate : undefined
}

/** How many edits are allowed: a third of the letters, at least one. */
const tolerance = (a: string, b: string) =>
  Math.max(1, Math.floor(Math.min(a.length, b.length) / 3))

/** The number of inserted, missing, wrong and swapped letters between two words. */
function edits(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const next = [row]
    for (let column = 1; column <= b.length; column++) {
      const wrong = a[row - 1] === b[column - 1] ? 0 : 1
      const costs = [at(last, column) + 1, at(next, column - 1) + 1, at(last, column - 1) + wrong]
      if (isSwap(a, row, b, column)) costs.push(at(before, column - 2) + 1)
      next.push(Math.min(...costs))
    }
    before = last
    last = next
  }
  return at(last, b.length)
}

const isSwap = (a: string, row: number, b: string, column: number) =>
  row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]

const at = (costs: number[], column: number) => costs[column] ?? Number.POSITIVE_INFINITY
