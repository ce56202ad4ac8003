import { Database } from 'bun:sqlite'
import { beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { compileBinary, type Server, until } from './support/binary.ts'
import { temporaryFolder } from './support/folder.ts'
import { startMailServer } from './support/mail-server.ts'
import type { Answered, Client } from './support/nights/client.ts'
import { canFailDisk, canMount, faultyDisk, smallDisk } from './support/nights/disk.ts'
import { type House, openHouse } from './support/nights/house.ts'
import { type Call, isDone, slowestMs, startLoad } from './support/nights/load.ts'
import { type ReceivedRequest, startTarget, type Target } from './support/target.ts'

beforeAll(compileBinary, 120_000)

const MESSAGES = '/v1/relay/messages'
const ENDPOINTS = '/v1/relay/endpoints'
const DELIVERIES = '/v1/relay/deliveries'
const IDENTITIES = '/v1/gate/identities'
const JOBS = '/v1/clockwork/delayed'
const LOGINS = '/v1/passepartout/login'

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
const eventId = ({ headers }: ReceivedRequest): string => headers.get('webhook-id') ?? ''
const message = (n: number, filling = '') => ({ event_type: 'a.b', payload: { n, filling } })
const person = (n: number) => ({ schema_id: 'user', traits: { email: `p-${n}@example.com` } })
const messagesAt = async (server: Server, relay: Client): Promise<string[]> =>
  (await relay.walk(server, MESSAGES)).map(({ id }) => id)

/** Past the moment, but not a moment of idleness: somebody asks whether all is well. */
async function wellUntil(server: Server, moment: number): Promise<number> {
  let slowest = 0
  await until(async () => {
    const askedAt = performance.now()
    const { status } = await fetch(`${server.url}/healthz`)
    expect(status).toBe(200)
    slowest = Math.max(slowest, performance.now() - askedAt)
    return performance.now() >= moment
  })
  return slowest
}

/** A house whose server has a relay. */
async function openRelay(stack: AsyncDisposableStack, place?: Parameters<typeof openHouse>[1]) {
  const house = openHouse(stack, place)
  const server = await house.serve()
  const tenant = await house.newTenant()
  const relay = await house.newClient(tenant, 'relay')

  /** One after the other; their ids in that order. */
  async function send(count: number): Promise<string[]> {
    const ids: string[] = []
    for (const n of numbers(count))
      ids.push((await relay.make(server, 'POST', MESSAGES, message(n, 'x'.repeat(900)))).id)
    return ids
  }

  return { house, server, tenant, relay, send }
}

describe('a backup', () => {
  test('under load keeps nobody waiting, and has all that was acknowledged before it was asked for', async () => {
    await using stack = new AsyncDisposableStack()
    const { house, server, relay } = await openRelay(stack)
    const filling = 'x'.repeat(1000)
    const load = startLoad(48, (n) => relay.ask(server, 'POST', MESSAGES, message(n, filling)))
    await until(() => load.calls.length >= 3000)

    const ways = [
      { archive: 'one.tar.gz', command: '"$GATEHOUSE" backup --to one.tar.gz' },
      { archive: 'piped.tar.gz', command: '"$GATEHOUSE" backup --to - | cat > piped.tar.gz' },
    ]
    const made: { archive: string; before: string[] }[] = []
    for (const { archive, command } of ways) {
      const before = load.ids()
      const begunAt = performance.now()
      expect(await house.inShell(command)).toBe(0)
      const meanwhile = load.calls.filter(({ answeredAt }) => answeredAt > begunAt)
      expect(meanwhile.length).toBeGreaterThan(0)
      expect(slowestMs(meanwhile)).toBeLessThan(3000)
      made.push({ archive, before })
    }
    await load.stop()
    expect(load.broken).toEqual([])
    expect(load.refused()).toEqual([])

    const sent = new Set(load.ids())
    for (const { archive, before } of made) {
      const copy = openHouse(stack)
      await copy.done('restore', join(house.cwd, archive))
      expect(await copy.problems()).toEqual([])
      const found = new Set(await messagesAt(await copy.serve(), relay))
      expect(before.filter((id) => !found.has(id))).toEqual([])
      expect([...found].filter((id) => !sent.has(id))).toEqual([])
    }
  }, 60_000)

  test('of the schedule comes with the start when it is due, takes the place of the last, and is finished at SIGTERM', async () => {
    await using stack = new AsyncDisposableStack()
    const settings = {
      GATEHOUSE_BACKUP_ENABLED: 'true',
      GATEHOUSE_BACKUP_EVERY: '1m',
      GATEHOUSE_BACKUP_KEEP: '1',
    }
    const { house, server, relay } = await openRelay(stack, { settings })
    const directory = join(house.dataDir, 'backups')
    const named = (prefix: string) => readdirSync(directory).filter((it) => it.startsWith(prefix))
    const archives = () => named('gatehouse-')
    const inWork = () => named('.gatehouse-work-')
    const good = () =>
      house.rows("SELECT 1 FROM backups WHERE origin = 'schedule' AND bytes IS NOT NULL").length
    const letAMinutePass = () =>
      house.change(
        'UPDATE backups SET started_at = started_at - 61000, ended_at = ended_at - 61000',
      )
    await until(() => good() === 1, server.out)
    const [oldest] = archives()
    const ours = 'gatehouse-2026-01-01T00-00-00Z.tar.gz'
    await house.done('backup', '--to', join(directory, ours))
    const load = startLoad(32, (n) => relay.ask(server, 'POST', MESSAGES, message(n)))
    await until(() => load.calls.length > 1500)
    await load.stop()
    expect(await server.terminate()).toBe(0)

    letAMinutePass()
    const second = await house.serve()
    await until(() => inWork().length > 0, second.out)
    expect(await second.terminate()).toBe(0)

    expect(good()).toBe(2)
    expect(inWork()).toEqual([])
    expect(archives()).toHaveLength(2)
    expect(archives()).toContain(ours)
    expect(archives()).not.toContain(oldest)

    letAMinutePass()
    const killed = await house.serve()
    await until(() => inWork().length > 0, killed.out)
    await killed.kill()
    const next = await house.serve()
    // By the orphan of the one that was killed, or by the next.
    await until(() => good() === 3 && inWork().length === 0, next.out)
    for (const archive of archives()) await house.done('backup', 'check', join(directory, archive))
    expect(await house.problems()).toEqual([])
  }, 60_000)
})

describe('a restore', () => {
  /** A server, an archive of its first messages, and one of those and some more. */
  async function withArchives(stack: AsyncDisposableStack) {
    const relay = await openRelay(stack)
    const { house, send } = relay
    const first = await send(40)
    const few = join(house.cwd, 'few.tar.gz')
    await house.done('backup', '--to', few)
    const all = [...first, ...(await send(40))]
    const many = join(house.cwd, 'many.tar.gz')
    await house.done('backup', '--to', many)
    return { ...relay, few: { file: few, ids: first }, many: { file: many, ids: all } }
  }

  test('is refused while a server runs, and killed at any moment it leaves the old data, the new, or a refusal', async () => {
    await using stack = new AsyncDisposableStack()
    const { house, server, relay, few, many } = await withArchives(stack)
    const refused = await house.run('restore', few.file)
    expect(refused.code).toBe(1)
    expect(refused.err).toMatch(new RegExp(`process ${server.pid} on \\S+, since .*Stop it first`))
    await server.kill()
    const begunAt = performance.now()
    await house.done('restore', few.file)
    const tookMs = performance.now() - begunAt
    const marker = join(house.dataDir, 'restore.unfinished')

    /** Half of the time amid of the few milliseconds in which files change places. */
    async function killAtRandom(file: string, isLate: boolean) {
      const child = house.begin('restore', file)
      const end = performance.now() + tookMs * Math.random()
      if (!isLate) await until(() => performance.now() > end)
      // Without a pause, which would be longer than what is to be hit.
      else while (!existsSync(marker) && child.exitCode === null && performance.now() < end + 5000);
      child.kill('SIGKILL')
      await child.exited
    }

    let held = few
    for (const round of numbers(8)) {
      const wanted = held === few ? many : few
      await killAtRandom(wanted.file, round % 2 === 1)
      if (existsSync(marker)) {
        const { code, err } = await house.serveInVain()
        expect({ code, err }).toEqual({
          code: 1,
          err: expect.stringContaining(`a restore into ${house.dataDir} was cut short: run`),
        })
        await house.done('restore', wanted.file)
      }
      const again = await house.serve()
      const found = await messagesAt(again, relay)
      held = found.length === few.ids.length ? few : many
      expect(found.toSorted()).toEqual(held.ids.toSorted())
      await again.terminate()
    }
    await house.done('restore', few.file)
    expect(readdirSync(house.dataDir).filter((name) => name.startsWith('.gatehouse-work'))).toEqual(
      [],
    )
  }, 60_000)

  test('is not held up by another program that has the number of a server by now', async () => {
    await using stack = new AsyncDisposableStack()
    const { house, server, few } = await withArchives(stack)
    await server.kill()
    const yesterday = 'heartbeat_at = heartbeat_at - 86400000, started_at = started_at - 86400000'
    house.change(`UPDATE instances SET pid = ${process.pid}, ${yesterday}`)

    expect(await house.run('restore', few.file)).toMatchObject({ code: 0, err: '' })
  }, 30_000)

  test.skipIf(process.platform !== 'linux')(
    'that a server starts amid of takes nothing from that server which it has acknowledged',
    async () => {
      await using stack = new AsyncDisposableStack()
      const { house, server, relay, few } = await withArchives(stack)
      await server.kill()
      house.change('DELETE FROM instances')
      const isIn = (pid: number) =>
        readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(pid, fd) === house.database)

      // Stopped just after it has opened the database, as by a machine with much to do.
      const child = Bun.spawn([...house.command, 'serve', '--server-port', '0'], {
        ...house.place,
        stdout: 'pipe',
        stderr: 'ignore',
      })
      stack.defer(() => child.kill('SIGKILL'))
      while (child.exitCode === null && !isIn(child.pid));
      child.kill('SIGSTOP')
      const { code } = await house.run('restore', few.file)
      child.kill('SIGCONT')

      const url = await urlIn(child.stdout)
      if (url === undefined) return
      const { status, body } = await relay.ask({ url }, 'POST', MESSAGES, message(1))
      const kept = house.rows<{ id: string }>('SELECT id FROM messages').map(({ id }) => id)
      expect({ code, status, isKept: kept.includes(body.id) }).toEqual({
        code,
        status,
        isKept: status === 202,
      })
    },
    30_000,
  )
})

