/**
 * A set of the numbers 0 to 61 in two words. With 31 bits per word every word is positive, and all
 * fields except the minute use only `low`.
 */
export interface Bits {
  low: number
  high: number
}

export const WORD = 31

export const NONE = -1

export function addBit(bits: Bits, index: number) {
  if (index < WORD) bits.low |= 1 << index
  else bits.high |= 1 << (index - WORD)
}

/** A word with its first `count` bits set. */
export const fullWord = (count: number) => 0x7fffffff >>> (WORD - count)

/** The lowest set bit of a word at or above `from`, or `NONE`. */
export function lowestBit(word: number, from: number): number {
  const rest = (word >>> from) << from
  return rest === 0 ? NONE : WORD - Math.clz32(rest & -rest)
}

/** The set bits in ascending order. */
export function listBits(low: number, high = 0): number[] {
  const bits: number[] = []
  for (let bit = lowestBit(low, 0); bit !== NONE; bit = lowestBit(low, bit + 1)) bits.push(bit)
  for (let bit = lowestBit(high, 0); bit !== NONE; bit = lowestBit(high, bit + 1))
    bits.push(bit + WORD)
  return bits
}
