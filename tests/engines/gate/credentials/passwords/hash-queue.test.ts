import { describe, expect, test } from 'bun:test'
import {
  type Cost,
  createHashQueue,
} from '../../../../../src/engines/gate/credentials/passwords/hash-queue.ts'

/** Lets everything happen that is due in this turn of the event loop. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

/**
 * A queue whose jobs end when told to, and a record of what was begun. A name is its tenant and a
 * number, as in `a 1`; `client` is within that tenant.
 */
function createFixture(workers: number, capacity = 10) {
  const queue = createHashQueue({ workers, capacity })
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()

  function ask(name: string, { client, cost = 'ordinary' }: { client?: string; cost?: Cost } = {}) {
    const tenantId = name.split(' ')[0] as string
    const job = queue.run({ tenantId, client }, cost, () => {
      begun.push(name)
      const end = Promise.withResolvers<string>()
      ends.set(name, end)
      return end.promise
    })
    return job.catch(({ kind, message }) => kind ?? message)
  }

  /** Immediately: a job that waits is not refused. */
  async function refused(...of: Parameters<typeof ask>) {
    expect(await Promise.race([ask(...of), settle()])).toBe('unavailable')
  }

  async function end(name: string, error?: Error) {
    await settle()
    const job = ends.get(name)
    if (!job) throw new Error(`${name} was not begun: ${begun.join(', ')}`)
    if (error) job.reject(error)
    else job.resolve(name)
    await settle()
  }

  /** In the order in which they were begun, until all are done. */
  async function endAll() {
    await settle()
    for (let n = 0; n < begun.length; n++) await end(begun[n] as string)
    return begun
  }

  return { queue, begun, ask, refused, end, endAll }
}

describe('Within a tenant', () => {
  test('jobs run in order of arrival, as many at once as there are workers', async () => {
    const { begun, ask, end, endAll } = createFixture(2)
    const all = ['a 1', 'a 2', 'a 3'].map((name) => ask(name))
    await settle()
    expect(begun).toEqual(['a 1', 'a 2'])
    const ended = end('a 2')
    all.push(ask('a 4'))
    await ended
    expect(begun).toEqual(['a 1', 'a 2', 'a 3'])
    await endAll()
    expect(await Promise.all(all)).toEqual(['a 1', 'a 2', 'a 3', 'a 4'])
  })

  test('jobs beyond the capacity are refused, and never begun', async () => {
    const { queue, ask, refused, end, endAll } = createFixture(1, 1)
    void ask('a 1')
    void ask('a 2')
    await refused('a 3')
    await end('a 1')
    void ask('a 4')
    expect(await endAll()).toEqual(['a 1', 'a 2', 'a 4'])
    expect(queue.tenants()).toBe(0)
  })

  test('a job that fails, later or immediately, frees its worker', async () => {
    const { queue, ask, end } = createFixture(1)
    const failing = ask('a 1')
    const throwing = queue
      .run({ tenantId: 'a' }, 'ordinary', () => {
        throw new Error('immediately')
      })
      .catch(({ message }) => message)
    const last = ask('a 2')
    await end('a 1', new Error('later'))
    expect([await failing, await throwing]).toEqual(['later', 'immediately'])
    await end('a 2')
    expect(await last).toBe('a 2')
  })

  test('clients take turns; each request of a server counts as a client', async () => {
    const { ask, endAll } = createFixture(1)
    for (const n of [1, 2, 3, 4]) void ask(`a x${n}`, { client: 'x' })
    for (const n of [1, 2]) void ask(`a y${n}`, { client: 'y' })
    for (const n of [1, 2]) void ask(`a server${n}`)
    expect((await endAll()).map((name) => name.slice(2))).toEqual([
      ...['x1', 'x2', 'y1', 'server1', 'server2', 'x3', 'y2', 'x4'],
    ])
  })

  test('a client that has waited is served before one that comes later', async () => {
    const { begun, ask, end } = createFixture(1)
    for (const n of [1, 2, 3]) void ask(`a x${n}`, { client: 'x' })
    await end('a x1')
    void ask('a y1', { client: 'y' })
    await end('a x2')
    expect(begun).toEqual(['a x1', 'a x2', 'a x3'])
  })

  test('one client may use all capacity, and loses its last job to a client with fewer', async () => {
    const { ask, refused, endAll } = createFixture(1, 3)
    const [x, y] = [{ client: 'x' }, { client: 'y' }]
    for (const n of [1, 2, 3]) void ask(`a x${n}`, x)
    const last = ask('a x4', x)
    await refused('a x5', x)
    void ask('a y1', y)
    expect(await Promise.race([last, settle()])).toBe('unavailable')
    await refused('a y2', y)
    expect(await endAll()).toEqual(['a x1', 'a x2', 'a y1', 'a x3'])
  })
})

