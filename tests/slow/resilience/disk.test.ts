import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { compileBinary, type Server, until } from '../../support/binary.ts'
import { startTarget, type Target } from '../../support/target.ts'
import {
  IDENTITIES,
  JOBS,
  LOGINS,
  MESSAGES,
  message,
  person,
  storageErrors,
} from './support/api.ts'
import { canFailDisk, canMount, faultyDisk, smallDisk } from './support/disk.ts'
import { type Installation, openInstallation } from './support/installation.ts'
import { isDone, startLoad } from './support/load.ts'
import { messagesAt, openRelay } from './support/relay.ts'

beforeAll(compileBinary, 120_000)

/** A writer for each engine, with its client. */
async function writersAt(
  installation: Installation,
  server: Server,
  tenant: string,
  target: Target,
) {
  await installation.done('bot', 'enable', '--env', 'test', '--tenant', tenant)
  const relay = await installation.newClient(tenant, 'relay')
  const gate = await installation.newClient(tenant, 'gate')
  const clockwork = await installation.newClient(tenant, 'clockwork')
  const passepartout = await installation.newClient(tenant, 'passepartout', 'test')
  const soon = () => new Date(Date.now() + 500).toISOString()
  const job = (n: number) => ({ name: `${n}`, url: `${target.url}/${n}`, run_at: soon() })
  const acts = {
    relay: (n: number) => relay.ask(server, 'POST', MESSAGES, message(n, 'x'.repeat(500))),
    gate: (n: number) => gate.ask(server, 'POST', IDENTITIES, person(n)),
    clockwork: (n: number) => clockwork.ask(server, 'POST', JOBS, job(n)),
    passepartout: () => passepartout.ask(server, 'POST', `${LOGINS}/start`),
  }

  /** The statuses of reads with each engine. */
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

const ENGINES = ['relay', 'gate', 'clockwork', 'passepartout'] as const

test.skipIf(!canMount)(
  'A full disk is a 503 for writes of all engines and for nothing else, and needs no restart',
  async () => {
    await using stack = new AsyncDisposableStack()
    const disk = smallDisk(stack, 24)
    const target = stack.use(startTarget())
    const { installation, server, tenant } = await openRelay(stack, { dataDir: disk.dataDir })
    const { acts, clients, readAll, jobs } = await writersAt(installation, server, tenant, target)
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

    const bodies = storageErrors('the disk is full')
    for (const engine of ENGINES) {
      expect(loads[engine].broken).toEqual([])
      for (const { answer } of loads[engine].refused()) {
        expect(answer).toMatchObject({ status: 503, body: bodies[engine] })
        expect(answer.headers.get('retry-after')).toBe('1')
      }
    }
    expect(await installation.problems()).toEqual([
      expect.stringMatching(/^disk: only \S+ MB free/),
      'writing: the disk is full: free some space. No restart needed',
    ])
    const elsewhere = join(installation.cwd, 'elsewhere.tar.gz')
    await installation.done('backup', '--to', elsewhere)
    await installation.done('backup', 'check', elsewhere)
    const here = await installation.run('backup')
    expect(here).toMatchObject({ code: 1, err: expect.stringContaining('the disk is full') })
    // The log may have a little room left.
    const other = await installation.run('tenant', 'create', '--name', 'Other')
    const isMade = other.code === 0
    if (!isMade) expect(other).toMatchObject({ code: 1, err: 'the disk is full\n' })
    expect((await installation.ask('tenant', 'list')).tenants).toHaveLength(isMade ? 2 : 1)

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
      async () => (await installation.ask('tenant', 'usage', tenant)).requests === metered,
      () => `${metered} were answered`,
    )

    disk.fill(0)
    expect(await server.terminate()).toBe(0)
  },
  300_000,
)

test.skipIf(!canFailDisk)(
  'A disk that turns read-only is a 503 for writes; commands report it, and a backup is possible',
  async () => {
    await using stack = new AsyncDisposableStack()
    const disk = faultyDisk(stack, 32)
    const { installation, server, relay } = await openRelay(stack, { dataDir: disk.dataDir })
    const load = startLoad(8, (n) => relay.ask(server, 'POST', MESSAGES, message(n)))
    await until(() => load.calls.length > 200)
    // The kernel may report a sync as done that the failure has interrupted.
    const before = load.ids()
    disk.fail()
    await until(() => load.refused().length > 20)
    expect(await relay.ask(server, 'GET', MESSAGES)).toMatchObject({ status: 200 })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await load.stop()

    expect(load.broken).toEqual([])
    const { relay: body } = storageErrors('the disk reports an input or output error')
    for (const { answer } of load.refused()) expect(answer).toMatchObject({ status: 503, body })
    const isReadOnly = expect.stringContaining('writing: the file system is read-only')
    expect(await installation.problems()).toEqual(expect.arrayContaining([isReadOnly]))
    const archive = join(installation.cwd, 'last.tar.gz')
    await installation.done('backup', '--to', archive)
    // The usage counted since then cannot be stored.
    expect(await server.terminate()).toBe(1)
    expect(server.out()).toContain('usage was not stored')
    expect(await installation.serveInVain()).toMatchObject({
      code: 1,
      err: expect.stringContaining('read-only'),
    })

    disk.repair()
    const again = await installation.serve()
    const found = new Set(await messagesAt(again, relay))
    expect(before.filter((id) => !found.has(id))).toEqual([])
    expect(await again.terminate()).toBe(0)
    const copy = openInstallation(stack)
    await copy.done('restore', archive)
    const copied = new Set(copy.rows<{ id: string }>('SELECT id FROM messages').map(({ id }) => id))
    expect(before.filter((id) => !copied.has(id))).toEqual([])
  },
  300_000,
)

test.skipIf(!canFailDisk)(
  'A server that cannot start on a read-only disk says so, and a backup is possible',
  async () => {
    await using stack = new AsyncDisposableStack()
    const disk = faultyDisk(stack, 32)
    const { installation, server } = await openRelay(stack, { dataDir: disk.dataDir })
    expect(await server.terminate()).toBe(0)
    disk.makeReadOnly()

    expect(await installation.serveInVain()).toMatchObject({
      code: 1,
      err: expect.stringContaining('read-only'),
    })
    await installation.done('backup', '--to', join(installation.cwd, 'a.tar.gz'))
  },
  300_000,
)
