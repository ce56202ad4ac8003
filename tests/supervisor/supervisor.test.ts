import { expect, spyOn, test } from 'bun:test'
import { WORKER_VARIABLE } from '../../src/config/environment.ts'
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
  const spawn = spyOn(Bun, 'spawn').mockImplementation(((_: string[], options: Spawned) => {
    const child = createChild(options)
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
    [Symbol.dispose]: () => spawn.mockRestore(),
  }
}

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
