/** Passwords within fewer changes than this are considered alike. */
const FEW_CHANGES = 5

/** Longer than any address; further characters are ignored. */
const MAX_LENGTH = 320

/**
 * Whether a password resembles an identifier or its part before the `@`: fewer than five changed
 * characters, or more than half of the password taken from it, ignoring case. For short names the
 * number of changes must also be less than half of their length, because few changes make a
 * different word of them (four turn `martin` into `mountain`).
 */
export function isLike(password: string, identifier: string): boolean {
  const characters = [...password]
  const whole = [...identifier].slice(0, MAX_LENGTH)
  const at = whole.lastIndexOf('@')
  const names = at > 0 ? [whole, whole.slice(0, at)] : [whole]
  return names.some((name) => isVariation(characters, name) || isMostlyFrom(name, characters))
}

function isVariation(password: string[], name: string[]): boolean {
  const limit = Math.min(FEW_CHANGES, name.length / 2)
  // Each additional character is a change, so most pairs need no further comparison.
  if (Math.abs(password.length - name.length) >= limit) return false
  return changesBetween(password, name) < limit
}

function isMostlyFrom(name: string[], password: string[]): boolean {
  const half = password.length / 2
  return name.length > half && longestShared(password, name) > half
}

/** The Levenshtein distance of two texts. */
function changesBetween(one: string[], other: string[]): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [index, character] of one.entries()) {
    const next = [index + 1]
    for (const [index, candidate] of other.entries()) {
      const replaced = cell(row, index) + (character === candidate ? 0 : 1)
      next.push(Math.min(replaced, cell(row, index + 1) + 1, cell(next, index) + 1))
    }
    row = next
  }
  return cell(row, other.length)
}

/** The length of the longest common substring. */
function longestShared(one: string[], other: string[]): number {
  let longest = 0
  /** For each position of `other`, the common suffix's length there and at `one`'s position. */
  let row = Array<number>(other.length + 1).fill(0)
  for (const character of one) {
    const next = [0]
    for (const [index, candidate] of other.entries()) {
      const shared = character === candidate ? cell(row, index) + 1 : 0
      longest = Math.max(longest, shared)
      next.push(shared)
    }
    row = next
  }
  return longest
}

const cell = (row: number[], index: number): number => row[index] as number
