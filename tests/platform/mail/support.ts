import { afterAll } from 'bun:test'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { migrations } from '../../../drizzle/index.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { openDatabase } from '../../../src/db/open.ts'
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

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The code that most letters of these tests carry. */
export const CODE = '481516'
const START = '2026-03-01T12:00:00.000Z'

export interface MailOptions {
  dataDir: string
  /** Without one, mails are kept. */
  smtpUrl?: string
  from?: string
  ca?: string[]
  /** What the clock of this process shows when it starts. */
  start?: string
  pid?: number
  /** Whether it finds the other processes of the machine alive. */
  othersRun?: boolean
}

export type Fixture = Awaited<ReturnType<typeof openMail>>

/** Mail on a data directory, real but for its clock. */
export async function openMail(options: MailOptions) {
  const { dataDir, pid = 1, othersRun = false } = options
  const clock = createTestClock(options.start ?? START)
  const lines: string[] = []
  const log = createLog({
    level: 'debug',
    format: 'json',
    now: clock.now,
    write: (line) => lines.push(line),
  })
  const db = openDatabase({ dataDir, synchronous: 'full' })
  const backupDir = join(dataDir, 'backups')
  migrate(db.client, { migrations, backupDir, appVersion: 'test', now: 0 })
  const sealing = createSealing(await openKeyRing({ db, clock, dataDir }))
  const process = { version: 'test', host: 'test', pid, isRunning: () => othersRun }
  const instances = createInstances({ db, clock, process })
  const metrics = createMetrics()
  const retention = createRetention({ db, clock, log })
  const { smtpUrl, from = 'Gatehouse <gate@example.org>', ca } = options
  const config = {
    ...testConfig(),
    mail: smtpUrl ? { smtpUrl, from } : { smtpUrl, from: undefined },
  }
  const mail = createMail({ db, clock, log, sealing, instances, metrics, config, ca })
  retention.add(...mail.retention)
  clock.settled = mail.idle

  async function start() {
    await instances.start()
    await mail.start()
    await mail.idle()
  }

  /** A letter as gate writes them, unless told otherwise. */
  const letterTo = (recipient: string, fields: Partial<NewMail> = {}): NewMail => ({
    tenantId: null,
    about: null,
    kind: 'verification',
    recipient,
    subject: 'Confirm your address',
    text: `Your code is ${CODE}.`,
    html: `<p>Your code is <b>${CODE}</b>.</p>`,
    expiresAt: clock.now() + HOUR,
    ...fields,
  })

  /** Resolves with its id once the mail is written down. */
  const post = (recipient = 'ada@example.com', fields: Partial<NewMail> = {}) =>
    db.commit(() => mail.post(letterTo(recipient, fields), clock.now()))

  /** Resolves once it was tried. */
  async function send(recipient?: string, fields?: Partial<NewMail>) {
    const id = await post(recipient, fields)
    await mail.idle()
    return id
  }

  const read = (id: string) => mail.outbox.read('all', id)

  function tenant(id: string) {
    db.client.run(
      "INSERT INTO tenants (id, name, plan, status, created_at, updated_at) VALUES (?, ?, 'free', 'active', 0, 0)",
      [id, id],
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

  await start()
  return {
    ...{ mail, db, clock, retention, metrics, log: lines },
    ...{ post, send, read, tenant, letterTo, advanceWaiting, stop },
    [Symbol.asyncDispose]: stop,
  }
}

type Options = Omit<MailOptions, 'dataDir'>

/** Mail on a data directory of its own. */
export async function newMail(options: Options = {}) {
  const folder = temporaryFolder()
  const fixture = await openMail({ ...options, dataDir: folder.path })
  async function stop() {
    await fixture.stop()
    folder[Symbol.dispose]()
  }
  return { ...fixture, dataDir: folder.path, stop, [Symbol.asyncDispose]: stop }
}

/** Mail without a server, opened once for a test file. */
export async function useMail() {
  const fixture = await newMail()
  afterAll(fixture.stop)
  return fixture
}

/** Mail with a server that takes every mail unless told otherwise. */
export async function newMailAndServer(options: Options = {}) {
  const server = await startMailServer()
  const fixture = await newMail({ smtpUrl: server.url, ...options })
  async function stop() {
    await fixture.stop()
    await server[Symbol.asyncDispose]()
  }
  return { ...fixture, server, stop, [Symbol.asyncDispose]: stop }
}

/** A server that does what no mail server should. */
export async function startOddServer(behave: (socket: net.Socket, connection: number) => void) {
  const sockets = new Set<net.Socket>()
  const arrivals: (() => void)[] = []
  let connection = 0
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.resume()
    behave(socket, ++connection)
    for (const tell of arrivals.splice(0)) tell()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    url: `smtp://127.0.0.1:${port}`,
    /** Resolves when somebody has connected the next time. */
    arrived: () => new Promise<void>((resolve) => void arrivals.push(resolve)),
    hangUp: () => {
      for (const socket of sockets) socket.destroy()
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** A server that speaks SMTP, and answers who the recipient is only when told to go on. */
export async function startHesitantServer(answer: string) {
  const asked = Promise.withResolvers<void>()
  const told = Promise.withResolvers<void>()
  let connections = 0
  const server = await startOddServer((socket, connection) => {
    connections = connection
    socket.write('220 ready\r\n')
    createInterface(socket).on('line', async (line) => {
      if (line.startsWith('RCPT')) {
        asked.resolve()
        await told.promise
        socket.write(`${answer}\r\n`)
      } else if (line === 'DATA') socket.write('354 go on\r\n')
      else if (line === '.' || /^(EHLO|MAIL|QUIT|RSET)/.test(line)) socket.write('250 ok\r\n')
    })
  })
  return { ...server, asked: asked.promise, goOn: told.resolve, connections: () => connections }
}
