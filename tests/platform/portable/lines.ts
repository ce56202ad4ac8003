import { createHash } from 'node:crypto'

// biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every kind
export type Line = any

/** The lines without the first and the last, which depend on time and place. */
export const contentOf = (lines: Line[]): Line[] => lines.slice(1, -1)

export const idNumber = (n: number): string => `00000000-0000-7000-8000-${`${n}`.padStart(12, '0')}`

export const OTHER = idNumber(999_999)

export const ofKind = (lines: Line[], kind: string): Line[] =>
  lines.filter((line) => line.kind === kind)

/** The same export with more people, each with an address: enough for several commits. */
export function withPeople(lines: Line[], count: number): Line[] {
  const [identity] = ofKind(lines, 'identity')
  const [address] = ofKind(lines, 'address')
  const identities = Array.from({ length: count }, (_, n) => {
    const traits = { email: `person-${n}@example.com` }
    return { ...identity, id: idNumber(n), traits }
  })
  const addresses = identities.map(({ id, traits }) => {
    return { ...address, id, identity_id: id, value: traits.email }
  })
  return lines
    .toSpliced(lines.indexOf(address), 0, ...addresses)
    .toSpliced(lines.indexOf(identity), 0, ...identities)
}

/** The text of a file with these lines and a last line that fits them. */
export function fileOf(lines: Line[]): string {
  const text = lines
    .slice(0, -1)
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')
  const sha256 = createHash('sha256').update(text).digest('hex')
  return `${text}${JSON.stringify({ kind: 'end', lines: lines.length - 1, sha256 })}\n`
}
