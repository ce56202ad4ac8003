import { BUSY_TIMEOUT_MS } from '../../db/commit.ts'
import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../audit/index.ts'
import { type Clock, sleep } from '../clock.ts'
import { SECOND_MS } from '../durations.ts'
import { SILENCE_MS } from '../instances.ts'
import type { SealedColumn } from './column.ts'
import { fingerprintKey } from './fingerprint-keys.ts'
import { FINGERPRINT_PURPOSES } from './fingerprint-purposes.ts'
import { createSealing, deriveFingerprintKey } from './index.ts'
import {
  type KeyFile,
  type MasterKey,
  MasterKeyError,
  newMasterKey,
  readMasterKey,
  replaceKeyFile,
} from './key-file.ts'
import { primaryOf, ringOf } from './key-ring.ts'
import { createMasterKeyStore } from './key-store.ts'
import { openKeyRing, requireFit } from './open-key-ring.ts'
import { add, createResealing, type Sweep } from './resealing.ts'

/**
 * A process that has not heard of the new key by then counts as dead, and what it had sealed
 * before is either in the database or never will be.
 */
const NOTICE_MS = SILENCE_MS + BUSY_TIMEOUT_MS
/** One is enough unless somebody goes on sealing with a key that is to go. */
const MAX_POLLS = 6
const NEVER_CLEAN =
  'something goes on being sealed with the old key: stop servers of an older version, ' +
  'then run this again'

export interface RotationOutcome {
  /** Ids of the keys. */
  from: string
  to: string
  /** What was sealed anew, by table. */
  resealed: Record<string, number>
  /** What cannot be opened, by table: as long as there is some, the old key stays. */
  unopenable: Record<string, number>
}

/** What the work is at, for whoever watches. */
export interface RotationWatch {
  onResealed: (count: number) => void
  /** Servers are given time to hear of the new key. */
  onWaiting: (msLeft: number) => void
}

interface Rotation {
  to: MasterKey
  previous: readonly MasterKey[]
  from: MasterKey
}

/**
 * Replaces the master key beside running servers. At each moment the file has every key that the
 * table names, and the table names every key that something may be sealed with; so a rotation can
 * end anywhere, and the next one goes on with its key. What changes file or table runs within a
 * commit, one process at a time: two rotations at once are one.
 */
export function createRotation(parts: {
  db: Db
  clock: Clock
  audit: Audit
  dataDir: string
  columns: readonly SealedColumn[]
}) {
  const { db, clock, audit, dataDir, columns } = parts
  const store = createMasterKeyStore(db)

  async function rotate(actor: Actor, watch: RotationWatch): Promise<RotationOutcome> {
    await openKeyRing({ db, clock, dataDir })
    const rotation = await db.commit(() => begin(actor))
    const { to, previous } = rotation
    const { onResealed, onWaiting } = watch
    const { sweep } = createResealing({ db, to, previous, columns, onResealed })
    const resealed: Record<string, number> = {}

    async function counted(): Promise<Sweep> {
      const found = await sweep()
      for (const [table, count] of Object.entries(found.resealed)) add(resealed, table, count)
      return found
    }

    async function wait(ms: number) {
      for (let left = ms; left > 0; left -= SECOND_MS) {
        onWaiting(left)
        await sleep(clock, SECOND_MS)
      }
    }

    let found = await counted()
    for (let look = 1; isEmpty(found.unopenable) && (look === 1 || !found.isClean); look++) {
      if (look > MAX_POLLS) throw new MasterKeyError(NEVER_CLEAN)
      await wait(NOTICE_MS)
      found = await counted()
    }
    if (isEmpty(found.unopenable)) await finish(actor, rotation, resealed)
    return { from: rotation.from.id, to: to.id, resealed, unopenable: found.unopenable }
  }

  /** The file first, so that whoever meets the new key in the table has it. */
  function begin(actor: Actor): Rotation {
    requireFit(db, dataDir)
    const file = heldKeys()
    const known = store.ids()
    const inUse = primaryOf({ held: [file, ...file.previous], known })
    const isUnfinished = file.previous.length > 0
    const to = isUnfinished ? file : newMasterKey()
    const previous = isUnfinished ? file.previous : [file]
    const from = previous[0] ?? file
    if (!isUnfinished) replaceKeyFile(dataDir, [to, ...previous])
    if (!known.includes(to.id)) {
      keepFingerprintKeys(inUse, to)
      store.add(to.id, clock.now())
      record(actor, 'secrets.rotation_started', { from: from.id, to: to.id })
    }
    return { to, previous, from }
  }

  /** They outlive the master key that they follow from: nothing could make them again. */
  function keepFingerprintKeys(inUse: MasterKey, to: MasterKey) {
    const { seal } = createSealing(ringOf(to))
    for (const purpose of FINGERPRINT_PURPOSES) {
      if (store.fingerprintKey(purpose) !== undefined) continue
      const key = deriveFingerprintKey(inUse, purpose).toString('base64url')
      const place = fingerprintKey.place({ purpose })
      store.addFingerprintKey(purpose, seal(fingerprintKey.purpose, place, key))
    }
  }

  /** The table first: whoever still finds the old key there has to find it in the file. */
  async function finish(
    actor: Actor,
    { from, to, previous }: Rotation,
    resealed: Record<string, number>,
  ) {
    const old = previous.map(({ id }) => id)
    await db.commit(() => {
      if (!store.ids().some((id) => old.includes(id))) return
      store.remove(old)
      record(actor, 'secrets.rotated', { from: from.id, to: to.id, resealed })
    })
    await db.commit(() => {
      const file = heldKeys()
      const isOurs = file.id === to.id && file.previous.length > 0
      if (isOurs && store.ids().join() === to.id) replaceKeyFile(dataDir, [to])
    })
  }

  const heldKeys = (): KeyFile => readMasterKey(dataDir) ?? refuse()

  const record = (actor: Actor, action: string, detail: { to: string; [more: string]: unknown }) =>
    audit.record({ tenantId: null, actor, action, object: `master_key:${detail.to}`, detail })

  return { rotate }
}

const isEmpty = (counts: Record<string, number>): boolean => Object.keys(counts).length === 0

function refuse(): never {
  throw new MasterKeyError('master.key has gone: put it back')
}
