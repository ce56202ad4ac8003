const UNITS = [
  ['GB', 1024 ** 3],
  ['MB', 1024 ** 2],
  ['KB', 1024],
  ['B', 1],
] as const

/** Bytes of `512B`, `64KB`, `1MB` or `1GB`, where a KB is 1024 bytes; undefined otherwise. */
export function parseSize(text: string): number | undefined {
  const [, amount, name] = /^(\d+)([GMK]?B)$/.exec(text) ?? []
  const unit = UNITS.find(([unit]) => unit === name)
  const bytes = unit ? Number(amount) * unit[1] : Number.NaN
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

/** Bytes in the largest unit that needs no fraction: `64KB`, `1MB`. */
export function formatSize(bytes: number): string {
  const [unit, length] = UNITS.find(([, length]) => bytes >= length && bytes % length === 0) ?? [
    'B',
    1,
  ]
  return `${bytes / length}${unit}`
}
