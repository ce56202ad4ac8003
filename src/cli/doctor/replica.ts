import type { Config } from '../../config/index.ts'
import { messageOf } from '../../db/errors.ts'
import { databaseFile } from '../../db/open.ts'
import { syncWithLitestream } from '../../platform/replication/litestream.ts'
import { type Finding, ok, problem } from './finding.ts'

const check = 'replica'

/** Enough for an upload of what a busy server writes in the meantime. */
const MAX_MS = 10_000

/** Whether a Litestream of its own confirms what is committed, if writes wait for that. */
export async function replica({
  dataDir,
  replication,
}: Pick<Config, 'dataDir' | 'replication'>): Promise<Finding[]> {
  const { role, acknowledge, socket } = replication
  return acknowledge === 'local' || role === 'auto' ? [] : confirmation({ dataDir, socket })
}

/** Whether the Litestream on a socket confirms what is committed. */
export async function confirmation(of: { dataDir: string; socket: string }): Promise<Finding[]> {
  const { dataDir, socket } = of
  const began = performance.now()
  const issue = await syncWithLitestream({
    ...{ socket, file: databaseFile(dataDir), timeoutMs: MAX_MS },
  }).then(() => undefined, messageOf)
  const ms = Math.round(performance.now() - began)
  return [issue === undefined ? ok(check, `confirms writes in ${ms} ms`) : problem(check, issue)]
}
