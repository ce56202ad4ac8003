import type { Database } from 'bun:sqlite'
import { mintSecret, sha256 } from '../../src/platform/crypto.ts'
import { addCopies, copyIds } from './copies.ts'
import { openEngine } from './engine.ts'
import type { Installation } from './installation.ts'
import { DUE_IN_MS } from './stored-jobs.ts'

/** SQL for the hash of a random, unknown secret. */
const HASH = 'lower(hex(randomblob(32)))'

/** Monitors of each tenant that wait for a ping; the first is made by the engine, the others are copies. */
export async function storeMonitors(
  installation: Installation,
  each: number,
): Promise<Installation> {
  await using stack = new AsyncDisposableStack()
  const { db, clockwork, callerOf } = await openEngine(stack, installation)
  for (const { key } of installation.residents) {
    const first = { name: 'Nightly backup', period_seconds: DUE_IN_MS / 1000, tags: ['db'] }
    const { id: of } = await clockwork.monitors.create(callerOf(key), first)
    const later = `${Date.now() + DUE_IN_MS} + i`
    const standing = { state: "'up'", last_ping_at: 'created_at', expected_at: later }
    const secrets = { token_hash: HASH, badge_token: HASH }
    const columns = { id: copyIds()(), ...secrets, ...standing, due_at: later }
    addCopies(db.client, { table: 'monitors', of, count: each - 1, columns })
  }
  return installation
}

/** New tokens of all monitors; a token is not known once it is stored. */
export function renewTokens(client: Database): string[] {
  const rows = client.query<{ seq: number }, []>('SELECT seq FROM monitors').all()
  const update = client.prepare('UPDATE monitors SET token_hash = ? WHERE seq = ?')
  const renew = ({ seq }: { seq: number }) => {
    const token = mintSecret()
    update.run(sha256(token), seq)
    return token
  }
  return client.transaction(() => rows.map(renew))()
}
