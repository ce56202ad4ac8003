import { asStorageError } from '../../db/errors.ts'
import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { conflict } from '../errors.ts'
import { SLICE } from '../retention.ts'
import type { Sealing } from '../sealing/index.ts'
import type { TenantStatus } from '../tenants.ts'
import { createArrivals } from './arrivals.ts'
import { type Arrival, readContents, type Trailer } from './contents.ts'
import type { Header } from './format.ts'
import { createImportStore, GIVEN_UP } from './imports-store.ts'
import { atLine, openLines } from './lines.ts'
import type { PortableTable } from './table.ts'
import { tryOut } from './trial.ts'

export interface ImportParts {
  db: Db
  /** Opens a temporary empty database with the schema. */
  openScratch: () => Db
  clock: Clock
  audit: Audit
  sealing: Sealing
  actor: Actor
  /** Must begin with the table of tenants. */
  tables: readonly PortableTable[]
  /** The migrations of this executable. */
  schemas: readonly string[]
  file: string
  /** Called with the checked bytes and the size of the file. */
  onCheck: (read: number, bytes: number) => void
  /** Called with the number of written lines and their total. */
  onWrite: (done: number, lines: number) => void
}

/** The result of an import. */
export interface Imported {
  /** The header of the file, which names the exporting installation. */
  header: Header
  /** The number of rows in the file, by kind. */
  counts: Record<string, number>
  /** The number of rows that an earlier, interrupted import had already stored. */
  alreadyThere: number
  /** The number of rows left out because they can't work in this installation, by name. */
  leftOut: Record<string, number>
  /** Additional counts of new rows by the engines, by name. */
  notes: Record<string, number>
}

/** The status of a tenant during its import, which blocks new work. */
const ON_ITS_WAY: TenantStatus = 'suspended'

/** The result of checking a file. */
interface Checked extends Trailer {
  /** SHA-256 of the file up to the end of each slice, hexadecimal. */
  hashes: string[]
}

/**
 * Imports a tenant from a file, with or without a running server. Checks everything first, and then
 * writes one slice per commit; jobs and API keys come last. If it is interrupted, the same file
 * completes it. Because the file may change meanwhile, a slice is stored only if the bytes up to
 * its end are those that were checked.
 */
export async function importTenant(parts: ImportParts): Promise<Imported> {
  const { db, clock, audit, actor, tables } = parts
  using file = openLines(parts.file)
  const store = createImportStore(db)
  const arrivals = tables.map((portable) => createArrivals(db, portable))
  const contents = () => readContents({ ...parts, lines: file.lines(), now: clock.now })

  /** Throws `conflict` if the tenant exists, unless it is being imported from this file. */
  function refuseUnlessOpen(tenantId: string, fileHash?: string) {
    if (!store.hasTenant(tenantId)) return
    const known = store.find(tenantId)
    if (!known || known.endedAt !== null) throw conflict(`tenant ${tenantId} already exists`)
    if (known.fileHash === GIVEN_UP)
      throw conflict(
        `tenant ${tenantId} is being removed. Wait until \`import --abandon\` has finished`,
      )
    if (fileHash !== undefined && known.fileHash !== fileHash)
      throw conflict(
        `an import of tenant ${tenantId} was interrupted. To complete it, import the same file again ` +
          `(SHA-256 ${known.fileHash}); to undo it, run \`import --abandon\``,
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
    const notes: Record<string, number> = {}
    let status = ON_ITS_WAY
    let alreadyThere = 0

    function tell(name: string) {
      notes[name] = (notes[name] ?? 0) + 1
    }

    function add({ number, table, row }: Arrival) {
      if (table === 0) status = row.status as TenantStatus
      const stored = table === 0 ? { ...row, status: ON_ITS_WAY } : row
      if (!atLine(number, () => arrivals[table]?.add(stored, clock.now(), tell))) alreadyThere++
      const kind = tables[table]?.kind ?? ''
      counts[kind] = (counts[kind] ?? 0) + 1
    }

    /** Records the import with the first slice, which contains the tenant. */
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
    return { header, counts, alreadyThere, leftOut, notes }
  }

  try {
    // Awaited here, because the file is closed when this function returns.
    return await write(await check())
  } catch (error) {
    throw asStorageError(error)
  }
}

const takenBack = (tenantId: string) => conflict(`the import of tenant ${tenantId} was abandoned`)

/** Slices are small, so that commits don't delay others. Each comes with the hash up to it. */
async function inSlices(
  rows: Generator<Arrival, Trailer>,
  take: (slice: Arrival[], hash: string) => Promise<void>,
): Promise<Trailer> {
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
