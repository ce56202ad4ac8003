import { describe, expect, test } from 'bun:test'
import {
  type Cost,
  createHashQueue,
} from '../../../../../src/engines/gate/credentials/passwords/hash-queue.ts'

type Sizes = Parameters<typeof createHashQueue>[0]

/** A queue for work that ends when it is told to, and a record of what was begun. */
function createFixture({ isOneTenant = false, ...sizes }: Sizes & { isOneTenant?: boolean }) {
  const queue = createHashQueue(sizes)
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()

  /** A name is its tenant and a number, as in `acme 1`, unless all are of one tenant. */
  function ask(name: string, { client, cost = 'ordinary' }: { client?: string; cost?: Cost } = {}) {
    const tenantId = isOneTenant ? 'acme' : (name.split(' ')[0] ?? '')
    return queue.run({ tenantId, client }, cost, () => {
      begun.push(name)
      const end = Promise.withResolvers<string>()
      ends.set(name, end)
      return end.promise
    })
  }

  /** At once: what waits is not refused. */
  async function refused(...of: Parameters<typeof ask>) {
    const refusal = ask(...of).catch(({ kind }: { kind: string }) => kind)
    expect(await Promise.race([refusal, settle()])).toBe('unavailable')
  }

  async function finish(name: string) {
    await settle()
    const end = ends.get(name)
    if (!end) throw new Error(`${name} was not begun: ${begun.join(', ')}`)
    end.resolve(name)
    await settle()
  }

  async function fail(name: string) {
    await settle()
    ends.get(name)?.reject(new Error(`${name} failed`))
    await settle()
  }

  /** In the order in which they were begun, until all are done. */
  async function finishAll() {
    await settle()
    for (let n = 0; n < begun.length; n++) await finish(begun[n] as string)
  }

  return { queue, begun, ask, refused, finish, fail, finishAll }
}

