import { expect, spyOn, test } from 'bun:test'
import { WORKER_VARIABLE } from '../../src/config/environment.ts'
import { HOUR_MS } from '../../src/platform/durations.ts'
import { createLog } from '../../src/platform/log.ts'
import { createSupervisor } from '../../src/supervisor/index.ts'
import type { FromWorker, ToWorker } from '../../src/supervisor/protocol.ts'
import { createTestClock } from '../support/clock.ts'

interface Spawned {
  env: Record<string, string>
  ipc: (message: FromWorker) => void
}

/** A process that does only what the test says. */
function createChild({ env, ipc }: Spawned) {
  const exit = Promise.withResolvers<number>()
  const sent: ToWorker['is'][] = []
  let isConnected = true
  return {
    number: JSON.parse(env[WORKER_VARIABLE] ?? '').number as number,
    ...{ pid: 1, signalCode: null, exited: exit.promise, exit: exit.resolve, sent },
    say: ipc,
    kill: () => exit.resolve(137),
    disconnect: () => {
      isConnected = false
    },
    send(message: ToWorker) {
      if (!isConnected) throw new Error('ERR_IPC_CHANNEL_CLOSED')
      sent.push(message.is)
    },
  }
}

function createFixture(count: number) {
  const clock = createTestClock('2026-01-01T00:00:00Z')
  const children: ReturnType<typeof createChild>[] = []
  const lines: { message: string; reason?: string }[] = []
  const refused = new Map<number, string>()
  const spawn = spyOn(Bun, 'spawn').mockImplementation(((_: string[], options: Spawned) => {
    const child = createChild(options)
    const reason = refused.get(child.number)
    if (reason !== undefined) throw new Error(reason)
    children.push(child)
    return child
  }) as never)
  const write = (line: string) => void lines.push(JSON.parse(line))
  const plan = { count, port: 1, stopMs: 1000 }
  const supervisor = createSupervisor({
    log: createLog({ level: 'info', format: 'json', now: clock.now, write }),
    ...{ clock, plan, launch: { args: [], env: {}, cwd: '/', memoryFd: 0 } },
  })

  /** Starts all processes. */
  async function start() {
    const isUp = supervisor.start()
    for (let number = 1; number <= count; number++) {
      await clock.settled()
      children[number - 1]?.say({ is: 'ready' })
    }
    expect(await isUp).toBe(true)
    return children.slice() as [(typeof children)[0], ...typeof children]
  }

  return {
    ...{ supervisor, plan, clock, children, start },
    reasons: () =>
      lines.flatMap(({ message, reason }) => (reason ? [`${message}: ${reason}`] : [])),
    attempts: () => spawn.mock.calls.length,
    refuse: (number: number, reason: string) => void refused.set(number, reason),
    allow: () => refused.clear(),
    [Symbol.dispose]: () => spawn.mockRestore(),
  }
}

const REFUSED = 'process cannot be started: EAGAIN'

test('A process that cannot be restarted is tried again after growing delays, until it starts', async () => {
  using fixture = createFixture(1)
  const { clock, children, start, refuse, allow, attempts, reasons } = fixture
  const [first] = await start()
  refuse(1, 'EAGAIN')
  // It has run for long, so this is the first delay.
  using _ = spyOn(performance, 'now').mockReturnValue(performance.now() + HOUR_MS)
  first.exit(9)
  await clock.settled()
  const seen: number[] = []
  for (const ms of [99, 1, 199, 1, 399]) {
    await clock.advance(ms)
    seen.push(attempts() - 1)
  }
  expect(seen).toEqual([0, 1, 1, 2, 2])
  expect(reasons()).toEqual([REFUSED, REFUSED])
  allow()
  await clock.advance(1)
  expect(children.length).toBe(2)
  await clock.advance(100_000)
  expect(attempts()).toBe(4)
})

test('A process that cannot be restarted is not tried again once the server stops', async () => {
  using fixture = createFixture(1)
  const { supervisor, clock, start, refuse, attempts } = fixture
  const [first] = await start()
  refuse(1, 'EAGAIN')
  first.exit(9)
  await clock.settled()
  await clock.advance(100)
  expect(await supervisor.stop()).toBe(true)
  await clock.advance(100_000)
  expect([attempts(), clock.timers()]).toEqual([2, 0])
})

test.each([1, 2])('A server whose process %p cannot be started has not started', async (number) => {
  using fixture = createFixture(2)
  const { supervisor, clock, children, refuse, reasons } = fixture
  refuse(number, 'EAGAIN')
  const isUp = supervisor.start()
  await clock.settled()
  children[0]?.say({ is: 'ready' })
  expect(await isUp).toBe(false)
  expect(reasons()).toEqual([REFUSED])
})

test('A process goes on if its successor cannot be started at a reload', async () => {
  using fixture = createFixture(2)
  const { supervisor, plan, clock, children, start, refuse, allow, reasons } = fixture
  const [first, second] = await start()
  refuse(2, 'EAGAIN')
  const isReloaded = supervisor.reload(plan)
  await clock.settled()
  children[2]?.say({ is: 'ready' })
  await clock.settled()
  first.exit(0)
  expect(await isReloaded).toBe(false)
  expect(reasons()).toEqual([REFUSED])
  expect([first.sent, second?.sent]).toEqual([['stop'], []])
  // It still is the one that serves.
  allow()
  second?.exit(9)
  await clock.settled()
  await clock.advance(100)
  expect(children.map(({ number }) => number)).toEqual([1, 2, 1, 2])
})

test.each([1, 3])('A start of %p processes begins none once the server stops', async (count) => {
  using fixture = createFixture(count)
  const { supervisor, clock, children } = fixture
  const isUp = supervisor.start()
  const isClean = supervisor.stop()
  children[0]?.say({ is: 'ready' })
  await clock.settled()
  expect(children.length).toBe(1)
  children[0]?.exit(0)
  expect(await Promise.all([isUp, isClean])).toEqual([false, true])
})

test('A reload begins no process once the server stops', async () => {
  using fixture = createFixture(2)
  const { supervisor, plan, clock, children, start } = fixture
  await start()
  const isReloaded = supervisor.reload(plan)
  const isClean = supervisor.stop()
  children[2]?.say({ is: 'ready' })
  await clock.settled()
  for (const child of children) child.exit(0)
  expect(await Promise.all([isReloaded, isClean])).toEqual([false, true])
  expect(children.length).toBe(3)
})

test('A process that has disconnected and not ended yet keeps no message from the others', async () => {
  using fixture = createFixture(3)
  const { supervisor, clock, start } = fixture
  const [first, second, third] = await start()
  first.disconnect()
  second?.say({ is: 'told', topic: 'login', about: '' })
  second?.say({ is: 'scrape', id: 1, families: [] })
  third?.say({ is: 'families', families: [] })
  await clock.advance(1000)
  expect([second?.sent, third?.sent]).toEqual([['scraped'], ['told', 'collect']])
  supervisor.tellOfPair({} as never)
  const isClean = supervisor.stop()
  supervisor.kill()
  expect(third?.sent.slice(2)).toEqual(['pair', 'stop', 'end'])
  for (const child of [first, second, third]) child?.exit(0)
  expect(await isClean).toBe(true)
})