describe('Among tenants', () => {
  test('each has its own capacity, and the next free worker', async () => {
    const { begun, ask, refused, end } = createFixture(2, 2)
    for (const n of [1, 2, 3, 4]) void ask(`a ${n}`)
    await refused('a 5')
    void ask('b 1')
    void ask('b 2')
    await end('a 1')
    expect(begun).toEqual(['a 1', 'a 2', 'b 1'])
    await end('a 2')
    await end('b 1')
    expect(begun.slice(3).toSorted()).toEqual(['a 3', 'b 2'])
  })

  test('they take turns', async () => {
    const { ask, endAll } = createFixture(1)
    for (const name of ['a 1', 'a 2', 'a 3', 'a 4', 'b 1', 'b 2', 'c 1']) void ask(name)
    expect(await endAll()).toEqual(['a 1', 'b 1', 'c 1', 'a 2', 'b 2', 'a 3', 'a 4'])
  })

  test.each([
    ['the fewest running jobs are first', 'a 1,a 2,b 1,b 2,c 1', '', 'a 1,a 2', 'a 1,a 2,b 1,c 1'],
    ['a long job costs no turn', 'a 1,b 1,b 2,b 3,a 2,b 4', 'a 1', 'b 1', 'a 1,b 1,a 2'],
    ['a job that must wait delays no other', 'a 1,b 1,c 1,c 2', 'a 1,b 1', 'c 1', 'a 1,c 1,c 2'],
  ])('with two workers, %s', async (_, names, costly, ends, expected) => {
    const { begun, ask, end } = createFixture(2)
    for (const name of names.split(','))
      void ask(name, { cost: costly.includes(name) ? 'costly' : 'ordinary' })
    for (const name of ends.split(',')) await end(name)
    expect(begun.join()).toBe(expected)
  })

  test('one that waits is served before tenants that come again and again', async () => {
    const { begun, ask, end } = createFixture(1)
    for (const name of ['a 1', 'b 1', 'c 1']) void ask(name)
    await end('a 1')
    void ask('a 2')
    await end('b 1')
    void ask('b 2')
    expect(begun).toEqual(['a 1', 'b 1', 'c 1'])
  })

  test('the total is bounded: the longest queues lose their last jobs to newcomers', async () => {
    const { queue, ask, refused } = createFixture(1, 2)
    void ask('busy 1')
    const numbers = Array.from({ length: 20 }, (_, n) => n)
    const seconds = numbers.map((n) => {
      void ask(`t${n} 1`)
      return ask(`t${n} 2`)
    })
    const newcomers = numbers.map((n) => ask(`new${n} 1`))
    const waiting = settle().then(() => 'waiting')
    expect(await Promise.race([...newcomers, waiting])).toBe('waiting')
    expect(queue.tenants()).toBe(41)
    expect(await Promise.all(seconds)).toEqual(Array(20).fill('unavailable'))
    await refused('t0 3')
  })

  test('a tenant leaves a worker to costly jobs of others; heavy jobs run one at a time', async () => {
    const three = createFixture(3)
    for (const name of ['a 1', 'a 2', 'b 1', 'c 1']) void three.ask(name, { cost: 'costly' })
    await settle()
    expect(three.begun).toEqual(['a 1', 'b 1'])

    const { begun, ask, end } = createFixture(4)
    void ask('a 1', { cost: 'heavy' })
    void ask('b 1', { cost: 'heavy' })
    void ask('c 1', { cost: 'costly' })
    await settle()
    expect(begun).toEqual(['a 1', 'c 1'])
    await end('a 1')
    expect(begun).toEqual(['a 1', 'c 1', 'b 1'])
  })
})

/** How long each takes; an ordinary one is the measure. */
const MS: Record<Cost, number> = { ordinary: 100, costly: 1000, heavy: 4000 }

/**
 * Simulates an attacker that keeps asking for all it can get, beside a tenant that imports users.
 * Resolves with the milliseconds that sign-ins of another tenant take.
 */
async function attacked(workers: number): Promise<number[]> {
  const { run } = createHashQueue({ workers, capacity: 50 })
  const ends: { at: number; end: () => void }[] = []
  let now = 0
  const lasts = (cost: Cost) => () =>
    new Promise<void>((end) => void ends.push({ at: now + MS[cost], end }))

  function keepAsking(tenantId: string, cost: Cost) {
    void run({ tenantId }, cost, lasts(cost)).then(
      () => keepAsking(tenantId, cost),
      () => {},
    )
  }

  /** Turns the time to the end of the next job, or to `until`. */
  async function pass(until: number) {
    await settle()
    const [first] = ends.sort((a, b) => a.at - b.at)
    now = Math.min(until, first?.at ?? until)
    while (ends[0] && ends[0].at <= now) ends.shift()?.end()
    await settle()
  }

  keepAsking('importing', 'costly')
  for (let n = 0; n < 60; n++)
    for (const cost of ['heavy', 'costly', 'ordinary'] as const) keepAsking('attacker', cost)
  const took: number[] = []
  for (let n = 0; n < 60; n++) {
    for (const until = now + 37 * (n % 7) + 1; now < until; ) await pass(until)
    const askedAt = now
    let isDone = false
    void run({ tenantId: 'other' }, 'ordinary', lasts('ordinary')).then(() => {
      isDone = true
    })
    while (!isDone) await pass(Number.POSITIVE_INFINITY)
    took.push(now - askedAt)
  }
  return took
}

test.each([2, 8])(
  'With %i workers, a sign-in during an attack on another tenant takes two hashes at most',
  async (workers) => {
    expect(Math.max(...(await attacked(workers)))).toBeLessThanOrEqual(2 * MS.ordinary)
  },
)