/** Lets everything happen that is due in this turn of the event loop. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('of one tenant', () => {
  test('no more jobs are at work than there are workers, in the order of coming, also where one comes as a worker is free', async () => {
    const { begun, ask, finish, finishAll } = createFixture({ workers: 2, capacity: 10 })
    const all = ['a 1', 'a 2', 'a 3'].map((name) => ask(name))
    await settle()
    expect(begun).toEqual(['a 1', 'a 2'])

    const finished = finish('a 2')
    all.push(ask('a 4'))
    await finished
    expect(begun).toEqual(['a 1', 'a 2', 'a 3'])
    await finishAll()
    expect(await Promise.all(all)).toEqual(['a 1', 'a 2', 'a 3', 'a 4'])
  })

  test('jobs beyond its capacity are refused and never begun, and take no place', async () => {
    const { queue, begun, ask, refused, finish, finishAll } = createFixture({
      workers: 1,
      capacity: 1,
    })
    const all = [ask('a 1'), ask('a 2')]
    await refused('a 3')
    await refused('a 4')
    await finish('a 1')
    all.push(ask('a 5'))

    await finishAll()
    await Promise.all(all)
    expect(begun).toEqual(['a 1', 'a 2', 'a 5'])
    expect(queue.tenants()).toBe(0)
  })

  test('a job that fails, later or on the spot, leaves its worker to the next', async () => {
    const { queue, ask, fail, finish } = createFixture({ workers: 1, capacity: 10 })
    const failing = ask('a 1')
    const throwing = queue.run({ tenantId: 'a' }, 'ordinary', () => {
      throw new Error('on the spot')
    })
    const outcomes = Promise.allSettled([failing, throwing])
    const last = ask('a 2')
    await fail('a 1')

    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await finish('a 2')
    expect(await last).toBe('a 2')
  })

  test('clients take turns, whatever each of them has waiting; a server that asks for many is each time another', async () => {
    const { begun, ask, finishAll } = createFixture({ isOneTenant: true, workers: 1, capacity: 10 })
    const [x, y] = [{ client: '192.0.2.1' }, { client: '192.0.2.2' }]
    const all = [ask('x 1', x), ask('x 2', x), ask('x 3', x), ask('x 4', x)]
    all.push(ask('y 1', y), ask('y 2', y), ask('server 1'), ask('server 2'))

    await finishAll()

    await Promise.all(all)
    expect(begun).toEqual(['x 1', 'x 2', 'y 1', 'server 1', 'server 2', 'x 3', 'y 2', 'x 4'])
  })

  test('a client that has waited is served before others that come again and again', async () => {
    const { begun, ask, finish } = createFixture({ isOneTenant: true, workers: 1, capacity: 10 })
    const x = { client: '192.0.2.1' }
    for (const name of ['x 1', 'x 2', 'x 3']) void ask(name, x)
    await finish('x 1')
    void ask('y 1', { client: '192.0.2.2' })
    await finish('x 2')
    expect(begun).toEqual(['x 1', 'x 2', 'x 3'])
  })

  test('one client alone has all capacity, and loses the last to one that has fewer', async () => {
    const { begun, ask, refused, finishAll } = createFixture({
      isOneTenant: true,
      workers: 1,
      capacity: 3,
    })
    const [x, y] = [{ client: '192.0.2.1' }, { client: '192.0.2.2' }]
    const all = ['x 1', 'x 2', 'x 3'].map((name) => ask(name, x))
    const last = ask('x 4', x).catch(({ kind }: { kind: string }) => kind)
    await refused('x 5', x)
    all.push(ask('y 1', y))
    expect(await Promise.race([last, settle()])).toBe('unavailable')
    await refused('y 2', y)

    await finishAll()
    await Promise.all(all)
    expect(begun).toEqual(['x 1', 'x 2', 'y 1', 'x 3'])
  })
})

describe('of several tenants', () => {
  test('each has its own capacity, and the next worker that is free before the one that fills its own', async () => {
    const { begun, ask, refused, finish } = createFixture({ workers: 2, capacity: 2 })
    for (const n of [1, 2, 3, 4]) void ask(`a ${n}`)
    await refused('a 5')
    void ask('b 1')
    void ask('b 2')
    await finish('a 1')
    expect(begun).toEqual(['a 1', 'a 2', 'b 1'])
    await finish('a 2')
    await finish('b 1')
    expect(begun.slice(3).toSorted()).toEqual(['a 3', 'b 2'])
  })

  test('they take turns, whatever each of them has waiting', async () => {
    const { begun, ask, finishAll } = createFixture({ workers: 1, capacity: 10 })
    const names = ['a 1', 'a 2', 'a 3', 'a 4', 'b 1', 'b 2', 'c 1']
    const all = names.map((name) => ask(name))

    await finishAll()

    await Promise.all(all)
    expect(begun).toEqual(['a 1', 'b 1', 'c 1', 'a 2', 'b 2', 'a 3', 'a 4'])
  })

  test('the tenant with the fewest running jobs is first, even if others came before', async () => {
    const { begun, ask, finish } = createFixture({ workers: 2, capacity: 10 })
    for (const name of ['a 1', 'a 2', 'b 1', 'b 2', 'c 1']) void ask(name)
    await finish('a 1')
    expect(begun).toEqual(['a 1', 'a 2', 'b 1'])
    await finish('a 2')
    expect(begun).toEqual(['a 1', 'a 2', 'b 1', 'c 1'])
  })

  test('one whose costly job takes long has its turn with the other worker, which another tenant floods', async () => {
    const { begun, ask, finish } = createFixture({ workers: 2, capacity: 10 })
    void ask('a 1', { cost: 'costly' })
    for (const name of ['b 1', 'b 2', 'b 3', 'a 2', 'b 4']) void ask(name)
    await finish('b 1')
    expect(begun).toEqual(['a 1', 'b 1', 'a 2'])
  })

  test('one whose jobs may not begin yet holds up no other', async () => {
    const { begun, ask, finish } = createFixture({ workers: 2, capacity: 10 })
    void ask('a 1', { cost: 'costly' })
    void ask('b 1', { cost: 'costly' })
    void ask('c 1')
    void ask('c 2')
    await finish('c 1')
    expect(begun).toEqual(['a 1', 'c 1', 'c 2'])
  })

  test('one that waits is served before tenants that come again and again', async () => {
    const { begun, ask, finish } = createFixture({ workers: 1, capacity: 10 })
    void ask('a 1')
    void ask('b 1')
    void ask('c 1')
    await finish('a 1')
    void ask('a 2')
    await finish('b 1')
    void ask('b 2')

    expect(begun).toEqual(['a 1', 'b 1', 'c 1'])
  })

  test('all queues together are bounded: the longest loses what came last, and the newcomer has a place', async () => {
    const { queue, ask, refused } = createFixture({ workers: 1, capacity: 2 })
    void ask('busy 1')
    const waiting = Array.from({ length: 20 }, (_, n) => [ask(`t${n} 1`), ask(`t${n} 2`)]).flat()
    const results = waiting.map((job) => job.catch(({ kind }: { kind: string }) => kind))
    const newcomers = Array.from({ length: 20 }, (_, n) => ask(`new${n} 1`).catch(() => 'refused'))
    const one = Promise.race([...newcomers, settle().then(() => 'waiting')])

    expect(await one).toBe('waiting')
    expect(queue.tenants()).toBe(41)
    const seconds = results.filter((_, n) => n % 2 === 1)
    expect(await Promise.race([Promise.all(seconds), settle()])).toEqual(
      Array(20).fill('unavailable'),
    )
    // All have one now: who comes next is the longest.
    await refused('t0 3')
  })

  test('one leaves a worker to costly jobs of others, where there are more than two', async () => {
    const { begun, ask, finishAll } = createFixture({ workers: 3, capacity: 10 })
    const names = ['a 1', 'a 2', 'b 1', 'c 1']
    const all = names.map((name) => ask(name, { cost: 'costly' }))
    await settle()
    expect(begun).toEqual(['a 1', 'b 1'])
    await finishAll()
    await Promise.all(all)
  })

  test('heavy jobs are worked on one at a time, beside costly ones', async () => {
    const { begun, ask, finish } = createFixture({ workers: 4, capacity: 10 })
    void ask('a 1', { cost: 'heavy' })
    void ask('b 1', { cost: 'heavy' })
    void ask('c 1', { cost: 'costly' })
    await settle()
    expect(begun).toEqual(['a 1', 'c 1'])
    await finish('a 1')
    expect(begun).toEqual(['a 1', 'c 1', 'b 1'])
  })
})

/** How long each takes; an ordinary one is the measure. */
const MS: Record<Cost, number> = { ordinary: 100, costly: 1000, heavy: 4000 }

