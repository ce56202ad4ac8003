import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { MESSAGES, message } from './support/api.ts'
import { clientOf } from './support/client.ts'
import { type Member, openPair, type Secret, TTL_MS } from './support/pair.ts'

/** An active server, a standby that could take over, and a client of a tenant. */
async function setUp(stack: AsyncDisposableStack, secret: Secret = 'key file') {
  const pair = await openPair(stack, secret)
  const [one, two] = [pair.member('one'), pair.member('two')]
  two.start('--standby')
  await two.becomes('standby')
  one.start()
  await one.becomes('ready')
  const { id } = (await one.run('tenant', 'create', '--name', 'Acme', '--json')).json()
  const made = await one.run('key', 'create', '--engine', 'relay', '--tenant', id, '--json')
  await two.isReady()
  return { ...pair, one, two, client: clientOf(made.json().key) }
}

interface Acknowledged {
  id: string
  by: string
  sentAt: number
  answeredAt: number
}

/** Clients that send events to whichever server serves, until they are stopped. */
function startLoad(members: Member[], client: ReturnType<typeof clientOf>, clients = 3) {
  const acknowledged: Acknowledged[] = []
  let isOver = false
  let sent = 0
  async function run(first: number) {
    for (let turn = first; !isOver; turn++) {
      const member = members[turn % members.length] as Member
      // At a pace that leaves the machine to other tests.
      while (!isOver && (await sendTo(member))) await Bun.sleep(20)
      await Bun.sleep(10)
    }
  }
  /** Whether it was acknowledged within a second. Later acknowledgements count, too. */
  async function sendTo(member: Member): Promise<boolean> {
    const sentAt = performance.now()
    const answered = client.ask(member, 'POST', MESSAGES, message(sent++)).then(
      ({ status, body }) => {
        if (status === 202)
          acknowledged.push({ id: body.id, by: member.name, sentAt, answeredAt: performance.now() })
        return status === 202
      },
      () => false,
    )
    return Promise.race([answered, Bun.sleep(1000).then(() => false)])
  }
  const runs = Array.from({ length: clients }, (_, n) => run(n))
  return {
    acknowledged,
    by: (name: string) => acknowledged.filter(({ by }) => by === name),
    async stop() {
      isOver = true
      await Promise.all(runs)
    },
  }
}

/** The events that a server has. */
async function stored(member: Member, client: ReturnType<typeof clientOf>) {
  return new Set((await client.walk(member, MESSAGES)).map(({ id }) => id))
}

/** Fails if a server acknowledged what was sent after another one had begun to. */
function expectOneAtATime(acknowledged: Acknowledged[], before: string, after: string) {
  const takenOverAt = Math.min(
    ...acknowledged.filter(({ by }) => by === after).map(({ answeredAt }) => answeredAt),
  )
  const late = acknowledged.filter(({ by, sentAt }) => by === before && sentAt > takenOverAt)
  expect(takenOverAt).toBeLessThan(Number.POSITIVE_INFINITY)
  expect(late).toEqual([])
}

test('A standby takes over from a server that is lost with its disk, with all that was acknowledged', async () => {
  await using stack = new AsyncDisposableStack()
  const { one, two, client } = await setUp(stack, 'passphrase')
  const load = startLoad([one, two], client)
  await until(() => load.acknowledged.length > 30)
  await one.kill()
  one.loseDisk()
  const killedAt = performance.now()
  await two.becomes('ready')
  expect(performance.now() - killedAt).toBeLessThan(15_000)
  await until(() => load.by('two').length > 30)
  await load.stop()
  const found = await stored(two, client)
  expect(load.acknowledged.filter(({ id }) => !found.has(id))).toEqual([])
  // The lost server comes back with an empty disk, and could take over again.
  one.start()
  await one.isReady()
  expect(await one.readiness()).toBe('standby')
  const { active, standbys } = (await two.run('replication', 'status', '--json')).json()
  expect([active.name, active.generation, active.cause, active.from]).toEqual([
    'two',
    2,
    'expiry',
    'one',
  ])
  expect(standbys).toMatchObject([{ name: 'one', ready: true, set_aside: [] }])
  for (const member of [one, two]) {
    const { ok, findings } = (await member.run('doctor', '--json')).json()
    const wrong = findings.filter(({ result }: { result: string }) => result === 'problem')
    expect([member.name, ok, wrong]).toEqual([member.name, true, []])
  }
}, 90_000)

