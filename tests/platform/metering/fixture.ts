import { afterAll } from 'bun:test'
import type { Plan } from '../../../src/platform/tenants.ts'
import { type Answer, bootTestApp, type TestApp } from '../../support/app.ts'

export const ACTOR = { kind: 'cli', source: 'test' } as const
export const MESSAGES = '/v1/relay/messages'
export const JOBS = '/v1/clockwork/jobs'
export const ENDPOINTS = '/v1/relay/endpoints'
export const IDENTITIES = '/v1/gate/identities'

export const START = '2026-03-31T23:58:00.000Z'
export const NEXT_MONTH = Date.parse('2026-04-01T00:00:00.000Z')

export type Metered = Awaited<ReturnType<typeof bootMetered>>
export type Tenant = Awaited<ReturnType<Metered['newTenant']>>

type Client = ReturnType<TestApp['client']> & { key: string }
type Clients = Record<'gate' | 'clockwork' | 'passepartout' | 'relay', Client>

const flagsOf = (prices: Prices) => ({
  'metering-free-requests': `${prices.free ?? 0}`,
  'metering-overage-price-cents': `${prices.cents ?? 0}`,
  'metering-overage-per': '1',
  'metering-default-spend-cap-cents': `${prices.cap ?? 0}`,
})

/** Free requests a month, and the price of each one beyond them up to the default spend cap. */
interface Prices {
  free?: number
  cents?: number
  cap?: number
}

/** The application of a test file, booted once; see `useApp`. Each test takes a tenant. */
export async function useMetered(prices: Prices) {
  const fixture = await bootMetered(prices)
  afterAll(fixture.stop)
  return fixture
}

export async function bootMetered(prices: Prices) {
  const app = await bootTestApp({ start: START, flags: flagsOf(prices) })
  const { metering, tenants } = app.platform

  async function newTenant(plan: Plan) {
    const { id, key: newKey } = await app.tenant('Acme', plan)
    await app.passepartout.bots.enable(ACTOR, { tenantId: id, environment: 'test' })
    const as = async (...options: Parameters<typeof newKey>): Promise<Client> => {
      const { key } = await newKey(...options)
      return { ...app.client(key), key }
    }
    const clients: Clients = {
      gate: await as('gate'),
      clockwork: await as('clockwork'),
      passepartout: await as('passepartout', 'test'),
      relay: await as('relay'),
    }
    const create = (name: New): Promise<Answer> => CREATING[name](clients)
    return {
      ...{ id, newKey, clients, ...clients },
      usage: () => metering.usageOf(id),
      read: async (times = 1) => {
        for (let n = 0; n < times; n++) await clients.clockwork.get(JOBS)
      },
      create,
      make: async (name: New = 'event') => (await create(name)).status,
      change: (change: Parameters<typeof tenants.change>[2]) => tenants.change(ACTOR, id, change),
      suspend: (reason: 'billing' | 'renewal' = 'billing') => tenants.suspend(ACTOR, id, reason),
      resume: () => tenants.resume(ACTOR, id),
    }
  }

  return { ...app, metering, newTenant }
}

export const EVENT = { event_type: 'order.paid', payload: {} }
const target = { url: 'http://127.0.0.1:9/hook', method: 'POST' }
const CRON = { name: 'tick', schedule: '0 0 1 1 *', ...target }
const DELAYED = { name: 'once', run_at: '2026-04-02T00:00:00Z', ...target }
let people = 0
export const newPerson = () => ({
  schema_id: 'user',
  traits: { email: `ada${people++}@example.com` },
})
const flow =
  (kind: string) =>
  ({ gate }: Clients) =>
    gate.get(`/v1/gate/auth/${kind}`)

const CREATING = {
  event: ({ relay }: Clients) => relay.post(MESSAGES, EVENT),
  login: (by: Clients) => by.passepartout.post('/v1/passepartout/login/start', {}),
  token: ({ gate }: Clients) =>
    gate.post('/v1/gate/tokens', { api_key: gate.key, subject: 'someone' }),
  identity: ({ gate }: Clients) => gate.post(IDENTITIES, newPerson()),
  ...{ loginFlow: flow('login'), registrationFlow: flow('registration') },
  ...{ recoveryFlow: flow('recovery'), verificationFlow: flow('verification') },
  job: ({ clockwork }: Clients) => clockwork.post(JOBS, CRON),
  delayedJob: ({ clockwork }: Clients) => clockwork.post('/v1/clockwork/delayed', DELAYED),
} satisfies Record<string, (clients: Clients) => Promise<Answer>>

type New = keyof typeof CREATING
export const NEW = Object.keys(CREATING) as New[]