/**
 * Time goes by from the end of one job to that of the next. A tenant attacks with as much of every
 * cost as it may have, and asks again for whatever it gets; people of one that has just moved in sign
 * in, one after the other. Resolves with the milliseconds that each sign-in of another tenant takes.
 */
async function attacked(workers: number, signIns: number): Promise<number[]> {
  const { run } = createHashQueue({ workers, capacity: 50 })
  const ends: { at: number; end: () => void }[] = []
  let now = 0

  const lasts = (ms: number) => () =>
    new Promise<void>((end) => void ends.push({ at: now + ms, end }))

  function keepAsking(tenantId: string, cost: Cost) {
    void run({ tenantId }, cost, lasts(MS[cost])).then(
      () => keepAsking(tenantId, cost),
      () => {},
    )
  }

  /** Until the first of what is under way has ended, or until `until`. */
  async function pass(until: number) {
    await settle()
    const [first] = ends.sort((a, b) => a.at - b.at)
    now = Math.min(until, first?.at ?? until)
    while (ends[0] && ends[0].at <= now) ends.shift()?.end()
    await settle()
  }

  keepAsking('moving in', 'costly')
  for (let n = 0; n < 60; n++)
    for (const cost of ['heavy', 'costly', 'ordinary'] as const) keepAsking('attacker', cost)
  const took: number[] = []
  for (let n = 0; n < signIns; n++) {
    for (const until = now + 37 * (n % 7) + 1; now < until; ) await pass(until)
    const askedAt = now
    let isDone = false
    const victim = run({ tenantId: 'other' }, 'ordinary', lasts(MS.ordinary))
    void victim.then(() => {
      isDone = true
    })
    while (!isDone) await pass(Number.POSITIVE_INFINITY)
    took.push(now - askedAt)
  }
  return took
}

test.each([2, 3, 8])(
  'with %i workers, a tenant under attack by another signs in within twice the time of one hash, whatever the attacker has checked',
  async (workers) => {
    const took = await attacked(workers, 60)

    expect(Math.max(...took)).toBeLessThanOrEqual(2 * MS.ordinary)
    expect(took).toHaveLength(60)
  },
)
