import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../support/binary.ts'
import { MESSAGES, message, numbers } from './support/api.ts'
import { hit } from './support/installation.ts'
import { slowestMs, startLoad } from './support/load.ts'
import { openRelay } from './support/relay.ts'

test('A backup under load has everything acknowledged before it, and a restore that is killed leaves the old data, the new data or a refusal', async () => {
  await using stack = new AsyncDisposableStack()
  const { installation, server, relay, send } = await openRelay(stack)
  const { storedMessages } = installation
  const load = startLoad(16, (n) => relay.ask(server, 'POST', MESSAGES, message(n)))
  await until(() => load.calls.length >= 300)
  const before = load.ids()
  const begunAt = performance.now()
  expect(await installation.inShell('"$GATEHOUSE" backup --to - | cat > few.tar.gz')).toBe(0)
  const meanwhile = load.calls.filter(({ answeredAt }) => answeredAt > begunAt)
  await load.stop()
  expect(meanwhile.length).toBeGreaterThan(0)
  expect(slowestMs(meanwhile)).toBeLessThan(3000)
  expect([...load.broken, ...load.refused()]).toEqual([])
  await send(1)
  await installation.done('backup', '--to', 'many.tar.gz')
  const many = storedMessages()

  const { code, err } = await installation.run('restore', 'few.tar.gz')
  expect(code).toBe(1)
  expect(err).toMatch(new RegExp(`process ${server.pid} on \\S+, since .*Stop it first`))
  await server.kill()
  // As if another program has the process id of a former server.
  const yesterday = 'heartbeat_at = heartbeat_at - 86400000, started_at = started_at - 86400000'
  installation.change(`UPDATE instances SET pid = ${process.pid}, ${yesterday}`)
  const restoredAt = performance.now()
  expect(await installation.run('restore', 'few.tar.gz')).toMatchObject({ code: 0, err: '' })
  const tookMs = performance.now() - restoredAt
  expect(await installation.problems()).toEqual([])
  const few = storedMessages()
  expect(before.filter((id) => !few.includes(id))).toEqual([])
  expect(few.filter((id) => !load.ids().includes(id))).toEqual([])

  const marker = join(installation.dataDir, 'restore.unfinished')
  let held = few
  for (const round of numbers(4)) {
    const [file, wanted] = held === few ? ['many.tar.gz', many] : ['few.tar.gz', few]
    const child = installation.begin('restore', file as string)
    const end = performance.now() + tookMs * Math.random()
    // Half of the kills happen in the few milliseconds in which files change places.
    if (round % 2 === 0) await until(() => performance.now() > end)
    else await hit(() => existsSync(marker) || child.exitCode !== null)
    child.kill('SIGKILL')
    await child.exited
    if (existsSync(marker)) {
      const interrupted = `a restore into ${installation.dataDir} was interrupted: run`
      const refused = { code: 1, err: expect.stringContaining(interrupted) }
      expect(await installation.serveInVain()).toMatchObject(refused)
      await installation.done('restore', file as string)
      held = wanted as string[]
    } else if (storedMessages().length === wanted?.length) held = wanted as string[]
    expect(storedMessages().toSorted()).toEqual(held.toSorted())
  }
  await installation.done('restore', 'few.tar.gz')
  const left = readdirSync(installation.dataDir)
  expect(left.filter((name) => name.startsWith('.gatehouse-work'))).toEqual([])
}, 300_000)
