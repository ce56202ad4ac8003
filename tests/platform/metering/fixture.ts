import { dirname } from 'node:path'
import { openDatabase } from '../../../src/db/open.ts'
import { createAudit } from '../../../src/platform/audit/index.ts'
import { type KeyCaller, keyActor } from '../../../src/platform/caller.ts'
import type { Engine, Environment } from '../../../src/platform/engines.ts'
import { createMetering } from '../../../src/platform/metering/index.ts'
import { createMetrics } from '../../../src/platform/metrics/index.ts'
import type { Plan } from '../../../src/platform/tenants.ts'
import { type Answer, bootTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { testConfig } from '../../support/config.ts'

export const ACTOR = { kind: 'cli', source: 'test' } as const

/** The moment at which these fixtures begin, and the first one of the month after it. */
export const START = '2026-03-31T23:00:00.000Z'
export const NEXT_MONTH = Date.parse('2026-04-01T00:00:00.000Z')

type Client = ReturnType<TestApp['client']>

/** The application, and a tenant on a plan with a key for each engine. */
export async function bootMetered(plan: Plan, flags: Record<string, string> = {}) {
  const opened = new DisposableStack()
  const options: TestAppOptions = { start: START, flags }
  const app = await bootTestApp(options)
  const acme = await app.tenant('Acme', plan)
  const owner = { tenantId: acme.id, environment: 'test' } as const
  await app.passepartout.bots.enable(ACTOR, owner)

  async function as(engine: Engine, environment?: Environment): Promise<Client & { key: string }> {
    const { key } = await acme.key(engine, environment)
    return { ...app.client(key), key }
  }
  const clients = {
    gate: await as('gate'),
    clockwork: await as('clockwork'),
    passepartout: await as('passepartout', 'test'),
    relay: await as('relay'),
  }
  const usage = () => app.platform.metering.usageOf(acme.id)

  /** Another process on the same data, with settings of its own, as far as it counts. */
  function neighbour(flags: Record<string, string>) {
    const { clock, log, keys } = app.platform
    const db = openDatabase({ dataDir: dirname(app.db.file), synchronous: 'full' })
    opened.defer(() => db.close())
    const audit = createAudit({ db, clock })
    const config = testConfig(flags).metering
    const metering = createMetering({ db, clock, log, audit, metrics: createMetrics(), config })
    function callerOf(key: string): KeyCaller {
      const holder = keys.verify(key)
      if (!holder) throw new Error('the key is good')
      return { ...holder, actor: keyActor(holder), charge: metering.newCharge() }
    }
    return { metering, callerOf }
  }

  async function end() {
    opened.dispose()
    await app[Symbol.asyncDispose]()
  }

  return { ...app, acme, clients, usage, neighbour, [Symbol.asyncDispose]: end }
}

export type Metered = Awaited<ReturnType<typeof bootMetered>>
type Clients = Metered['clients']

interface Creating {
  status: number
  shape: 'plain' | 'coded'
  send: (clients: Clients, n: number) => Promise<Answer>
}

const target = { url: 'http://127.0.0.1:9/hook', method: 'POST' }

/** Every call that makes something new. */
export const CREATING: Record<string, Creating> = {
  'an event': {
    status: 202,
    shape: 'coded',
    send: ({ relay }) =>
      relay.post('/v1/relay/messages', { event_type: 'order.paid', payload: { n: 1 } }),
  },
  'a messenger sign-in': {
    status: 200,
    shape: 'coded',
    send: ({ passepartout }) => passepartout.post('/v1/passepartout/login/start', {}),
  },
  'an identity': {
    status: 201,
    shape: 'plain',
    send: ({ gate }, n) =>
      gate.post('/v1/gate/identities', {
        schema_id: 'user',
        traits: { email: `ada${n}@example.com` },
      }),
  },
  'an access token': {
    status: 200,
    shape: 'coded',
    send: ({ gate }) => gate.post('/v1/gate/tokens', { api_key: gate.key, subject: 'someone' }),
  },
  'a login flow': flow('login'),
  'a registration flow': flow('registration'),
  'a recovery flow': flow('recovery'),
  'a verification flow': flow('verification'),
  'a cron job': {
    status: 201,
    shape: 'plain',
    send: ({ clockwork }) =>
      clockwork.post('/v1/clockwork/jobs', { name: 'tick', schedule: '* * * * *', ...target }),
  },
  'a delayed job': {
    status: 201,
    shape: 'plain',
    send: ({ clockwork }) =>
      clockwork.post('/v1/clockwork/delayed', {
        name: 'once',
        run_at: '2026-04-02T00:00:00Z',
        ...target,
      }),
  },
}

function flow(kind: string): Creating {
  return { status: 200, shape: 'plain', send: ({ gate }) => gate.get(`/v1/gate/auth/${kind}`) }
}
