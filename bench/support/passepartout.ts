import type { Database } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { sha256 } from '../../src/platform/crypto.ts'
import { addCopies, copyIds } from './copies.ts'
import { openEngine } from './engine.ts'
import { postOf } from './gate.ts'
import { createInstallation, type Installation, issueKey } from './installation.ts'

/** So many attempts are asked about in turn. */
export const OPEN = 2000

export const statusPath = (nonce: string) => `/v1/passepartout/login/status?nonce=${nonce}`

/** An installation with one tenant that has a sandbox bot and pending sign-ins. */
export interface PassepartoutInstallation extends Installation {
  key: string
  /** Of some of the attempts that are stored, from everywhere among them. */
  nonces: string[]
}

/** The first attempt is made by the program; the others are copies. */
export async function createPassepartoutInstallation(
  stack: AsyncDisposableStack,
  attempts = OPEN,
): Promise<PassepartoutInstallation> {
  const installation = await createInstallation(stack)
  const owner = await issueKey(installation, 'passepartout', 'test')
  await using inside = new AsyncDisposableStack()
  const engine = await openEngine(inside, installation)
  const { client } = engine.db
  const nonce = await start(engine, owner)
  client.run('UPDATE passepartout_attempts SET expires_at = ?', [Date.now() + LIFETIME_MS])
  addCopies(client, {
    table: 'passepartout_attempts',
    of: sha256(nonce),
    by: 'nonce_hash',
    count: attempts - 1,
    columns: { id: copyIds()(), nonce_hash: HASH, link_hash: HASH },
  })
  return { ...installation, key: owner.key, nonces: knownNonces(client) }
}

const ACTOR = { kind: 'cli', source: 'bench' } as const
/** None expires while it is asked about. */
const LIFETIME_MS = 3_600_000
/** SQL for the hash of a random, unknown secret. */
const HASH = 'lower(hex(randomblob(32)))'

const CLIENT = {
  ip: '192.0.2.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0',
  label: 'Web shop',
}

/** Uses the sandbox, which needs no messenger. The status requests run the same code. */
async function start(
  { app, passepartout }: Awaited<ReturnType<typeof openEngine>>,
  { tenantId, key }: { tenantId: string; key: string },
): Promise<string> {
  await passepartout.bots.enable(ACTOR, { tenantId, environment: 'test' })
  const url = 'http://localhost/v1/passepartout/login/start'
  const answer = await app.fetch(new Request(url, postOf(key, { client: CLIENT })))
  if (!answer.ok) throw new Error(`start answered ${answer.status}: ${await answer.text()}`)
  const { nonce } = (await answer.json()) as { nonce: string }
  return nonce
}

/** Their hashes replace others, evenly all over the table. */
function knownNonces(client: Database): string[] {
  const nonces = Array.from({ length: OPEN }, () => randomBytes(32).toString('base64url'))
  const count = client.query<{ rows: number }, []>(
    'SELECT count(*) AS rows FROM passepartout_attempts',
  )
  const { rows } = count.get() ?? { rows: 0 }
  const update = client.prepare('UPDATE passepartout_attempts SET nonce_hash = ? WHERE seq = ?')
  const write = client.transaction(() => {
    for (const [n, nonce] of nonces.entries())
      update.run(sha256(nonce), 1 + Math.floor((n * rows) / OPEN))
  })
  write()
  return nonces
}
