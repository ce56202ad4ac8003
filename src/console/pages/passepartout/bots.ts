import { Elysia } from 'elysia'
import { BotPage } from '../../../../views/console/pages/passepartout/bots/bot.tsx'
import { BotsPage } from '../../../../views/console/pages/passepartout/bots/list.tsx'
import {
  BOT_TITLES,
  type BotTrial,
} from '../../../../views/console/pages/passepartout/bots/state.tsx'
import type { Bot, Passepartout } from '../../../engines/passepartout/index.ts'
import type { Fields } from '../../../http/body.ts'
import type { Clock } from '../../../platform/clock.ts'
import { ENVIRONMENTS, type Environment } from '../../../platform/engines.ts'
import { fail, invalid, notFound } from '../../../platform/errors.ts'
import type { CallerOf } from '../../callers.ts'
import { submitted, typed } from '../../form.ts'
import { crumbTo, type Frames } from '../../frame.ts'
import type { ConsoleKit, TenantVisit } from '../../kit.ts'
import { may } from '../../operators/rights.ts'

/** Names of fields, shared by the service and the forms. */
const NAMES = { token: 'token', match: 'match', transport: 'transport' }

/** The two bots of a tenant: set-up, test, enabling and removal. Tokens are write-only. */
export function botPages(parts: {
  kit: ConsoleKit
  frames: Frames
  passepartout: Pick<Passepartout, 'bots' | 'logins' | 'records'>
  clock: Clock
  callerOf: CallerOf
}) {
  const { kit, frames, clock, callerOf } = parts
  const { bots, logins, records } = parts.passepartout

  const botOf = ({ tenant }: TenantVisit, environment: Environment): Bot | undefined =>
    bots.list(tenant.tenantId).find((bot) => bot.environment === environment)

  const hasUser = ({ tenant: { tenantId } }: TenantVisit, environment: Environment) =>
    records.list({ tenantId, environment }, { state: 'approved', limit: 1 }).data.length > 0

  const rightsOf = ({ tenant }: TenantVisit) => ({
    mayChange: may(tenant.role, 'change'),
    mayRemove: may(tenant.role, 'delete'),
  })

  function list(visit: TenantVisit & Asked): Response {
    const { request, visitor } = visit
    return frames.page({
      request,
      visitor,
      title: 'Bots',
      active: 'bots',
      flash: flashOf(visit),
      children: BotsPage({
        base: frames.base(),
        bots: { live: botOf(visit, 'live'), test: botOf(visit, 'test') },
        rights: rightsOf(visit),
      }),
    })
  }

  function show(visit: TenantVisit & Asked, trial?: BotTrial): Response {
    const { request, visitor } = visit
    const environment = environmentIn(visit)
    return frames.page({
      request,
      visitor,
      title: BOT_TITLES[environment],
      active: 'bots',
      above: [crumbTo(frames.base(), 'bots')],
      flash: flashOf(visit),
      status: trial ? 422 : 200,
      children: BotPage({
        base: frames.base(),
        environment,
        bot: botOf(visit, environment),
        rights: rightsOf(visit),
        hasUser: hasUser(visit, environment),
        now: clock.now(),
        ...(trial && { trial }),
      }),
    })
  }

  /** Submits a form, then shows the bot with the result, or the form with its errors. */
  async function act(
    visit: TenantVisit & Asked,
    form: BotTrial['form'],
    work: (owner: { tenantId: string; environment: Environment }) => Promise<string>,
  ): Promise<Response> {
    const environment = environmentIn(visit)
    const owner = { tenantId: visit.tenant.tenantId, environment }
    const { value, errors } = await submitted(() => work(owner), NAMES)
    return errors ? show(visit, { form, typed: visit.body, errors }) : frames.go(value)
  }

  const setToken = (visit: TenantVisit & Asked): Promise<Response> =>
    act(visit, 'token', async (owner) => {
      if (owner.environment === 'test') throw notFound('the test bot has no token')
      const token = typed(visit.body, 'token')
      const { warnings } = await bots.set(visit.actor, owner, { token })
      return done(owner.environment, warnings.length > 0 ? 'elsewhere' : 'checked')
    })

  const setSettings = (visit: TenantVisit & Asked): Promise<Response> =>
    act(visit, 'settings', async (owner) => {
      const transport =
        owner.environment === 'live'
          ? { transport: oneOf(visit.body, 'transport', ['polling', 'webhook']) }
          : {}
      const match = oneOf(visit.body, 'match', ['optional', 'required'])
      await bots.set(visit.actor, owner, { match, ...transport })
      return done(owner.environment, 'saved')
    })

  const enable = (visit: TenantVisit & Asked): Promise<Response> =>
    act(visit, 'enable', async (owner) => {
      const takeOver = typed(visit.body, 'take_over') === 'true'
      const { warnings } = await bots.enable(visit.actor, owner, { takeOver })
      return done(owner.environment, warnings.length > 0 ? 'taken-over' : 'enabled')
    })

  async function disable({ actor, tenant, ...visit }: TenantVisit & Asked): Promise<Response> {
    const environment = environmentIn(visit)
    await bots.disable(actor, { tenantId: tenant.tenantId, environment })
    return frames.go(done(environment, 'disabled'))
  }

  /** Removes the live bot; the test bot is built in. */
  async function remove({ actor, tenant, ...visit }: TenantVisit & Asked): Promise<Response> {
    if (environmentIn(visit) === 'test') throw notFound('the test bot is built in')
    await bots.remove(actor, { tenantId: tenant.tenantId, environment: 'live' })
    return frames.go('/console/bots?done=removed')
  }

  /** Starts a test login, whose link is only in the address of its page. */
  const tryOut = (visit: TenantVisit & Asked): Promise<Response> =>
    act(visit, 'try', async ({ environment }) => {
      const userAgent = visit.request.headers.get('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH)
      const { id, payload } = await logins.begin(callerOf(visit, 'passepartout', environment), {
        client: { label: 'Test login', ...(userAgent && { user_agent: userAgent }) },
      })
      return `/console/logins/${id}?${new URLSearchParams({ link: payload })}`
    })

  return new Elysia({ name: 'bot pages', prefix: '/console/bots', detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(asked(visit)), { right: 'read' })
    .get('/:environment', (visit) => show(asked(visit)), { right: 'read' })
    .post('/:environment/token', (visit) => setToken(asked(visit)), { right: 'change' })
    .post('/:environment/settings', (visit) => setSettings(asked(visit)), { right: 'change' })
    .post('/:environment/enable', (visit) => enable(asked(visit)), { right: 'change' })
    .post('/:environment/disable', (visit) => disable(asked(visit)), { right: 'change' })
    .post('/:environment/remove', (visit) => remove(asked(visit)), { right: 'delete' })
    .post('/:environment/try', (visit) => tryOut(asked(visit)), { right: 'change' })
}

const MAX_USER_AGENT_LENGTH = 512

/** Parameters and body of a request. */
interface Asked {
  request: Request
  params: { environment: string }
  query: Record<string, string | undefined>
  body: Fields
}

/** Fills in empty parameters and body for routes without them. */
const asked = (
  visit: TenantVisit & { request: Request; params: object; body: unknown },
): TenantVisit & Asked => ({
  ...visit,
  params: { environment: '', ...visit.params },
  query: Object.fromEntries(new URL(visit.request.url).searchParams),
  body: (visit.body ?? {}) as Fields,
})

const environmentIn = ({ params }: Pick<Asked, 'params'>): Environment =>
  ENVIRONMENTS.find((one) => one === params.environment) ?? fail(notFound('bot not found'))

function oneOf<const Value extends string>(
  fields: Fields,
  name: string,
  values: readonly Value[],
): Value {
  const value = values.find((one) => one === typed(fields, name))
  return value ?? fail(invalid(`must be ${values.join(' or ')}`, { field: name, rule: 'choice' }))
}

const done = (environment: Environment, what: keyof typeof FLASHES): string =>
  `/console/bots/${environment}?done=${what}`

const flashOf = ({ query }: Asked) => {
  const what = query.done ?? ''
  return Object.hasOwn(FLASHES, what) ? FLASHES[what as keyof typeof FLASHES] : undefined
}

const FLASHES = {
  checked: { tone: 'good', text: 'Token saved. Enable the bot to let users sign in.' },
  elsewhere: {
    tone: 'warn',
    text: 'Token saved. Another system receives the messages of this bot. Enabling it takes them over.',
  },
  saved: { tone: 'good', text: 'Settings saved.' },
  enabled: { tone: 'good', text: 'Bot enabled. Start a test login to try it.' },
  'taken-over': { tone: 'warn', text: 'Bot enabled. The webhook of the other system was removed.' },
  disabled: { tone: 'good', text: 'Bot disabled.' },
  removed: { tone: 'good', text: 'Bot removed and token deleted.' },
} as const