/** What a descriptor leads to; it may have been closed since. */
function linkOf(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`)
  } catch {
    return ''
  }
}

/** Where a server says that it listens; undefined when it ends without. */
async function urlIn(out: ReadableStream<Uint8Array>): Promise<string | undefined> {
  let text = ''
  for await (const chunk of out) {
    text += new TextDecoder().decode(chunk)
    const url = /"message":"listening","url":"([^"]+)"/.exec(text)?.[1]
    if (url !== undefined) return url
  }
}

test('a copy that is served with --paused takes everything in and lets nothing out; without it all that was due goes out once, and what was under way a second time', async () => {
  await using stack = new AsyncDisposableStack()
  const smtp = stack.use(await startMailServer())
  smtp.refuses('connect', 421, 'not now')
  const never = new Promise<Response>(() => {})
  const [taking, refusing, silent] = [
    stack.use(startTarget()),
    stack.use(startTarget(() => new Response('not now', { status: 503 }))),
    stack.use(startTarget(() => never)),
  ]
  const targets = [taking, refusing, silent]
  const settings = {
    GATEHOUSE_MAIL_SMTP_URL: smtp.url,
    GATEHOUSE_MAIL_FROM: 'Gatehouse <gatehouse@example.org>',
    GATEHOUSE_RELAY_RETRY_DELAYS: '10m',
  }
  const { house, server, tenant, relay } = await openRelay(stack, { settings })
  const clockwork = await house.newClient(tenant, 'clockwork')
  const gate = await house.newClient(tenant, 'gate')
  for (const [n, { url }] of targets.entries())
    await relay.make(server, 'POST', ENDPOINTS, { url, event_types: [`to.${n}`] })

  const sendTo = (at: Server, target: Target): Promise<string[]> =>
    Promise.all(
      numbers(5).map(async () => {
        const event = { event_type: `to.${targets.indexOf(target)}`, payload: {} }
        return (await relay.make(at, 'POST', MESSAGES, event)).id
      }),
    )
  const schedule = (at: Server, name: string, inMs: number) => {
    const run_at = new Date(Date.now() + inMs).toISOString()
    return clockwork.make(at, 'POST', JOBS, { name, url: `${taking.url}/${name}`, run_at })
  }
  const mailTo = async (at: Server, n: number) => {
    const { id } = await gate.make(at, 'POST', IDENTITIES, person(n))
    await gate.make(at, 'POST', `${IDENTITIES}/${id}/resend-verification`)
  }
  const eventsAt = ({ requests }: Target) => requests.map(eventId).filter(Boolean).toSorted()
  const jobsAt = ({ requests }: Target) =>
    requests.flatMap(({ path }) => /^\/hook\/(.+)/.exec(path)?.[1] ?? []).toSorted()
  const count = (rows: string) => house.rows(`SELECT 1 FROM ${rows}`).length

  await sendTo(server, taking)
  const refused = await sendTo(server, refusing)
  const underWay = await sendTo(server, silent)
  await schedule(server, 'done', 300)
  await schedule(server, 'later', 2500)
  await mailTo(server, 1)
  await until(() => jobsAt(taking).length === 1 && eventsAt(silent).length === 5)
  await until(() => count("deliveries WHERE state = 'succeeded'") === 5)
  await until(() => count("deliveries WHERE state = 'waiting'") === 5)
  await until(() => count("mails WHERE state = 'waiting' AND tries = 1") === 1)
  await until(() => count("runs WHERE state = 'waiting'") === 1)
  await house.done('backup', '--to', join(house.cwd, 'night.tar.gz'))
  await server.kill()

  const copy = openHouse(stack, { settings })
  await copy.done('restore', join(house.cwd, 'night.tar.gz'))
  copy.change('UPDATE deliveries SET due_at = 1 WHERE due_at IS NOT NULL')
  copy.change('UPDATE mails SET due_at = 1')
  smtp.recovers()
  smtp.connections.count = 0
  for (const target of targets) {
    target.answers(() => new Response('ok'))
    target.requests.length = 0
  }

  const paused = await copy.serve('--paused')
  const fresh = await sendTo(paused, taking)
  await schedule(paused, 'fresh', 300)
  await mailTo(paused, 2)
  const [last] = copy.rows<{ due: number }>('SELECT max(due_at) AS due FROM runs')
  const inMs = (last?.due ?? 0) - Date.now()
  await wellUntil(paused, performance.now() + Math.max(inMs, 0) + 1500)
  expect(await relay.walk(paused, MESSAGES)).toHaveLength(20)
  expect((await fetch(`${paused.url}/readyz`)).status).toBe(200)
  expect(targets.flatMap(({ requests }) => requests)).toEqual([])
  expect(smtp.connections.count).toBe(0)
  expect(await paused.terminate()).toBe(0)

  const awake = await copy.serve()
  await until(() => targets.every((target) => eventsAt(target).length >= 5), awake.out)
  await until(() => jobsAt(taking).length >= 2 && smtp.received.length >= 2, awake.out)
  const isOver = async () =>
    (await relay.walk(awake, DELIVERIES)).every(({ status }) => status === 'succeeded')
  await until(isOver, awake.out)
  expect(eventsAt(taking)).toEqual(fresh.toSorted())
  expect(eventsAt(refusing)).toEqual(refused.toSorted())
  expect(eventsAt(silent)).toEqual(underWay.toSorted())
  expect(jobsAt(taking)).toEqual(['fresh', 'later'])
  const recipients = smtp.received.flatMap(({ to }) => to)
  expect(recipients.toSorted()).toEqual(['p-1@example.com', 'p-2@example.com'])
}, 60_000)

test('a copy that is served with --paused deletes no backup of the server that it was made from', async () => {
  await using stack = new AsyncDisposableStack()
  const { path: directory } = stack.use(temporaryFolder())
  const settings = {
    GATEHOUSE_BACKUP_ENABLED: 'true',
    GATEHOUSE_BACKUP_EVERY: '1m',
    GATEHOUSE_BACKUP_KEEP: '1',
    GATEHOUSE_BACKUP_DIRECTORY: directory,
  }
  const { house, server } = await openRelay(stack, { settings })
  const good = () => house.rows('SELECT 1 FROM backups WHERE bytes IS NOT NULL').length
  await until(() => good() === 1, server.out)
  const [original] = readdirSync(directory)
  await house.done('backup', '--to', join(house.cwd, 'night.tar.gz'))

  const copy = openHouse(stack, { settings })
  await copy.done('restore', join(house.cwd, 'night.tar.gz'))
  copy.change('UPDATE backups SET started_at = started_at - 61000, ended_at = ended_at - 61000')
  const paused = await copy.serve('--paused')
  await wellUntil(paused, performance.now() + 1000)
  await paused.terminate()

  expect(readdirSync(directory)).toContain(`${original}`)
}, 30_000)

/** One writer for each engine: what it does, and by which key. */
async function writersAt(house: House, server: Server, tenant: string, target: Target) {
  await house.done('bot', 'enable', '--env', 'test', '--tenant', tenant)
  const relay = await house.newClient(tenant, 'relay')
  const gate = await house.newClient(tenant, 'gate')
  const clockwork = await house.newClient(tenant, 'clockwork')
  const passepartout = await house.newClient(tenant, 'passepartout', 'test')
  const soon = () => new Date(Date.now() + 500).toISOString()
  const job = (n: number) => ({ name: `${n}`, url: `${target.url}/${n}`, run_at: soon() })
  const acts = {
    relay: (n: number) => relay.ask(server, 'POST', MESSAGES, message(n, 'x'.repeat(500))),
    gate: (n: number) => gate.ask(server, 'POST', IDENTITIES, person(n)),
    clockwork: (n: number) => clockwork.ask(server, 'POST', JOBS, job(n)),
    passepartout: () => passepartout.ask(server, 'POST', `${LOGINS}/start`),
  }

  /** By each of them. */
  const readAll = async (): Promise<number[]> => {
    const answers = await Promise.all([
      relay.ask(server, 'GET', MESSAGES),
      gate.ask(server, 'GET', IDENTITIES),
      clockwork.ask(server, 'GET', '/v1/clockwork/jobs'),
      fetch(`${server.url}/healthz`),
      fetch(`${server.url}/readyz`),
    ])
    return answers.map(({ status }) => status)
  }

  const jobs = async (): Promise<{ id: string; name: string; status: string }[]> =>
    await clockwork.make(server, 'GET', JOBS)
  const clients = { relay, gate, clockwork, passepartout }
  return { acts, clients, readAll, jobs }
}

const STORAGE_BODIES = (message: string) => {
  const sentence = `storage: ${message}`
  const coded = {
    error: { code: 'unavailable', message: sentence, request_id: expect.any(String) },
  }
  const plain = { error: sentence }
  return { relay: coded, gate: plain, clockwork: plain, passepartout: coded }
}

const ENGINES = ['relay', 'gate', 'clockwork', 'passepartout'] as const

test.skipIf(!canMount)(
  'a disk that is full under load of all engines is a 503 for what writes and nothing else; no restart is needed once there is room',
  async () => {
    await using stack = new AsyncDisposableStack()
    const disk = smallDisk(stack, 24)
    const target = stack.use(startTarget())
    const { house, server, tenant } = await openRelay(stack, { dataDir: disk.dataDir })
    const { acts, clients, readAll, jobs } = await writersAt(house, server, tenant, target)
    const { relay, gate, clockwork, passepartout } = clients
    const loads = {
      relay: startLoad(6, acts.relay),
      gate: startLoad(6, acts.gate),
      clockwork: startLoad(2, acts.clockwork),
      passepartout: startLoad(6, acts.passepartout),
    }
    await until(() => ENGINES.every((engine) => loads[engine].calls.length > 50))
    disk.fill(512 * 1024)
    await until(() => ENGINES.every((engine) => loads[engine].refused().length > 10))
    expect(await readAll()).toEqual([200, 200, 200, 200, 200])
    await Promise.all(ENGINES.map((engine) => loads[engine].stop()))

    const bodies = STORAGE_BODIES('the disk is full')
    for (const engine of ENGINES) {
      expect(loads[engine].broken).toEqual([])
      for (const { answer } of loads[engine].refused()) {
        expect(answer).toMatchObject({ status: 503, body: bodies[engine] })
        expect(answer.headers.get('retry-after')).toBe('1')
      }
    }
    expect(await house.problems()).toEqual([
      expect.stringMatching(/^disk: only \S+ MB free/),
      'writing: the disk is full: make room, no restart is needed',
    ])
    const elsewhere = join(house.cwd, 'elsewhere.tar.gz')
    await house.done('backup', '--to', elsewhere)
    await house.done('backup', 'check', elsewhere)
    const here = await house.run('backup')
    expect(here).toMatchObject({ code: 1, err: expect.stringContaining('the disk is full') })
    expect(await house.run('tenant', 'create', '--name', 'Other')).toMatchObject({
      code: 1,
      err: 'the disk is full\n',
    })
    expect((await house.ask('tenant', 'list')).tenants).toHaveLength(1)

    disk.makeRoom()
    for (const engine of ENGINES) expect((await acts[engine](1_000_000)).status).toBeLessThan(300)
    const messages = new Set(await messagesAt(server, relay))
    expect(loads.relay.ids().filter((id) => !messages.has(id))).toEqual([])
    const people = new Set((await gate.walk(server, IDENTITIES)).map(({ id }) => id))
    expect(loads.gate.ids().filter((id) => !people.has(id))).toEqual([])
    for (const call of loads.passepartout.calls.filter(isDone).slice(-50))
      await passepartout.make(server, 'GET', `${LOGINS}/status?nonce=${call.answer.body.nonce}`)
    await until(async () => (await jobs()).every(({ status }) => status === 'success'), server.out)
    const fired = await jobs()
    const ids = new Set(fired.map(({ id }) => id))
    expect(loads.clockwork.ids().filter((id) => !ids.has(id))).toEqual([])
    expect(target.requests.map(({ path }) => path).toSorted()).toEqual(
      fired.map(({ name }) => `/hook/${name}`).toSorted(),
    )
    const metered = [relay, gate, clockwork, passepartout]
      .map((client) => client.metered())
      .reduce((sum, count) => sum + count)
    await until(
      async () => (await house.ask('tenant', 'usage', tenant)).requests === metered,
      () => `${metered} were answered`,
    )

    disk.fill(0)
    expect(await server.terminate()).toBe(0)
  },
  60_000,
)

test.skipIf(!canFailDisk)(
  'a disk that turns read-only under a server is a 503 for what writes; commands say so, and backups leave it',
  async () => {
    await using stack = new AsyncDisposableStack()
    const disk = faultyDisk(stack, 32)
    const { house, server, relay } = await openRelay(stack, { dataDir: disk.dataDir })
    const load = startLoad(8, (n) => relay.ask(server, 'POST', MESSAGES, message(n)))
    await until(() => load.calls.length > 200)
    // The kernel may call a sync done that the failure has cut off: that moment says nothing.
    const before = load.ids()
    disk.fail()
    await until(() => load.refused().length > 20)
    expect(await relay.ask(server, 'GET', MESSAGES)).toMatchObject({ status: 200 })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await load.stop()

    expect(load.broken).toEqual([])
    const { relay: body } = STORAGE_BODIES('the disk reports an input or output error')
    for (const { answer } of load.refused()) expect(answer).toMatchObject({ status: 503, body })
    const isReadOnly = expect.stringContaining('writing: the file system is read-only')
    expect(await house.problems()).toEqual(expect.arrayContaining([isReadOnly]))
    const archive = join(house.cwd, 'last.tar.gz')
    await house.done('backup', '--to', archive)
    expect(await server.terminate()).toBe(0)
    expect(await house.serveInVain()).toMatchObject({
      code: 1,
      err: expect.stringContaining('read-only'),
    })

    disk.repair()
    const again = await house.serve()
    const found = new Set(await messagesAt(again, relay))
    expect(before.filter((id) => !found.has(id))).toEqual([])
    expect(await again.terminate()).toBe(0)
    const copy = openHouse(stack)
    await copy.done('restore', archive)
    const copied = new Set(copy.rows<{ id: string }>('SELECT id FROM messages').map(({ id }) => id))
    expect(before.filter((id) => !copied.has(id))).toEqual([])
  },
  60_000,
)

test.skipIf(!canFailDisk)(
  'a disk that is mounted for reading alone is named as such by a server that cannot start',
  async () => {
    await using stack = new AsyncDisposableStack()
    const disk = faultyDisk(stack, 32)
    const { house, server } = await openRelay(stack, { dataDir: disk.dataDir })
    expect(await server.terminate()).toBe(0)
    disk.makeReadOnly()

    expect(await house.serveInVain()).toMatchObject({
      code: 1,
      err: expect.stringContaining('read-only'),
    })
    await house.done('backup', '--to', join(house.cwd, 'a.tar.gz'))
  },
  30_000,
)

describe('a damaged database', () => {
  function overwrite(file: string, at: number, bytes: Buffer) {
    const descriptor = openSync(file, 'r+')
    writeSync(descriptor, bytes, 0, bytes.length, at)
    closeSync(descriptor)
  }

  const garbage = (pages: number) => Buffer.alloc(pages * 4096, 0xff)
  const middleOf = (file: string) => Math.floor(statSync(file).size / 2 / 4096) * 4096

  /** A server that was stopped, and a backup from before. */
  async function backedUp(stack: AsyncDisposableStack) {
    const { house, server, relay, send } = await openRelay(stack)
    const ids = await send(600)
    const archive = join(house.cwd, 'good.tar.gz')
    await house.done('backup', '--to', archive)
    return { house, server, relay, send, ids, archive }
  }

  test('is told by doctor and backup, by serve where it cannot open it, and healed by a restore', async () => {
    await using stack = new AsyncDisposableStack()
    const { house, server, relay, ids, archive } = await backedUp(stack)
    expect(await server.terminate()).toBe(0)
    const damages: { damage: () => void; opens: boolean }[] = [
      {
        opens: true,
        damage: () => overwrite(house.database, middleOf(house.database), garbage(16)),
      },
      { opens: false, damage: () => overwrite(house.database, 0, Buffer.alloc(100, 0xff)) },
      { opens: false, damage: () => truncateSync(house.database, middleOf(house.database)) },
    ]
    for (const { damage, opens } of damages) {
      damage()
      const isDamaged = expect.stringContaining('the database file is damaged')
      expect(await house.problems()).toEqual([isDamaged])
      const unmade = join(house.cwd, 'unmade.tar.gz')
      expect(await house.run('backup', '--to', unmade)).toMatchObject({ code: 1, err: isDamaged })
      expect(existsSync(unmade)).toBe(false)
      if (!opens) expect(await house.serveInVain()).toMatchObject({ code: 1, err: isDamaged })
      await house.done('restore', archive)
      expect(await house.problems()).toEqual([])
    }
    expect((await messagesAt(await house.serve(), relay)).toSorted()).toEqual(ids.toSorted())
  }, 60_000)

  test('whose pages cannot be read is a 503 for whoever asks for them', async () => {
    await using stack = new AsyncDisposableStack()
    const { house, server, relay } = await backedUp(stack)
    expect(await server.terminate()).toBe(0)
    const [{ root } = { root: 0 }] = house.rows<{ root: number }>(
      "SELECT rootpage AS root FROM sqlite_schema WHERE name = 'messages'",
    )
    overwrite(house.database, (root - 1) * 4096, garbage(1))

    const { status, body } = await relay.ask(await house.serve(), 'GET', MESSAGES)
    expect({ status, body }).toEqual({
      status: 503,
      body: STORAGE_BODIES('the database file is damaged').relay,
    })
  }, 30_000)

  test('that has lost every byte is not taken for a new one', async () => {
    await using stack = new AsyncDisposableStack()
    const { house, server } = await backedUp(stack)
    expect(await server.terminate()).toBe(0)
    truncateSync(house.database, 0)

    expect(await house.problems()).not.toEqual([])
    expect(await house.run('backup', '--to', join(house.cwd, 'a.tar.gz'))).toMatchObject({
      code: 1,
    })
    const { exitCode } = await startedOrEnded(house, stack)
    expect(exitCode).toBe(1)
  }, 30_000)

  test('loses of a damaged log what lies behind the damage, and no more', async () => {
    await using stack = new AsyncDisposableStack()
    const { house, server, relay, send, ids } = await backedUp(stack)
    const inLog = await send(100)
    await server.kill()
    const log = `${house.database}-wal`
    overwrite(log, middleOf(log), garbage(1))

    const found = new Set(await messagesAt(await house.serve(), relay))
    const order = [...ids, ...inLog]
    expect(found).toEqual(new Set(order.slice(0, found.size)))
    expect(found.size).toBeGreaterThan(ids.length)
    expect(found.size).toBeLessThan(order.length)
    expect(await house.problems()).toEqual([])
  }, 30_000)
})

/** A server that should not come up: waits until it has, or has ended. */
async function startedOrEnded(house: House, stack: AsyncDisposableStack) {
  const child = Bun.spawn([...house.command, 'serve', '--server-port', '0'], {
    ...house.place,
    stdout: 'pipe',
    stderr: 'ignore',
  })
  stack.defer(() => child.kill('SIGKILL'))
  const url = await urlIn(child.stdout)
  return { exitCode: url === undefined ? await child.exited : null }
}

// Both wait most of the time.
describe('beside running servers', () => {
  for (const { ms, isRefused, rule } of [
    { ms: 3000, isRefused: false, rule: '3 s is waited for' },
    { ms: 7000, isRefused: true, rule: '7 s is a 503 after five' },
  ])
    test.concurrent(`a lock of another program for ${rule}, while reads and probes go on and nothing is lost`, async () => {
      await using stack = new AsyncDisposableStack()
      const { house, server, tenant, relay } = await openRelay(stack)
      const target = stack.use(startTarget())
      const gate = await house.newClient(tenant, 'gate')
      await relay.make(server, 'POST', ENDPOINTS, { url: target.url })
      const messages = startLoad(8, (n) => relay.ask(server, 'POST', MESSAGES, message(n)))
      const people = startLoad(4, (n) => gate.ask(server, 'POST', IDENTITIES, person(n)))
      const loads = [messages, people]
      await until(() => loads.every(({ calls }) => calls.length > 20))
      using locker = new Database(house.database)
      locker.run('PRAGMA busy_timeout = 5000')

      locker.run('BEGIN IMMEDIATE')
      const begunAt = performance.now()
      expect(await wellUntil(server, begunAt + ms)).toBeLessThan(1500)
      expect((await relay.walk(server, MESSAGES)).length).toBeGreaterThan(0)
      locker.run('COMMIT')
      const endedAt = performance.now()
      const isAfter = (call: Call) => call.askedAt > endedAt && isDone(call)
      await until(() => loads.every(({ calls }) => calls.some(isAfter)))
      await Promise.all(loads.map((load) => load.stop()))

      const refused = loads.flatMap((load) => load.refused())
      expect(refused.length > 0).toBe(isRefused)
      const sentence = 'storage: another process holds the database lock'
      for (const { answer } of refused) {
        expect(answer.status).toBe(503)
        expect(answer.headers.get('retry-after')).toBe('1')
        expect(JSON.stringify(answer.body)).toContain(sentence)
      }
      expect(loads.flatMap(({ broken }) => broken)).toEqual([])
      const found = (await gate.walk(server, IDENTITIES)).map(({ id }) => id)
      expect(found.toSorted()).toEqual(people.ids().toSorted())
      expect((await messagesAt(server, relay)).toSorted()).toEqual(messages.ids().toSorted())
      await until(() => target.requests.length >= messages.ids().length, server.out)
      expect(target.requests.map(eventId).toSorted()).toEqual(messages.ids().toSorted())
    }, 60_000)

  test.concurrent('a rotation that is killed and run again spoils no signature, and all commands and a backup go on meanwhile', async () => {
    await using stack = new AsyncDisposableStack()
    const { house, server, tenant, relay } = await openRelay(stack)
    const servers = [server, await house.serve()]
    const at = (n: number) => servers[n % 2] as Server
    const secrets = new Map<string, string>()
    const forged: string[] = []
    const target = stack.use(
      startTarget(({ path, headers, body }) => {
        if (!isSigned(headers, body, secrets.get(path) ?? '')) forged.push(path)
        return new Response('ok')
      }),
    )

    /** An endpoint with a secret of its own, through one server, and an event for it through the other. */
    async function act(n: number): Promise<Answered> {
      const endpoint = { url: `${target.url}/${n}`, event_types: [`to.n${n}`] }
      const { id, secret } = await relay.make(at(n), 'POST', ENDPOINTS, endpoint)
      secrets.set(`/hook/${n}`, secret)
      const event = { event_type: `to.n${n}`, payload: {} }
      const sent = await relay.ask(at(n + 1), 'POST', MESSAGES, event)
      // There may be no more than 1000.
      const delivered = () => target.requests.some(({ path }) => path === `/hook/${n}`)
      await until(delivered)
      if (n % 10 > 0) await relay.make(at(n), 'DELETE', `${ENDPOINTS}/${id}`)
      return sent
    }
    const load = startLoad(3, act)

    const failures: string[] = []
    let isOver = false
    let commands = 0
    async function operate() {
      const verbs = [
        ['tenant', 'create', '--name', 'Other'],
        ['key', 'create', '--tenant', tenant, '--engine', 'gate'],
        ['tenant', 'usage', tenant],
        ['audit', 'list'],
        ['doctor'],
      ]
      for (; !isOver; commands++) {
        const { code, err } = await house.run(...(verbs[commands % verbs.length] ?? []))
        if (code !== 0) failures.push(`${verbs[commands % verbs.length]}: ${err}`)
      }
    }
    const operator = operate()
    const keysInFile = () =>
      readFileSync(join(house.dataDir, 'master.key'), 'utf8').trim().split('\n').length
    const more = async (count: number) => {
      const sofar = load.calls.length
      await until(() => load.calls.length > sofar + count)
    }

    await more(10)
    const killed = house.begin('secrets', 'rotate')
    await until(() => keysInFile() === 2)
    killed.kill('SIGKILL')
    await killed.exited
    await more(10)
    const rotated = house.ask('secrets', 'rotate')
    await more(10)
    const archive = join(house.cwd, 'middle.tar.gz')
    await house.done('backup', '--to', archive)
    expect(keysInFile()).toBe(2)
    const told = performance.now()
    await load.stop()
    expect(await server.terminate()).toBe(0)
    expect(performance.now() - told).toBeLessThan(10_000)
    servers[0] = await house.serve()
    const rest = startLoad(3, (n) => act(100_000 + n))
    expect(await rotated).not.toHaveProperty('unopenable')
    expect(keysInFile()).toBe(1)
    await until(() => rest.calls.length > 20)
    isOver = true
    await operator
    await rest.stop()

    expect([...load.broken, ...rest.broken]).toEqual([])
    expect([...load.refused(), ...rest.refused()]).toEqual([])
    expect(failures).toEqual([])
    expect(commands).toBeGreaterThan(5)
    expect(forged).toEqual([])
    const { data } = await relay.make(at(0), 'GET', `${DELIVERIES}?limit=100`)
    expect(new Set(data.map((row: { status: string }) => row.status))).toEqual(
      new Set(['succeeded']),
    )

    const copy = openHouse(stack)
    await copy.done('restore', archive)
    expect(await copy.problems()).toEqual([])
    const there = await copy.serve()
    const [endpoint] = await relay.walk(there, ENDPOINTS)
    const before = target.requests.length
    const event = { event_type: endpoint.event_types[0], payload: {} }
    await relay.make(there, 'POST', MESSAGES, event)
    await until(() => target.requests.length > before, there.out)
    expect(forged).toEqual([])
  }, 90_000)
})

/** Standard Webhooks, apart from our own code. */
function isSigned(headers: Headers, body: string, secret: string): boolean {
  const signed = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', key).update(signed).digest('base64')
  return (headers.get('webhook-signature') ?? '').split(' ').includes(`v1,${expected}`)
}
