import { sealedColumns } from '../../../src/cli/secrets.ts'
import { type Db, openDatabase } from '../../../src/db/open.ts'
import { createAudit } from '../../../src/platform/audit/index.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import { createBodies } from '../../../src/platform/mail/body.ts'
import { createSealing } from '../../../src/platform/sealing/index.ts'
import { readMasterKey } from '../../../src/platform/sealing/key-file.ts'
import { knownMasterKeys } from '../../../src/platform/sealing/key-store.ts'
import { openKeyRing } from '../../../src/platform/sealing/open-key-ring.ts'
import { createRotation, type RotationWatch } from '../../../src/platform/sealing/rotation.ts'
import { createTestClock, type TestClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { addMigratedDatabase } from '../../support/template.ts'

export const ACTOR = { kind: 'cli', source: 'test' } as const
export const UNWATCHED: RotationWatch = { onResealed: () => {}, onWaiting: () => {} }

export async function openPost(db: Db, clock: Clock, dataDir: string) {
  const sealing = createSealing(await openKeyRing({ db, clock, dataDir }))
  const bodies = createBodies(sealing)
  const insert = db.client.prepare(
    `INSERT INTO mails (id, kind, recipient_hash, body, state, tries, due_at, expires_at, created_at)
      VALUES (?, 'test', ?, ?, 'kept', 0, 0, 0, 0)`,
  )
  const update = db.client.prepare('UPDATE mails SET body = ? WHERE id = ?')
  const find = db.client.prepare<{ body: string; recipient_hash: string }, [string]>(
    'SELECT body, recipient_hash FROM mails WHERE id = ?',
  )
  const hashOf = (id: string) => sealing.fingerprint('mail recipients', id)
  const seal = (id: string, text: string) => bodies.seal(id, { text, html: '' })
  const sealed = (id: string): string => find.get(id)?.body ?? ''
  const text = (id: string): string => bodies.open(id, sealed(id)).text
  const isCounted = (id: string): boolean => find.get(id)?.recipient_hash === hashOf(id)
  const ids = () => db.client.query('SELECT id FROM mails ORDER BY seq').values().flat() as string[]

  return {
    sealing,
    post: (id: string, text: string) => void insert.run(id, hashOf(id), seal(id, text)),
    change: (id: string, text: string) => void update.run(seal(id, text), id),
    put: (id: string, body: string) => void update.run(body, id),
    ...{ sealed, text, isCounted, ids },
    isWhole: () => ids().every((id) => text(id) === `text ${id.slice(1)}` && isCounted(id)),
  }
}

export const rotationOn = (db: Db, clock: Clock, dataDir: string) =>
  createRotation({ db, clock, audit: createAudit({ db, clock }), dataDir, columns: sealedColumns })

/** A data directory with `count` mails, and a server that has sealed them. */
export async function createInstallation(count: number) {
  const folder = temporaryFolder()
  const dataDir = folder.path
  const clock = createTestClock('2026-03-01T12:00:00Z')
  const opened: Db[] = []

  function connect(): Db {
    const db = openDatabase({ dataDir, synchronous: 'full' })
    opened.push(db)
    return db
  }

  addMigratedDatabase(dataDir)
  const db = connect()
  const post = await openPost(db, clock, dataDir)
  await db.commit(() => {
    for (let n = 0; n < count; n++) post.post(`m${n}`, `text ${n}`)
  })

  const rotate = (on: Db = connect(), watch: Partial<RotationWatch> = {}) =>
    turned(clock, rotationOn(on, clock, dataDir).rotate(ACTOR, { ...UNWATCHED, ...watch }))
  const known = () => knownMasterKeys(db)
  function held(): string[] {
    const key = readMasterKey(dataDir)
    return key ? [key, ...key.previous].map(({ id }) => id) : []
  }

  return {
    ...{ dataDir, clock, db, post, connect, rotate, known, held },
    start: () => openPost(connect(), clock, dataDir),
    /** Ids of the keys in the file, and of those that the database names. */
    keys: () => [held(), known()],
    audited: () =>
      db.client
        .query<{ action: string; object: string; detail: string }, []>(
          "SELECT action, object, detail FROM audit_log WHERE action LIKE 'secrets.%' ORDER BY seq",
        )
        .all()
        .map(({ detail, ...row }) => ({ ...row, ...JSON.parse(detail) })),
    [Symbol.dispose]: () => {
      for (const one of opened) one.close()
      folder[Symbol.dispose]()
    },
  }
}

export async function turned<T>(clock: TestClock, work: Promise<T>): Promise<T> {
  let isDone = false
  const ended = work.finally(() => {
    isDone = true
  })
  ended.catch(() => {})
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(250)
  }
  return ended
}
