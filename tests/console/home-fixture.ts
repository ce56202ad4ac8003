import { eventOf } from '../../src/engines/gate/webhooks/events.ts'
import { newId } from '../../src/platform/ids.ts'
import { bootTestApp, type TestAppOptions } from '../support/app.ts'
import { newOperator, type OperatorSession } from '../support/operator.ts'
import { startTarget } from '../support/target.ts'
import { wordsOf } from './relay/fixture.ts'

const HOUR = 3_600_000

/** A tenant, somebody who looks at it, and a target that does as it is told. */
export async function bootHome(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const target = startTarget()
  const acme = await app.tenant('Acme')
  const owner = await newOperator(app, { roles: { [acme.id]: 'owner' } })
  const session = await owner.signIn()
  const relay = app.client((await acme.key('relay')).key)

  const html = async ({ cookie }: OperatorSession = session, environment = 'live') =>
    (
      await app.raw('/console', {
        headers: { cookie: `${cookie}; gatehouse_environment=${environment}`, accept: 'text/html' },
      })
    ).body as string

  return {
    app,
    target,
    acme,
    session,
    relay,
    html,
    words: async (by?: OperatorSession, environment?: string) =>
      wordsOf(mainOf(await html(by, environment))),
    [Symbol.asyncDispose]: async () => {
      await app.stop()
      await target.stop()
    },
  }
}

export type HomeFixture = Awaited<ReturnType<typeof bootHome>>

export const mainOf = (html: string): string => /<main[\s\S]*<\/main>/.exec(html)?.[0] ?? ''

/** What a tile says: its number, and what it is held against. */
export async function tileOf(here: HomeFixture, label: string): Promise<string> {
  const tiles = /<ul class="tiles"[\s\S]*?<\/ul>/.exec(await here.html())?.[0] ?? ''
  const tile = tiles.split('<li>').find((one) => one.includes(`>${label}<`)) ?? ''
  return wordsOf(tile).replace(label, '').trim()
}

/** Rows as the engines write them, at moments of the past. */
export function rowsOf({ app, acme }: HomeFixture) {
  const insert = (table: string, row: Record<string, string | number>) =>
    app.db.client
      .query(
        `insert into ${table} (${Object.keys(row)}) values (${Object.keys(row).map(() => '?')})`,
      )
      .run(...Object.values(row)).lastInsertRowid
  return {
    signIn(at: number, tenantId = acme.id) {
      const payload = { email: 'mette@example.com' }
      const event = eventOf(tenantId, { type: 'identity.login', identityId: newId(), payload }, at)
      const { id, type } = event
      const row = { id, type, payload: event.payload, tenant_id: tenantId, accepted_at: at }
      insert('messages', { ...row, stream: 'gate.live' })
    },
    runs(at: number, succeeded: number, failed = 0, tenantId = acme.id) {
      const hour = at - (at % HOUR)
      insert('clockwork_hours', { tenant_id: tenantId, hour, succeeded, failed })
    },
    delivery(at: number, environment = 'live') {
      const of = { tenant_id: acme.id, stream: `relay.${environment}` }
      const message = { id: newId(), type: 'order.paid', payload: '{}', accepted_at: at, ...of }
      const messageSeq = Number(insert('messages', message))
      insert('deliveries', {
        ...of,
        id: newId(),
        message_seq: messageSeq,
        endpoint_id: 'none',
        format: 'standard',
        state: 'succeeded',
        line: 0,
        run: 1,
        attempts: 1,
        tries: 1,
        trigger: 'schedule',
        due_at: at,
        created_at: at,
        ended_at: at,
      })
    },
    login(at: number, state = 'approved') {
      insert('passepartout_attempts', {
        id: newId(),
        tenant_id: acme.id,
        environment: 'live',
        bot_id: 'bot',
        nonce_hash: newId(),
        link_hash: newId(),
        state,
        language: 'en',
        prompts: 1,
        created_at: at,
        expires_at: at + HOUR,
      })
    },
  }
}

export const job = (here: HomeFixture, fields: Record<string, unknown> = {}) =>
  here.acme.api.post('/v1/clockwork/jobs', {
    name: 'Report',
    schedule: '* * * * *',
    url: here.target.url,
    ...fields,
  })

/** Lets a job that runs every minute run once. */
export const runOnce = ({ app }: HomeFixture) => app.clock.advance(61_000)
