import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { unavailable } from '../errors.ts'
import { type Condition, type ObjectStorage, objectUrlIn } from '../object-storage/index.ts'

const Time = Type.Integer({ minimum: 0 })
const Named = Type.Object({ id: Type.String(), name: Type.String() })

/** The number of a transaction as in Litestream's names of files. */
const Txid = Type.String({ pattern: '^[0-9a-f]{16}$' })
/** Below the folder that the servers share, because obsolete ones are deleted. */
const Path = Type.String({ pattern: '^generations/[\\w-]+$' })

/** A path of Litestream that a later one continues: its state after a transaction. */
const Base = Type.Object({ path: Path, txid: Txid })

/** The lease of the active server, an object in the folder that the servers share. */
const LeaseSchema = Type.Object({
  format: Type.Literal(1),
  /** Grows with each server that becomes active. */
  generation: Type.Integer({ minimum: 1 }),
  server: Named,
  /** The version of Gatehouse that it runs. */
  version: Type.String(),
  /** Of the process that took it, because a server can take its own lease again. */
  nonce: Type.String(),
  /** Grows with each renewal, to tell which of them was carried out. */
  renewal: Type.Integer({ minimum: 0 }),
  ttlMs: Type.Integer({ minimum: 1 }),
  /** `ending` while its server finishes requests before it gives the lease up. */
  state: Type.Union([Type.Literal('held'), Type.Literal('ending'), Type.Literal('released')]),
  /** Where Litestream uploads. */
  path: Path,
  /** Where it is going to, once its server has completed its copy. */
  next: Type.Optional(Path),
  /** Earlier paths, oldest first, that a restore has to begin with. None once `path` has a snapshot. */
  bases: Type.Array(Base),
  /** Earlier paths that can be deleted once there are no bases. */
  obsolete: Type.Array(Path),
  /** The last migration that the database may have. A server that doesn't know it can't take over. */
  schema: Type.String(),
  /** When it was taken and renewed, by the clock of its server, for people only. */
  since: Time,
  renewedAt: Time,
  /** What its server acknowledges: what is on its disk, or what was uploaded, too. */
  acknowledge: Type.Union([Type.Literal('local'), Type.Literal('replicated')]),
  /** The last transaction that was uploaded. */
  txid: Type.Optional(Txid),
  /** All that was committed until then was uploaded. */
  uploadedAt: Type.Optional(Time),
  cause: Type.Union(
    ['first', 'restart', 'handover', 'expiry'].map((cause) =>
      Type.Literal(cause as 'first' | 'restart' | 'handover' | 'expiry'),
    ),
  ),
  /** The server that was active before. */
  from: Type.Optional(Named),
  /** Writes of the last seconds before the takeover that may be lost, in milliseconds. */
  lossMs: Type.Optional(Time),
  /** The ids of the keys in `master.key`. */
  keyId: Type.Optional(Type.String()),
  /** Asks the active server to step down, for any other or for one. */
  handover: Type.Optional(
    Type.Object({ to: Type.Optional(Type.String()), by: Type.String(), at: Time }),
  ),
})

export type Lease = Static<typeof LeaseSchema>
export type Base = Static<typeof Base>

/** A lease as it is in the bucket. */
export interface StoredLease {
  lease: Lease
  etag: string
}

export type LeaseStore = ReturnType<typeof createLeaseStore>

/** Reads and writes the lease below `to`, a URL such as `s3://bucket/folder`. */
export function createLeaseStore({ storage, to }: { storage: ObjectStorage; to: string }) {
  const url = objectUrlIn(to, 'lease.json')

  async function read(): Promise<StoredLease | undefined> {
    const found = await storage.readText(url)
    return found && { lease: parse(found.text), etag: found.etag }
  }

  function parse(text: string): Lease {
    try {
      return Value.Parse(LeaseSchema, JSON.parse(text))
    } catch {
      throw unavailable(
        `${url} is not a lease that this version understands. Upgrade this server, or, if the object is damaged, delete it and start the server that was active last`,
      )
    }
  }

  /** Returns the new etag; undefined if the condition isn't met. After an error, either is possible. */
  const write = (lease: Lease, condition: Condition): Promise<string | undefined> =>
    storage.write(url, JSON.stringify(lease), condition)

  /**
   * Writes a lease that its nonce and renewal tell from all others. If the outcome is unknown, reads
   * it back. Undefined if another one is there.
   */
  async function writeSurely(lease: Lease, condition: Condition): Promise<StoredLease | undefined> {
    try {
      const etag = await write(lease, condition)
      return etag === undefined ? undefined : { lease, etag }
    } catch {
      const found = await read()
      return found && isSame(found.lease, lease) ? found : undefined
    }
  }

  return { url, read, write, writeSurely }
}

const isSame = (a: Lease, b: Lease) => a.nonce === b.nonce && a.renewal === b.renewal

/** The part of the time to live in which the holder doesn't rely on it, because clocks differ. */
const MARGIN = 0.1

/** Until when a lease is surely held that was written by a request sent at `sentMs`, in milliseconds of the same clock. */
export const heldUntil = (sentMs: number, { ttlMs }: Pick<Lease, 'ttlMs'>): number =>
  sentMs + ttlMs * (1 - MARGIN)
