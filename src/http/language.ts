/** More entries than any browser sends. */
const MAX = 20

/** By `Accept-Language` (RFC 9110, 12.5.4), ignoring regions; undefined if none is requested. */
export function preferredLanguage<const L extends string>(
  header: string | null,
  offered: readonly L[],
): L | undefined {
  const wishes = (header ?? '')
    .split(',', MAX)
    .map(wishIn)
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
  for (const { language } of wishes) {
    const found = offered.find((one) => one === language)
    if (found) return found
  }
  return undefined
}

function wishIn(entry: string): { language: string; weight: number } {
  const [range = '', ...parameters] = entry.trim().split(/\s*;\s*/)
  const q = parameters.find((parameter) => /^q=/i.test(parameter))
  const weight = q === undefined ? 1 : Number(q.slice(2))
  return {
    language: range.split('-')[0]?.toLowerCase() ?? '',
    weight: Number.isNaN(weight) ? 0 : weight,
  }
}
