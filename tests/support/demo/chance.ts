export type Chance = ReturnType<typeof createChance>

/** The same random numbers each time, so that a picture taken twice is the same picture. */
export function createChance(seed = 7) {
  let state = seed

  function roll(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (from: number, to: number): number => Math.floor(from + roll() * (to - from))
  return {
    between,
    happens: (probability: number): boolean => roll() < probability,
    oneOf: <Value>(values: readonly Value[]): Value => values[between(0, values.length)] as Value,
    /** Mostly near the usual, sometimes several times as much, as delays are. */
    around: (usual: number): number => Math.round(usual * (0.6 + 0.8 * roll() + 3 * roll() ** 12)),
  }
}
