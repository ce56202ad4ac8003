import { afterAll } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { openDatabase } from '../../src/db/open.ts'
import type { Engine, Environment } from '../../src/platform/engines.ts'
import { createLog } from '../../src/platform/log.ts'
import { createOutbound, type Outbound } from '../../src/platform/outbound/index.ts'
import { createPlatform } from '../../src/platform/platform.ts'
import { createSealing } from '../../src/platform/sealing/index.ts'
import { openKeyRing } from '../../src/platform/sealing/open-key-ring.ts'
import type { Plan } from '../../src/platform/tenants.ts'
import { createTestClock, type TestClock } from './clock.ts'
import { testConfig } from './config.ts'
import { temporaryFolder } from './folder.ts'
import { addMigratedDatabase } from './template.ts'

export interface TestAppOptions {
  /** Networks and names that jobs may call; loopback unless given. */
  allow?: string[]
  start?: string
  /** Name resolution of the outbound guard. */
  resolve?: Parameters<typeof createOutbound>[0]['resolve']
  /** Takes the place of the network. */
  outbound?: (clock: TestClock) => Outbound
  /** What chance brings, from 0 up to 1: how late retries are. None unless given. */
  jitter?: number
  /** Settings as options of the command line. */
  flags?: Record<string, string>
  /** Settings as variables, for those that are secrets. */
  env?: Record<string, string>
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any
  headers: Headers
}

export type TestApp = Awaited<ReturnType<typeof bootTestApp>>

const ACTOR = { kind: 'cli', source: 'test' } as const

/**
 * The application of a test file: `const app = await useApp()` at its top. It boots once and stops
 * after the last test, so each test creates a tenant of its own and reads nothing of others.
 */
export async function useApp(options?: TestAppOptions) {
  const app = await bootTestApp(options)
  afterAll(app.stop)
  return app
}

/**
 * The whole application on a database of its own: real storage, real HTTP to targets on
 * loopback, a clock that the test turns. Ends with the scope: `await using app = …`.
 */
export async function bootTestApp(options: TestAppOptions = {}) {
  const folder = temporaryFolder()
  const clock = createTestClock(options.start ?? '2026-03-01T12:00:30.000Z')
  const lines: string[] = []
  const log = createLog({
    level: 'debug',
    format: 'json',
    now: clock.now,
    write: (line) => lines.push(line),
  })
  addMigratedDatabase(folder.path)
  const db = openDatabase({ dataDir: folder.path, synchronous: 'full' })
  const outbound =
    options.outbound?.(clock) ??
    createOutbound({
      clock,
      allow: options.allow ?? ['127.0.0.0/8'],
      timeoutMs: 2000,
      maxResponseBytes: 64 * 1024,
      resolve: options.resolve,
    })
  const process = { version: 'test', host: 'test', pid: 1, isRunning: () => false }
  const sealing = createSealing(await openKeyRing({ db, clock, dataDir: folder.path }))
  const random = () => options.jitter ?? 0
  const config = testConfig({ 'metrics-enabled': 'true', ...options.flags }, options.env)
  const { metering } = config
  const parts = { db, clock, log, outbound, sealing, keyPrefix: 'svc', metering, process, random }
  const platform = createPlatform(parts)
  const gatehouse = createApp(platform, config)
  await gatehouse.start()
  clock.settled = async () => {
    const { backups, clockwork, delivery, mail, notifications, passepartout } = gatehouse
    const loops = [clockwork.loop.idle(), delivery.idle(), passepartout.idle(), mail.idle()]
    await Promise.all([...loops, backups.idle()])
    // Emails about alerts come after the work that the alerts are about.
    await notifications.idle()
    await mail.idle()
  }
  await clock.settled()

  async function tenant(name = 'Acme', plan: Plan = 'unlimited') {
    const { id } = await platform.tenants.create(ACTOR, { name: 'Acme', plan })
    // Past the rules for names: one that is older than they are has to be safe, too.
    db.client.query('UPDATE tenants SET name = ? WHERE id = ?').run(name, id)
    const key = (
      engine: Engine | Engine[] = 'clockwork',
      environment?: Environment,
      scopes?: string[],
    ) => platform.keys.issue(ACTOR, { tenantId: id, engines: [engine].flat(), environment, scopes })
    const { key: secret } = await key()
    return { id, key, secret, api: client(secret) }
  }

  /** Speaks JSON with a key; `raw` for requests that are wrong on purpose. */
  function client(key: string) {
    const send = (method: string) => (path: string, body?: unknown) =>
      raw(path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      })
    return {
      get: send('GET'),
      post: send('POST'),
      put: send('PUT'),
      patch: send('PATCH'),
      delete: send('DELETE'),
    }
  }

  async function raw(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await gatehouse.app.fetch(new Request(`http://localhost${path}`, init))
    const text = await response.text()
    const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text,
    }
  }

  async function stop() {
    await gatehouse.stop(0)
    await platform.metering.stop(0)
    db.close()
    folder[Symbol.dispose]()
  }

  return {
    ...gatehouse,
    platform,
    db,
    clock,
    log: lines,
    tenant,
    client,
    raw,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
