import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../../drizzle/index.ts'
import { PORTABLE_TABLES, SCHEMAS } from '../../../src/cli/portable.ts'
import { createAudit } from '../../../src/platform/audit/index.ts'
import { exportLines } from '../../../src/platform/portable/export.ts'
import { importTenant } from '../../../src/platform/portable/import.ts'
import { openScratch } from '../../../src/platform/portable/scratch.ts'
import { openSnapshot } from '../../../src/platform/portable/snapshot.ts'
import type { TestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/folder.ts'

export const ACTOR = { kind: 'cli', source: 'test' } as const

// biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every kind
export type Line = any

/** What an export of a tenant says, line by line. */
export function exportOf(
  { db, platform, clock }: TestApp,
  tenantId: string,
  sealing = platform.sealing,
): Line[] {
  using snapshot = openSnapshot(db)
  const lines = exportLines({
    snapshot,
    sealing,
    tables: PORTABLE_TABLES,
    tenantId,
    now: clock.now(),
    schema: SCHEMAS.at(-1) ?? '',
    keyPrefix: 'svc',
  })
  return [...lines].map((line) => JSON.parse(line))
}

/** The lines without the first and the last, which say when and where. */
export const contentOf = (lines: Line[]): Line[] => lines.slice(1, -1)

/** Ids of rows that tests make up. */
export const idNumber = (n: number): string => `00000000-0000-7000-8000-${`${n}`.padStart(12, '0')}`

/** The id of a tenant that there is not. */
export const OTHER = idNumber(999_999)

/** Of one kind. */
export const ofKind = (lines: Line[], kind: string): Line[] =>
  lines.filter((line) => line.kind === kind)

/** The same export with so many people more, each with an address: enough for several commits. */
export function withPeople(lines: Line[], count: number): Line[] {
  const [identity] = ofKind(lines, 'identity')
  const [address] = ofKind(lines, 'address')
  const emailOf = (n: number) => `person-${n}@example.com`
  const identities = Array.from({ length: count }, (_, n) => ({
    ...identity,
    id: idNumber(n),
    traits: { email: emailOf(n) },
  }))
  const addresses = identities.map(({ id, traits }) => ({
    ...address,
    id,
    identity_id: id,
    value: traits.email,
  }))
  return lines
    .toSpliced(lines.indexOf(address), 0, ...addresses)
    .toSpliced(lines.indexOf(identity), 0, ...identities)
}

/** Text of a file with these lines, and an end that fits: for files that are wrong on purpose. */
export function fileOf(lines: Line[]): string {
  const text = lines
    .slice(0, -1)
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')
  const sha256 = createHash('sha256').update(text).digest('hex')
  return `${text}${JSON.stringify({ kind: 'end', lines: lines.length - 1, sha256 })}\n`
}

/** Brings a tenant beside the running application. */
export async function importInto(
  { db, platform, clock }: TestApp,
  text: string | Uint8Array,
  changes: Partial<Parameters<typeof importTenant>[0]> = {},
) {
  using folder = temporaryFolder()
  const file = join(folder.path, 'tenant.ndjson')
  writeFileSync(file, text)
  return await importTenant({
    db,
    openScratch: () => openScratch({ dataDir: folder.path, migrations, now: clock.now() }),
    clock,
    audit: createAudit({ db, clock }),
    sealing: platform.sealing,
    actor: ACTOR,
    tables: PORTABLE_TABLES,
    schemas: SCHEMAS,
    file,
    onCheck: () => {},
    onWrite: () => {},
    ...changes,
  })
}
