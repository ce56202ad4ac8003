import { Elysia } from 'elysia'
import { BotPage } from '../../../../views/console/pages/passepartout/bots/bot.tsx'
import { BotsPage } from '../../../../views/console/pages/passepartout/bots/list.tsx'
import {
  BOT_TITLES,
  type BotSubmission,
} from '../../../../views/console/pages/passepartout/bots/state.tsx'
import type { Bot, Passepartout } from '../../../engines/passepartout/index.ts'
import type { Fields } from '../../../http/body.ts'
import type { Clock } from '../../../platform/clock.ts'
import { ENVIRONMENTS, type Environment } from '../../../platform/engines.ts'
import { fail, invalid, notFound } from '../../../platform/errors.ts'
import type { CallerOf } from '../../callers.ts'
import { submitted, trimmedText } from '../../form.ts'
import { crumbTo, type Layout } from '../../layout.ts'
import type { ConsoleMiddleware, TenantContext } from '../../middleware.ts'
import { may } from '../../operators/rights.ts'

/** Names of fields, shared by the service and the forms. */
const NAMES = { token: 'token', match: 'match', transport: 'transport' }

/** The two bots of a tenant: set-up, test, enabling and removal. Tokens are write-only. */
export function botPages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  passepartout: Pick<Passepartout, 'bots' | 'loginStart' | 'records'>
  clock: Clock
  callerOf: CallerOf
}) {
  const { middleware, layout, clock, callerOf } = parts
  const { bots, loginStart, records } = parts.passepartout

  const botOf = ({ tenant }: TenantContext, environment: Environment): Bot | undefined =>
    bots.list(tenant.tenantId).find((bot) => bot.environment === environment)

  const hasUser = ({ tenant: { tenantId } }: TenantContext, environment: Environment) =>
    records.list({ tenantId, environment }, { state: 'approved', limit: 1 }).data.length > 0

  const rightsOf = ({ tenant }: TenantContext) => ({
    mayChange: may(tenant.role, 'change'),
    mayRemove: may(tenant.role, 'delete'),
  })

  function list(context: TenantContext & BotRequest): Response {
    const { request, operator } = context
    return layout.page({
      request,
      operator,
      title: 'Bots',
      active: 'bots',
      flash: flashOf(context),
      children: BotsPage({
        base: layout.base(),
        bots: { live: botOf(context, 'live'), test: botOf(context, 'test') },
        rights: rightsOf(context),
      }),
    })
  }

  function show(context: TenantContext & BotRequest, submission?: BotSubmission): Response {
    const { request, operator } = context
    const environment = environmentIn(context)
    return layout.page({
      request,
      operator,
      title: BOT_TITLES[environment],
      active: 'bots',
      above: [crumbTo(layout.base(), 'bots')],
      flash: flashOf(context),
      status: submission ? 422 : 200,
      children: BotPage({
        base: layout.base(),
        environment,
        bot: botOf(context, environment),
        rights: rightsOf(context),
        hasUser: hasUser(context, environment),
        now: clock.now(),
        ...(submission && { submission }),
      }),
    })
  }

  /** Submits a form, then shows the bot with the result, or the form with its errors. */
  async function act(
    context: TenantContext & BotRequest,
    form: BotSubmission['form'],
    work: (owner: { tenantId: string; environment: Environment }) => Promise<string>,
  ): Promise<Response> {
    const environment = environmentIn(context)
    const owner = { tenantId: context.tenant.tenantId, environment }
    const { value, errors } = await submitted(() => work(owner), NAMES)
    return errors ? show(context, { form, values: context.body, errors }) : layout.go(value)
  }

  const setToken = (context: TenantContext & BotRequest): Promise<Response> =>
    act(context, 'token', async (owner) => {
      if (owner.environment === 'test') throw notFound('the test bot has no token')
      const token = trimmedText(context.body, 'token')
      const { warnings } = await bots.set(context.actor, owner, { token })
      return done(owner.environment, warnings.length > 0 ? 'elsewhere' : 'checked')
    })

  const setSettings = (context: TenantContext & BotRequest): Promise<Response> =>
    act(context, 'settings', async (owner) => {
      const transport =
        owner.environment === 'live'
          ? { transport: oneOf(context.body, 'transport', ['polling', 'webhook']) }
          : {}
      const match = oneOf(context.body, 'match', ['optional', 'required'])
      await bots.set(context.actor, owner, { match, ...transport })
      return done(owner.environment, 'saved')
    })

  const enable = (context: TenantContext & BotRequest): Promise<Response> =>
    act(context, 'enable', async (owner) => {
      const takeOver = trimmedText(context.body, 'take_over') === 'true'
      const { warnings } = await bots.enable(context.actor, owner, { takeOver })
      return done(owner.environment, warnings.length > 0 ? 'taken-over' : 'enabled')
    })

  async function disable({
    actor,
    tenant,
    ...context
  }: TenantContext & BotRequest): Promise<Response> {
    const environment = environmentIn(context)
    await bots.disable(actor, { tenantId: tenant.tenantId, environment })
    return layout.go(done(environment, 'disabled'))
  }

  /** Removes the live bot; the test bot is built in. */
  async function remove({
    actor,
    tenant,
    ...context
  }: TenantContext & BotRequest): Promise<Response> {
    if (environmentIn(context) === 'test') throw notFound('the test bot is built in')
    await bots.remove(actor, { tenantId: tenant.tenantId, environment: 'live' })
    return layout.go('/console/bots?done=removed')
  }

  /** Starts a test login, whose link is only in the address of its page. */
  const tryOut = (context: TenantContext & BotRequest): Promise<Response> =>
    act(context, 'try', async ({ environment }) => {
      const userAgent = context.request.headers.get('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH)
      const { id, payload } = await loginStart.begin(
        callerOf(context, 'passepartout', environment),
        { client: { label: 'Test login', ...(userAgent && { user_agent: userAgent }) } },
      )
      return `/console/logins/${id}?${new URLSearchParams({ link: payload })}`
    })

  return new Elysia({ name: 'bot pages', prefix: '/console/bots', detail: { hide: true } })
    .use(middleware)
    .get('', (context) => list(contextOf(context)), { right: 'read' })
    .get('/:environment', (context) => show(contextOf(context)), { right: 'read' })
    .post('/:environment/token', (context) => setToken(contextOf(context)), { right: 'change' })
    .post('/:environment/settings', (context) => setSettings(contextOf(context)), {
      right: 'change',
    })
    .post('/:environment/enable', (context) => enable(contextOf(context)), { right: 'change' })
    .post('/:environment/disable', (context) => disable(contextOf(context)), { right: 'change' })
    .post('/:environment/remove', (context) => remove(contextOf(context)), { right: 'delete' })
    .post('/:environment/try', (context) => tryOut(contextOf(context)), { right: 'change' })
}

const MAX_USER_AGENT_LENGTH = 512

/** Parameters and body of a request. */
interface BotRequest {
  request: Request
  params: { environment: string }
  query: Record<string, string | undefined>
  body: Fields
}

/** Fills in empty parameters and body for routes without them. */
const contextOf = (
  context: TenantContext & { request: Request; params: object; body: unknown },
): TenantContext & BotRequest => ({
  ...context,
  params: { environment: '', ...context.params },
  query: Object.fromEntries(new URL(context.request.url).searchParams),
  body: (context.body ?? {}) as Fields,
})

const environmentIn = ({ params }: Pick<BotRequest, 'params'>): Environment =>
  ENVIRONMENTS.find((one) => one === params.environment) ?? fail(notFound('bot not found'))

function oneOf<const Value extends string>(
  fields: Fields,
  name: string,
  values: readonly Value[],
): Value {
  const value = values.find((one) => one === trimmedText(fields, name))
  return value ?? fail(invalid(`must be ${values.join(' or ')}`, { field: name, rule: 'choice' }))
}

const done = (environment: Environment, what: keyof typeof FLASHES): string =>
  `/console/bots/${environment}?done=${what}`

const flashOf = ({ query }: BotRequest) => {
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
