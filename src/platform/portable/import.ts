import { asStorageError } from '../../db/errors.ts'
import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { conflict } from '../errors.ts'
import { SLICE } from '../retention.ts'
import type { Sealing } from '../sealing/index.ts'
import type { TenantStatus } from '../tenants.ts'
import { createArrivals } from './arrivals.ts'
import { type Arrival, type Ending, readContents } from './contents.ts'
import type { Header } from './format.ts'
import { createImportStore, GIVEN_UP } from './imports-store.ts'
import { atLine, openLines } from './lines.ts'
import type { PortableTable } from './table.ts'
import { tryOut } from './trial.ts'

export interface ImportParts {
  db: Db
  /** An empty database with the schema, to be thrown away. */
  openScratch: () => Db
  clock: Clock
  audit: Audit
  sealing: Sealing
  actor: Actor
  /** That of tenants first. */
  tables: readonly PortableTable[]
  /** The migrations that this executable knows. */
  schemas: readonly string[]
  file: string
  /** Bytes that were checked, of how many. */
  onCheck: (read: number, bytes: number) => void
  /** Lines that were written, of how many. */
  onWrite: (done: number, lines: number) => void
}

/** What came of an import, for its report. */
export interface Imported {
  /** Where the tenant comes from. */
  header: Header
  /** Rows of the file by kind. */
  counts: Record<string, number>
  /** Those among them that were there from before the import was cut short. */
  alreadyThere: number
  /** Rows that would be worth nothing here. */
  leftOut: Record<string, number>
  /** What engines count of the rows that are new. */
  told: Record<string, number>
}

/** While a tenant is on its way, nothing new is taken from it. */
const ON_ITS_WAY: TenantStatus = 'suspended'

/** What a check has found out of a file. */
interface Checked extends Ending {
  /** SHA-256 of the file up to the end of each slice. */
  hashes: string[]
}

/**
 * Brings a tenant from a file, beside a running server or without one. First everything is checked,
 * then it is written a slice a commit, and what makes calls and opens doors last. Cut short, it is
 * completed by the same file. A file may change in between: a slice is stored only if the bytes up
 * to its end are those that were checked.
 */
export async function importTenant(parts: ImportParts): Promise<Imported> {
  const { db, clock, audit, actor, tables } = parts
  using file = openLines(parts.file)
  const store = createImportStore(db)
  const arrivals = tables.map((portable) => createArrivals(db, portable))
  const contents = () => readContents({ ...parts, lines: file.lines(), now: clock.now })

  /** Throws `conflict` for a tenant that is here, unless it is on its way in this very file. */
  function refuseUnlessOpen(tenantId: string, fileHash?: string) {
    if (!store.hasTenant(tenantId)) return
    const known = store.find(tenantId)
    if (!known || known.endedAt !== null) throw conflict(`tenant ${tenantId} already exists`)
    if (known.fileHash === GIVEN_UP)
      throw conflict(`tenant ${tenantId} is being removed. Let \`import --abandon\` finish first`)
    if (fileHash !== undefined && known.fileHash !== fileHash)
      throw conflict(
        `an import of tenant ${tenantId} was cut short: complete it with the file that it began ` +
          `with, whose SHA-256 is ${known.fileHash}, or take it back with \`import --abandon\``,
      )
  }

  async function check(): Promise<Checked> {
    const { header, rows } = contents()
    refuseUnlessOpen(header.tenant)
    const hashes: string[] = []
    let count = 0
    const checked = await tryOut(parts, rows, ({ read, hash, table, row }) => {
      arrivals[table]?.requireRoom(row)
      if (++count % SLICE === 0) hashes.push(hash())
      parts.onCheck(read, file.bytes)
    })
    const { fileHash } = checked
    refuseUnlessOpen(header.tenant, fileHash)
    return { ...checked, hashes: [...hashes, fileHash] }
  }

  async function write({ fileHash, lines, hashes }: Checked): Promise<Imported> {
    const { header, rows } = contents()
    const { tenant } = header
    const counts = Object.fromEntries(tables.map(({ kind }) => [kind, 0]))
    const told: Record<string, number> = {}
    let status = ON_ITS_WAY
    let alreadyThere = 0

    function tell(name: string) {
      told[name] = (told[name] ?? 0) + 1
    }

    function add({ number, table, row }: Arrival) {
      if (table === 0) status = row.status as TenantStatus
      const stored = table === 0 ? { ...row, status: ON_ITS_WAY } : row
      if (!atLine(number, () => arrivals[table]?.add(stored, clock.now(), tell))) alreadyThere++
      const kind = tables[table]?.kind ?? ''
      counts[kind] = (counts[kind] ?? 0) + 1
    }

    /** The first slice has the tenant. */
    function begin() {
      refuseUnlessOpen(tenant, fileHash)
      if (store.hasTenant(tenant)) return
      if (Object.values(counts).some((count) => count > 0)) throw takenBack(tenant)
      store.begin(tenant, fileHash, clock.now())
    }

    const { leftOut } = await inSlices(rows, async (slice, hash) => {
      if (hash !== hashes.shift()) throw conflict('the file changed during the import')
      await db.commit(() => {
        begin()
        slice.forEach(add)
      })
      parts.onWrite(slice.at(-1)?.number ?? lines, lines)
    })
    await db.commit(() => {
      if (!store.end(tenant, fileHash, clock.now())) {
        if (store.find(tenant)?.endedAt == null) throw takenBack(tenant)
        return
      }
      store.setStatus(tenant, status)
      const detail = { installation: header.installation, file_sha256: fileHash, counts }
      audit.record({
        tenantId: tenant,
        actor,
        action: 'tenant.imported',
        object: `tenant:${tenant}`,
        detail,
      })
    })
    return { header, counts, alreadyThere, leftOut, told }
  }

  try {
    // Awaited here: the file is closed when this function returns.
    return await write(await check())
  } catch (error) {
    throw asStorageError(error)
  }
}

const takenBack = (tenantId: string) => conflict(`the import of tenant ${tenantId} was abandoned`)

/** Hands on so many rows at a time that one commit holds up nobody, and the hash up to there. */
async function inSlices(
  rows: Generator<Arrival, Ending>,
  take: (slice: Arrival[], hash: string) => Promise<void>,
): Promise<Ending> {
  let slice: Arrival[] = []
  for (;;) {
    const next = rows.next()
    if (next.done) {
      await take(slice, next.value.fileHash)
      return next.value
    }
    if (slice.push(next.value) === SLICE) {
      await take(slice, next.value.hash())
      slice = []
    }
  }
}
