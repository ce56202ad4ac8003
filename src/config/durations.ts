const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const

/** Units from the largest to the smallest, each at most once. */
const SPAN = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/

/** Milliseconds of `250ms`, `90s`, `1h30m` or `30d`; undefined when the text is no duration. */
export function parseDuration(text: string): number | undefined {
  const amounts = SPAN.exec(text)?.slice(1)
  if (!amounts || text === '') return undefined
  const ms = UNITS.reduce((sum, [, length], index) => sum + Number(amounts[index] ?? 0) * length, 0)
  return Number.isSafeInteger(ms) ? ms : undefined
}

/** In the largest unit that needs no fraction: `90s`, `1h`, `30d`. */
export function formatDuration(ms: number): string {
  const [unit, length] = UNITS.find(([, length]) => ms >= length && ms % length === 0) ?? [
    's',
    1000,
  ]
  return `${ms / length}${unit}`
}
