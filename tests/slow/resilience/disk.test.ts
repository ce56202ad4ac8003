import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
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
import { openInstallation } from './support/installation.ts'
import { isDone, startLoad } from './support/load.ts'
import { messagesAt, openRelay } from './support/relay.ts'

const ENGINES = ['relay', 'gate', 'clockwork', 'passepartout'] as const

test.skipIf(!canMount)(
  'A full disk is a 503 for writes of all engines and for nothing else, and needs no restart',
  async () => {
    await using stack = new AsyncDisposableStack()
    const disk = smallDisk(stack, 24)
    const target = stack.use(startTarget())
    const { installation, server, tenant, relay } = await openRelay(stack, {
      dataDir: disk.dataDir,
    })
    await installation.done('bot', 'enable', '--env', 'test', '--tenant', tenant)
    const gate = installation.newClient(tenant, 'gate')
    const clockwork = installation.newClient(tenant, 'clockwork')
    const passepartout = installation.newClient(tenant, 'passepartout', 'test')
    const job = (n: number) => {
      const run_at = new Date(Date.now() + 500).toISOString()
      return { name: `${n}`, url: `${target.url}/${n}`, run_at }
    }
    const writes = {
      relay: (n: number) => relay.ask(server, 'POST', MESSAGES, message(n, 'x'.repeat(500))),
      gate: (n: number) => gate.ask(server, 'POST', IDENTITIES, person(n)),
      clockwork: (n: number) => clockwork.ask(server, 'POST', JOBS, job(n)),
      passepartout: () => passepartout.ask(server, 'POST', `${LOGINS}/start`),
    }
    const loads = {
      relay: startLoad(2, writes.relay),
      gate: startLoad(2, writes.gate),
      clockwork: startLoad(1, writes.clockwork),
      passepartout: startLoad(2, writes.passepartout),
    }
    await until(() => ENGINES.every((engine) => loads[engine].calls.length > 10))
    disk.fill(256 * 1024)
    await until(() => ENGINES.every((engine) => loads[engine].refused().length > 3))
    const reads = await Promise.all([
      relay.ask(server, 'GET', MESSAGES),
      gate.ask(server, 'GET', IDENTITIES),
      clockwork.ask(server, 'GET', '/v1/clockwork/jobs'),
      ...['/healthz', '/readyz'].map((path) => fetch(server.url + path)),
    ])
    expect(reads.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    await Promise.all(ENGINES.map((engine) => loads[engine].stop()))

    const errors = storageErrors('the disk is full')
    for (const engine of ENGINES) {
      expect(loads[engine].broken).toEqual([])
      for (const { answer } of loads[engine].refused()) {
        expect(answer).toMatchObject(errors[engine])
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

    disk.makeRoom()
    for (const engine of ENGINES) expect((await writes[engine](1_000_000)).status).toBeLessThan(300)
    const messages = await messagesAt(server, relay)
    expect(loads.relay.ids().filter((id) => !messages.includes(id))).toEqual([])
    const people = (await gate.walk(server, IDENTITIES)).map(({ id }) => id)
    expect(loads.gate.ids().filter((id) => !people.includes(id))).toEqual([])
    for (const call of loads.passepartout.calls.filter(isDone).slice(-5))
      await passepartout.make(server, 'GET', `${LOGINS}/status?nonce=${call.answer.body.nonce}`)
    const jobs = (): Promise<{ id: string; name: string; status: string }[]> =>
      clockwork.make(server, 'GET', JOBS)
    await until(async () => (await jobs()).every(({ status }) => status === 'success'), server.out)
    const fired = await jobs()
    const ids = fired.map(({ id }) => id)
    expect(loads.clockwork.ids().filter((id) => !ids.includes(id))).toEqual([])
    expect(target.requests.map(({ path }) => path).toSorted()).toEqual(
      fired.map(({ name }) => `/hook/${name}`).toSorted(),
    )
    const clients = [relay, gate, clockwork, passepartout]
    const metered = clients.reduce((sum, client) => sum + client.metered(), 0)
    const counted = () => installation.rows('SELECT requests FROM usage_months')
    await until(
      () => Bun.deepEquals(counted(), [{ requests: metered }]),
      () => `${metered} were answered, counted are ${JSON.stringify(counted())}`,
    )
    disk.fill(0)
    expect(await server.terminate()).toBe(0)
  },
  300_000,
)

test.skipIf(!canFailDisk)(
  'A disk that turns read-only is a 503 for writes; commands and the next start report it, and a backup is possible',
  async () => {
    await using stack = new AsyncDisposableStack()
    const disk = faultyDisk(stack, 32)
    const { installation, server, relay } = await openRelay(stack, { dataDir: disk.dataDir })
    const load = startLoad(4, (n) => relay.ask(server, 'POST', MESSAGES, message(n)))
    await until(() => load.calls.length > 50)
    // The kernel may report a sync as done that the failure has interrupted.
    const before = load.ids()
    disk.fail()
    await until(() => load.refused().length > 5)
    expect(await relay.ask(server, 'GET', MESSAGES)).toMatchObject({ status: 200 })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await load.stop()

    expect(load.broken).toEqual([])
    const { relay: error } = storageErrors('the disk reports an input or output error')
    for (const { answer } of load.refused()) expect(answer).toMatchObject(error)
    const isReadOnly = expect.stringContaining('writing: the file system is read-only')
    expect(await installation.problems()).toEqual(expect.arrayContaining([isReadOnly]))
    const archive = join(installation.cwd, 'read-only.tar.gz')
    await installation.done('backup', '--to', archive)
    // The usage counted since then cannot be stored.
    expect(await server.terminate()).toBe(1)
    expect(server.out()).toContain('usage was not stored')
    expect(await installation.serveInVain()).toMatchObject({
      code: 1,
      err: expect.stringContaining('read-only'),
    })

    await disk.repair()
    const again = await installation.serve()
    expect(await again.terminate()).toBe(0)
    const copy = openInstallation(stack)
    await copy.done('restore', archive)
    for (const { storedMessages } of [installation, copy]) {
      const found = storedMessages()
      expect(before.filter((id) => !found.includes(id))).toEqual([])
    }
  },
  300_000,
)
