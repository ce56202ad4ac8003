/** Joins items as in `a, b and c`, or with another word before the last item. */
export function joinWords(items: readonly (string | number)[], before = 'and'): string {
  if (items.length < 2) return items.join('')
  return `${items.slice(0, -1).join(', ')} ${before} ${items.at(-1)}`
}

/** `1st`, `2nd`, `3rd`, `4th` for 1 to 99. */
export function ordinal(n: number): string {
  const teen = n > 10 && n < 20
  const suffix = teen ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')
  return `${n}${suffix}`
}

/** The distance between neighbors in an ascending list if it is always the same. */
export function commonStep(values: readonly number[]): number | undefined {
  const [first = 0, second = 0] = values
  const step = second - first
  return values.every((value, index) => value === first + index * step) ? step : undefined
}

/** Formats ascending numbers. Three or more in a row become `a to b`. */
export function numberWords(
  values: readonly number[],
  name: (n: number) => string | number,
): string {
  return joinWords(rowsOf(values).flatMap((row) => rowWords(row, name)))
}

function rowWords(row: number[], name: (n: number) => string | number): (string | number)[] {
  if (row.length < 3) return row.map(name)
  return [`${name(row[0] as number)} to ${name(row.at(-1) as number)}`]
}

function rowsOf(values: readonly number[]): number[][] {
  const rows: number[][] = []
  for (const value of values) {
    const row = rows.at(-1)
    if (row?.at(-1) === value - 1) row.push(value)
    else rows.push([value])
  }
  return rows
}
