import { afterAll } from 'bun:test'
import net, { type AddressInfo } from 'node:net'
import { databaseExists, openDatabase } from '../../../src/db/open.ts'
import { createAlerts } from '../../../src/platform/alerts/index.ts'
import { createAudit } from '../../../src/platform/audit/index.ts'
import { createBranding } from '../../../src/platform/branding/index.ts'
import { createInstances } from '../../../src/platform/instances.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createMail, type NewMail } from '../../../src/platform/mail/index.ts'
import { createMetrics } from '../../../src/platform/metrics/index.ts'
import { createRetention } from '../../../src/platform/retention.ts'
import { createSealing } from '../../../src/platform/sealing/index.ts'
import { openKeyRing } from '../../../src/platform/sealing/open-key-ring.ts'
import { createTestClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { addMigratedDatabase } from '../../support/template.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const CODE = '481516'

interface MailOptions {
  dataDir: string
  smtpUrl?: string
  from?: string
  ca?: string[]
  start?: string
  pid?: number
  othersRun?: boolean
}

export async function openMail(options: MailOptions) {
  const { dataDir, smtpUrl, ca, pid = 1, othersRun = false } = options
  const clock = createTestClock(options.start ?? '2026-03-01T12:00:00.000Z')
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const log = createLog({ level: 'debug', format: 'json', now: clock.now, write })
  if (!databaseExists(dataDir)) addMigratedDatabase(dataDir)
  const db = openDatabase({ dataDir, synchronous: 'full' })
  const sealing = createSealing(await openKeyRing({ db, clock, dataDir }))
  const process = { version: 'test', host: 'test', pid, isRunning: () => othersRun }
  const instances = createInstances({ db, clock, process })
  const metrics = createMetrics()
  const retention = createRetention({ db, clock, log })
  const { from = 'Gatehouse <gate@example.org>' } = options
  const serverAt = (smtpUrl: string | undefined) =>
    smtpUrl ? { smtpUrl, from } : { smtpUrl: undefined, from: undefined }
  let settings = serverAt(smtpUrl)
  const audit = createAudit({ db, clock })
  const branding = createBranding({ db, clock, audit, tenants: { nameOf: () => 'Acme' } })
  const alerts = createAlerts({ db, clock })
  const services = { db, clock, log, sealing, instances, metrics, branding, alerts, ca }
  const mail = createMail({ ...services, config: testConfig(), settings: () => settings })
  /** As an admin does in the console, in this process or another. */
  const setServer = (smtpUrl: string | undefined) => {
    settings = serverAt(smtpUrl)
  }
  retention.add(...mail.retention)
  clock.settled = mail.idle

  const body = { text: `Your code is ${CODE}.`, html: `<p>Your code is <b>${CODE}</b>.</p>` }
  const letterTo = (recipient: string, fields: Partial<NewMail> = {}): NewMail => ({
    ...{ tenantId: null, about: null, kind: 'verification', recipient, ...body },
    ...{ subject: 'Confirm your address', expiresAt: clock.now() + HOUR, ...fields },
  })

  const post = (recipient = 'ada@example.com', fields?: Partial<NewMail>) =>
    db.commit(() => mail.post(letterTo(recipient, fields), clock.now()))

  async function send(recipient?: string, fields?: Partial<NewMail>) {
    const id = await post(recipient, fields)
    await mail.idle()
    return id
  }

  const read = (id: string) => mail.outbox.read('all', id)

  function tenant(id: string) {
    db.client.run(
      `INSERT INTO tenants (id, name, plan, status, created_at, updated_at)
        VALUES (?1, ?1, 'free', 'active', 0, 0)`,
      [id],
    )
    return id
  }

  /** Lets everything that was set off do what it can without an answer from a server. */
  async function breathe() {
    for (let turn = 0; turn < 5; turn++) await db.commit(() => undefined)
  }

  /** Turns the clock although a server still owes its answer. */
  async function advanceWaiting(ms: number) {
    clock.settled = breathe
    await clock.advance(ms)
    await breathe()
    clock.settled = mail.idle
  }

  async function stop() {
    const stopped = mail.stop(0)
    await advanceWaiting(0)
    await stopped
    await instances.stop()
    await db.drain()
    db.close()
  }

  await instances.start()
  await mail.start()
  await mail.idle()
  const parts = { mail, alerts, branding, db, dataDir, clock, retention, metrics, log: lines }
  const verbs = { setServer, post, send, read, tenant, letterTo, advanceWaiting, stop }
  return { ...parts, ...verbs, [Symbol.asyncDispose]: stop }
}

type Options = Omit<MailOptions, 'dataDir'>

/** Runs one end after the other, of something that needs both. */
const both = (first: () => Promise<void>, second: () => void | PromiseLike<void>) => async () => {
  await first()
  await second()
}

export async function newMail(options: Options = {}) {
  const folder = temporaryFolder()
  const fixture = await openMail({ ...options, dataDir: folder.path })
  const stop = both(fixture.stop, () => folder[Symbol.dispose]())
  return { ...fixture, stop, [Symbol.asyncDispose]: stop }
}

/** Mail with a server, which takes every mail unless told otherwise. */
export const newMailAndServer = async (options?: Options) =>
  withServer(await startMailServer(), options)

export const newMailAndSilence = async () => withServer(await startOddServer(() => {}))

async function withServer<T extends { url: string } & AsyncDisposable>(server: T, options = {}) {
  const fixture = await newMail({ smtpUrl: server.url, ...options })
  const stop = both(fixture.stop, () => server[Symbol.asyncDispose]())
  return { ...fixture, server, stop, [Symbol.asyncDispose]: stop }
}

export async function opened<T extends { stop: () => Promise<void> }>(mail: Promise<T>) {
  const fixture = await mail
  afterAll(fixture.stop)
  return fixture
}

export async function startOddServer(behave: (socket: net.Socket) => void) {
  const sockets = new Set<net.Socket>()
  const arrivals: (() => void)[] = []
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.resume()
    behave(socket)
    for (const tell of arrivals.splice(0)) tell()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const hangUp = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves with the next connection. */
    arrived: () => new Promise<void>((resolve) => void arrivals.push(resolve)),
    hangUp,
    [Symbol.asyncDispose]: async () => {
      hangUp()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
