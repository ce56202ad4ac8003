import { expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { startRawTarget } from '../clockwork/raw-target.ts'
import { useRelay } from './fixture.ts'

// When a connection is kept and used again is in tests/platform/outbound/reuse.test.ts.

const { app, newTenant } = await useRelay()

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const MESSAGES = 60

type Treat = (socket: Socket, nth: number) => void

/** A receiver that treats each request by its number on its connection. */
async function startReceiver(treat: Treat) {
  const counts = new WeakMap<Socket, number>()
  const target = await startRawTarget((socket) => {
    const nth = (counts.get(socket) ?? 0) + 1
    counts.set(socket, nth)
    treat(socket, nth)
  })
  const ids = () => target.requests.map((text) => /webhook-id: (\S+)/i.exec(text)?.[1] ?? '')
  return Object.assign(target, { ids })
}

const closesIdle =
  (ms: number): Treat =>
  (socket) => {
    socket.write(OK)
    setTimeout(() => socket.destroy(), ms)
  }

/** Every third request that finds an open connection is carried out, but not answered. */
const closesUnanswered = (): Treat => {
  let reused = 0
  return (socket, nth) => (nth > 1 && ++reused % 3 === 0 ? socket.destroy() : socket.write(OK))
}

/** The same in each run, as a linear congruential generator. */
const atRandom = (): Treat => {
  let seed = 7
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * 5)
  }
  return (socket, nth) => {
    const kind = next()
    if (kind === 0 && nth > 1) return socket.resetAndDestroy()
    if (kind === 1) return socket.end(OK)
    socket.write(OK)
    if (kind === 2) setTimeout(() => socket.destroy(), 1)
    if (kind === 3) setImmediate(() => socket.write('surplus'))
  }
}

/** With the least number of requests that are sent again. */
const receivers: [title: string, treat: Treat, lostAtLeast: number][] = [
  ['after 10 ms', closesIdle(10), 0],
  ['after each answer', (socket) => socket.end(OK), 0],
  ['in the middle of each answer', (socket) => socket.end(OK.slice(0, -1)), 0],
  ['instead of an answer', closesUnanswered(), 1],
  ['at random', atRandom(), 1],
]
test.each(receivers)(
  'A receiver that closes connections %s gets every message with the first attempt',
  async (_, treat, lostAtLeast) => {
    const relay = await newTenant()
    await using receiver = await startReceiver(treat)
    const before = app.platform.outbound.connections().lost
    await relay.createEndpoint(receiver.url)
    const sent: string[] = []
    const pace = [0, 4, 9, 11]
    while (sent.length < MESSAGES) {
      const several = await relay.sendMany(4)
      sent.push(...several.map(({ id }) => id))
      await Bun.sleep(pace[(sent.length / 4) % pace.length] ?? 0)
    }
    await relay.rest()
    const deliveries = await relay.listDeliveries()
    expect(new Set(deliveries.map(({ attempts }) => attempts))).toEqual(new Set([1]))
    expect([...new Set(receiver.ids())].sort()).toEqual(sent.sort())
    const lost = app.platform.outbound.connections().lost - before
    expect(lost).toBeGreaterThanOrEqual(lostAtLeast)
    expect(receiver.ids().length - MESSAGES).toBeLessThanOrEqual(lost)
  },
)
