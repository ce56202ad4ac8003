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

/** Time to notice a new key. Slower processes count as dead; what they sealed is stored or lost. */
const NOTICE_MS = SILENCE_MS + BUSY_TIMEOUT_MS
/** Usually one pass is enough; more are needed if a server keeps sealing with the old key. */
const MAX_POLLS = 6
const NEVER_CLEAN =
  'a server still seals secrets with the old key: stop servers of an older version, then run ' +
  'this again'

export interface RotationOutcome {
  /** The id of the old key; `to` is the id of the new key. */
  from: string
  to: string
  /** The number of texts that were sealed again, by table. */
  resealed: Record<string, number>
  /** The number of texts that can't be opened, by table. The old key stays while there are any. */
  unopenable: Record<string, number>
}

/** Reports the progress of a rotation. */
export interface RotationWatch {
  onResealed: (count: number) => void
  /** Called while servers get time to notice the new key. */
  onWaiting: (msLeft: number) => void
}

interface Rotation {
  to: MasterKey
  previous: readonly MasterKey[]
  from: MasterKey
}

/**
 * Rotates the master key while servers run. At any time, the file has every key in the table, and
 * the table lists every key that a text may be sealed with. A rotation can therefore be interrupted
 * anywhere, and the next one continues with its new key. Changes to file and table run inside a
 * commit, so two concurrent rotations work as one.
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
    for (
      let readKeys = 1;
      isEmpty(found.unopenable) && (readKeys === 1 || !found.isClean);
      readKeys++
    ) {
      if (readKeys > MAX_POLLS) throw new MasterKeyError(NEVER_CLEAN)
      await wait(NOTICE_MS)
      found = await counted()
    }
    if (isEmpty(found.unopenable)) await finish(actor, rotation, resealed)
    return { from: rotation.from.id, to: to.id, resealed, unopenable: found.unopenable }
  }

  /** Writes the file first, so that a process that finds the new key in the table can read it. */
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

  /** Fingerprint keys derive from the old master key and couldn't be recreated without it. */
  function keepFingerprintKeys(inUse: MasterKey, to: MasterKey) {
    const { seal } = createSealing(ringOf(to))
    for (const purpose of FINGERPRINT_PURPOSES) {
      if (store.fingerprintKey(purpose) !== undefined) continue
      const key = deriveFingerprintKey(inUse, purpose).toString('base64url')
      const boundTo = fingerprintKey.boundTo({ purpose })
      store.addFingerprintKey(purpose, seal(fingerprintKey.purpose, boundTo, key))
    }
  }

  /** Changes the table first, because a key in the table must also be in the file. */
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
  throw new MasterKeyError('master.key is missing: restore it')
}
