import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBucket } from './bucket.ts'
import { giveClocks } from './clock.ts'
import { fill } from './fill.ts'
import { createKeys, createObjects } from './installation.ts'
import { buildNextVersion } from './next-version.ts'
import type { Options } from './options.ts'
import { createPair } from './pair.ts'
import { startProxy } from './proxy.ts'
import { createServer } from './server.ts'
import { startTarget } from './target.ts'

export type Rig = Awaited<ReturnType<typeof startRig>>

/** A bucket, two servers with one tenant, and a target. All end when the stack is disposed. */
export async function startRig(stack: AsyncDisposableStack, options: Options) {
  // Short, because the name of a socket in it is limited.
  const folder = mkdtempSync(join(tmpdir(), 'failover-'))
  if (options.keep) console.log(`data and logs: ${folder}`)
  else stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const bucket = await startBucket(folder)
  stack.defer(bucket.stop)
  const target = startTarget()
  stack.defer(() => target.stop())
  const servers = [await serverNamed('one'), await serverNamed('two')] as const
  if (options.scenarios.includes('clock')) await giveClocks(servers, folder)

  const [first, second] = servers
  mkdirSync(first.dataDir, { mode: 0o700 })
  const keys = await createKeys(first, folder)
  if (options.sizeMb > 0) fill(first.dataDir, options.sizeMb)
  const pair = createPair(servers, bucket, options)
  first.start({ isStandby: false })
  await pair.serving()
  const installation = await createObjects(first, { keys, target, patienceMs: pair.startMs })
  second.start({ isStandby: true })
  return { ...{ bucket, target, pair, installation }, nextVersion: () => buildNextVersion(folder) }

  async function serverNamed(name: string) {
    const proxy = await startProxy({ to: bucket.port, latencyMs: options.latencyMs })
    stack.defer(() => proxy.close())
    const server = await createServer({ name, folder, proxy, options })
    stack.defer(server.kill)
    return server
  }
}
