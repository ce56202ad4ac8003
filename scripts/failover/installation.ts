import { join } from 'node:path'
import type { Server } from './server.ts'
import type { Target } from './target.ts'
import { waitFor } from './wait.ts'

/** Each takes up to 60 pings a minute, and keeps 100. */
const MONITORS = 200
const CRON_JOBS = 20

export type Installation = Awaited<ReturnType<typeof createObjects>>
export type ApiKeys = Awaited<ReturnType<typeof createKeys>>

/** A tenant with keys, in the data directory of a server that has not started yet. */
export async function createKeys(server: Server, folder: string) {
  const { private_key } = await asked<{ private_key: string }>('backup', 'keygen')
  await Bun.write(join(folder, 'pair.key'), `${private_key}\n`, { mode: 0o600 })
  const { id: tenant } = await asked(
    'tenant',
    'create',
    '--name',
    'Failover',
    '--plan',
    'unlimited',
  )
  await asked('bot', 'enable', '--tenant', tenant, '--env', 'test')
  return {
    relay: await keyOf('relay'),
    clockwork: await keyOf('clockwork'),
    gate: await keyOf('gate'),
    passepartout: await keyOf('passepartout', '--env', 'test'),
  }

  async function keyOf(engine: string, ...more: string[]): Promise<string> {
    const args = ['key', 'create', '--tenant', tenant, '--engine', engine, ...more]
    return (await asked<{ key: string }>(...args)).key
  }

  async function asked<Answer = { id: string }>(...args: string[]): Promise<Answer> {
    return JSON.parse(await server.commandAlone(...args, '--json'))
  }
}

/** What the clients work with, made on the first active server. */
export async function createObjects(
  server: Server,
  { keys, target, patienceMs }: { keys: ApiKeys; target: Target; patienceMs: number },
) {
  const issue = (subject: string) =>
    post<{ access_token: string }>('/v1/gate/tokens', '', {
      ...{ api_key: keys.gate, subject, ttl_seconds: 86_400 },
    })
  // A large database has to be uploaded first.
  await waitFor('writes are confirmed', patienceMs, () => succeeds(issue('rig')))
  await post('/v1/relay/endpoints', keys.relay, { url: target.hook })
  const { id: subject } = await post<{ id: string }>('/v1/gate/identities', keys.gate, {
    schema_id: 'user',
    traits: { email: 'ada@example.com' },
  })
  const { access_token: token } = await issue(subject)
  const cronJobs = await repeat(CRON_JOBS, async (n) => {
    const job = { name: `cron-${n}`, schedule: '* * * * *', url: target.jobUrl(`cron-${n}`) }
    return (await post<{ id: string }>('/v1/clockwork/jobs', keys.clockwork, job)).id
  })
  const monitors = await repeat(MONITORS, async (n) => {
    const monitor = { name: `monitor-${n}`, period_seconds: 86_400 }
    const made = await post<Monitor>('/v1/clockwork/monitors', keys.clockwork, monitor)
    return { id: made.id, path: new URL(made.ping_url).pathname }
  })
  return { keys, subject, token, cronJobs, monitors }

  async function post<Answer>(path: string, key: string, body: object): Promise<Answer> {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key !== '' && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Answer
  }
}

interface Monitor {
  id: string
  ping_url: string
}

const repeat = <T>(times: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, n) => work(n)))

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )
