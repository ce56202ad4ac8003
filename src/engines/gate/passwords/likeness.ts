/** Fewer changes than this make one of the other. */
const FEW_CHANGES = 5

/** Longer than any address; what is beyond is not looked at, whatever the password. */
const LONGEST = 320

/**
 * Whether a password is an identifier, or the part of it before the `@`, in other words: fewer
 * than five characters changed, or more than half of the password taken from it. Both in one
 * case. Few changes say little about a short name (four make `mountain` of `martin`), so there must
 * be fewer than half as many as it has characters.
 */
export function isLike(password: string, identifier: string): boolean {
  const characters = [...password]
  const whole = [...identifier].slice(0, LONGEST)
  const at = whole.lastIndexOf('@')
  const names = at > 0 ? [whole, whole.slice(0, at)] : [whole]
  return names.some((name) => isVariation(characters, name) || isMostlyFrom(name, characters))
}

function isVariation(password: string[], name: string[]): boolean {
  const limit = Math.min(FEW_CHANGES, name.length / 2)
  // Each character that one has more is a change, so most pairs need not be looked at.
  if (Math.abs(password.length - name.length) >= limit) return false
  return changesBetween(password, name) < limit
}

function isMostlyFrom(name: string[], password: string[]): boolean {
  const half = password.length / 2
  return name.length > half && longestShared(password, name) > half
}

/** Characters to insert, remove or replace to get from one text to the other (Levenshtein). */
function changesBetween(one: string[], other: string[]): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place)
  for (const [index, character] of one.entries()) {
    const next = [index + 1]
    for (const [place, candidate] of other.entries()) {
      const replaced = cell(row, place) + (character === candidate ? 0 : 1)
      next.push(Math.min(replaced, cell(row, place + 1) + 1, cell(next, place) + 1))
    }
    row = next
  }
  return cell(row, other.length)
}

/** The length of the longest text that is part of both. */
function longestShared(one: string[], other: string[]): number {
  let longest = 0
  /** For each place of `other`, how much before it is the same as before the place in `one`. */
  let row = Array<number>(other.length + 1).fill(0)
  for (const character of one) {
    const next = [0]
    for (const [place, candidate] of other.entries()) {
      const shared = character === candidate ? cell(row, place) + 1 : 0
      longest = Math.max(longest, shared)
      next.push(shared)
    }
    row = next
  }
  return longest
}

const cell = (row: number[], place: number): number => row[place] as number