test('A server hands over by command and when it is ended, and loses nothing', async () => {
  await using stack = new AsyncDisposableStack()
  const { one, two, client } = await setUp(stack)
  const load = startLoad([one, two], client)
  await until(() => load.acknowledged.length > 30)
  const handed = await two.run('replication', 'promote', '--json')
  expect(handed.json()).toMatchObject({ active: 'two', from: 'one', generation: 2 })
  await until(() => load.by('two').length > 30)
  await one.isReady()
  const health = await Promise.all([one, two].map((member) => member.run('healthcheck')))
  expect(health.map(({ code, out }) => [code, out])).toEqual([
    [0, `standby: ${one.url}/readyz\n`],
    [0, `ready: ${two.url}/readyz\n`],
  ])
  await two.terminate()
  await one.becomes('ready')
  const ones = load.by('one').length
  await until(() => load.by('one').length > ones)
  await load.stop()
  const found = await stored(one, client)
  expect(load.acknowledged.filter(({ id }) => !found.has(id))).toEqual([])
  expect(existsSync(join(one.dataDir, 'set-aside'))).toBe(false)
  const refused = await one.run('replication', 'step-down', '--to', 'three')
  expect([refused.code, refused.err]).toEqual([1, 'there is no standby three\n'])
}, 90_000)

test('A server that cannot reach the bucket stops before another one takes over, and sets its database aside', async () => {
  await using stack = new AsyncDisposableStack()
  const { s3, one, two, client } = await setUp(stack)
  const load = startLoad([one, two], client)
  await until(() => load.acknowledged.length > 30)
  s3.intercept = (_, { client: name }) =>
    name === 'one' ? new Response('', { status: 403 }) : undefined
  await one.becomes('not active')
  expect(await two.readiness()).toBe('standby')
  await two.becomes('ready')
  await until(() => load.by('two').length > 30)
  s3.intercept = () => undefined
  await one.isReady()
  await load.stop()
  const found = await stored(two, client)
  expect(load.acknowledged.filter(({ id }) => !found.has(id))).toEqual([])
  expectOneAtATime(load.acknowledged, 'one', 'two')
  expect(readdirSync(join(one.dataDir, 'set-aside'))).toEqual([
    expect.stringMatching(/generation-1$/),
  ])
}, 90_000)

test('A server that cannot reach the bucket for a while goes on, if no other one could take over', async () => {
  await using stack = new AsyncDisposableStack()
  const { s3, one, two, client } = await setUp(stack)
  s3.intercept = () => new Response('', { status: 403 })
  await one.becomes('not active')
  await Bun.sleep(TTL_MS)
  s3.intercept = (_, { client: name }) =>
    name === 'two' ? new Response('', { status: 403 }) : undefined
  await one.becomes('ready')
  expect((await client.ask(one, 'POST', MESSAGES, message(1))).status).toBe(202)
  expect(await two.readiness()).toBe('standby')
}, 90_000)

test('A server that was stopped while another one took over acknowledges nothing when it goes on', async () => {
  await using stack = new AsyncDisposableStack()
  const { one, two, client } = await setUp(stack)
  const target = stack.use(startTarget())
  await client.make(one, 'POST', '/v1/relay/endpoints', { url: target.url })
  const load = startLoad([one, two], client)
  await until(() => load.acknowledged.length > 30)
  one.signal('SIGSTOP')
  await two.becomes('ready')
  await until(() => load.by('two').length > 30)
  one.signal('SIGCONT')
  await one.isReady()
  await load.stop()
  const found = await stored(two, client)
  expect(load.acknowledged.filter(({ id }) => !found.has(id))).toEqual([])
  expectOneAtATime(load.acknowledged, 'one', 'two')
  const delivered = () => new Set(target.requests.map(({ headers }) => headers.get('webhook-id')))
  await until(() => load.acknowledged.every(({ id }) => delivered().has(id)))
}, 90_000)
