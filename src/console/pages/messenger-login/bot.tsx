import { Marked } from '../../../../views/provider-marks.tsx'
import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { ActionButton, Button } from '../../../../views/ui/form/button.tsx'
import { Checkbox } from '../../../../views/ui/form/choices.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import type { Bot } from '../../../engines/passepartout/index.ts'
import type { Fields } from '../../../http/body.ts'
import type { Environment } from '../../../platform/engines.ts'
import { fail, invalid, notFound } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { good, page, usePage, warn } from '../../page.tsx'
import {
  BOT_TITLES,
  isSetUp,
  SettingsForm,
  stateOf,
  TRANSPORTS,
  WHEN_ASKED,
} from './bot-settings.tsx'
import { SetupSteps, TokenForm } from './setup-steps.tsx'

const MAX_USER_AGENT_LENGTH = 512
/** Fields of the forms, by API field. */
const FORM = { token: 'token', match: 'match', transport: 'transport' }

interface BotView {
  environment: Environment
  bot: Bot | undefined
  /** Whether a user has signed in with the bot. */
  hasUser: boolean
}

/** One bot: state, set-up, test, settings and removal. Tokens are write-only. */
export const botPage = page({
  path: '/bots',
  hasEnvironments: true,
  section: 'bots',
  right: 'read',

  load({ passepartout: { bots, queries }, tenantId, environment }): BotView {
    const approved = queries.list({ tenantId, environment }, { state: 'approved', limit: 1 })
    return {
      environment,
      bot: bots.list(tenantId).find((bot) => bot.environment === environment),
      hasUser: approved.data.length > 0,
    }
  },

  title: ({ environment }) => BOT_TITLES[environment],

  view(view) {
    const { environment, bot, hasUser } = view
    const { may, submission, hrefIn } = usePage()
    const isReady = isSetUp(environment, bot)
    const isRefused = submission?.action === 'enable' || submission?.action === 'try'
    const remedy = remedyOf(bot)
    const isInProgress = may('change') && !remedy && !(bot?.enabled && hasUser)
    return (
      <>
        <PageHead
          title={<Marked provider="telegram" name={BOT_TITLES[environment]} />}
          state={stateOf(environment, bot)}
          action={may('change') && isReady && !isRefused && <NextStep {...view} />}
        />
        {isRefused && <Refused environment={environment} action={submission.action} />}
        {remedy && (
          <Section id="remedy" title="How to fix it" isCard>
            <p>{remedy}</p>
          </Section>
        )}
        {isInProgress && <SetupSteps {...view} />}
        {!isReady && (
          <p class="hint">
            To try a sign-in without Telegram, use the{' '}
            <a href={hrefIn('test', '/bots')}>test bot</a>.
          </p>
        )}
        {bot && isReady && <About bot={bot} />}
        {!may('change') && !isReady && (
          <p class="hint">Only owners and members can set up a bot.</p>
        )}
        {may('change') && isReady && environment === 'live' && (
          <Section
            id="token"
            title="Replace token"
            note="Applies immediately. If the token is of another bot, pending sign-ins fail."
          >
            <TokenForm verb="Replace token" />
          </Section>
        )}
        {may('change') && isReady && <SettingsForm environment={environment} bot={bot} />}
        {bot && isReady && <BotDangerZone environment={environment} bot={bot} />}
      </>
    )
  },

  actions: {
    token: {
      right: 'change',
      form: FORM,
      flash: {
        checked: good('Token saved. Enable the bot to let users sign in.'),
        elsewhere: warn(
          'Token saved. Another system receives the messages of this bot. Enabling it takes them over.',
        ),
      },
      async run({ passepartout: { bots }, tenantId, environment, actor, fields }) {
        if (environment === 'test') throw notFound('the test bot has no token')
        const token = trimmedText(fields, 'token')
        const { warnings } = await bots.set(actor, { tenantId, environment }, { token })
        return { flash: warnings.length > 0 ? 'elsewhere' : 'checked' }
      },
    },
    settings: {
      right: 'change',
      form: FORM,
      flash: good('Settings saved.'),
      async run({ passepartout: { bots }, tenantId, environment, actor, fields }) {
        const transport =
          environment === 'live'
            ? { transport: oneOf(fields, 'transport', ['polling', 'webhook']) }
            : {}
        const match = oneOf(fields, 'match', ['optional', 'required'])
        await bots.set(actor, { tenantId, environment }, { match, ...transport })
      },
    },
    enable: {
      right: 'change',
      form: FORM,
      flash: {
        enabled: good('Bot enabled. Start a test login to try it.'),
        'taken-over': warn('Bot enabled. The webhook of the other system was removed.'),
      },
      async run({ passepartout: { bots }, tenantId, environment, actor, fields }) {
        const takeOver = trimmedText(fields, 'take_over') === 'true'
        const owner = { tenantId, environment }
        const { warnings } = await bots.enable(actor, owner, { takeOver })
        return { flash: warnings.length > 0 ? 'taken-over' : 'enabled' }
      },
    },
    disable: {
      right: 'change',
      flash: good('Bot disabled.'),
      async run({ passepartout: { bots }, tenantId, environment, actor }) {
        await bots.disable(actor, { tenantId, environment })
      },
    },
    /** Removes the live bot; the test bot is built in. */
    remove: {
      right: 'delete',
      flash: good('Bot removed and token deleted.'),
      async run({ passepartout: { bots }, tenantId, environment, actor }) {
        if (environment === 'test') throw notFound('the test bot is built in')
        await bots.remove(actor, { tenantId, environment })
      },
    },
    /** Starts a test login, whose link is only in the address of its page. */
    try: {
      right: 'change',
      form: FORM,
      async run({ passepartout: { loginStart }, caller, environment, request }) {
        const userAgent = request.headers.get('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH)
        const { id, payload } = await loginStart.begin(caller('passepartout', environment), {
          client: { label: 'Test login', ...(userAgent && { user_agent: userAgent }) },
        })
        return { to: `/logins/${id}`, query: { link: payload } }
      },
    },
  },
})

function oneOf<const Value extends string>(
  fields: Fields,
  name: string,
  values: readonly Value[],
): Value {
  const value = values.find((one) => one === trimmedText(fields, name))
  return value ?? fail(invalid(`must be ${values.join(' or ')}`, { field: name, rule: 'choice' }))
}

const NextStep = ({ bot }: BotView) => (
  <ActionButton weight="primary" action={usePage().actionHref(bot?.enabled ? 'try' : 'enable')}>
    {bot?.enabled ? 'Start test login' : 'Enable bot'}
  </ActionButton>
)

/** Errors of enabling or testing a bot, with the option to take over. */
const Refused = ({ environment, action }: { environment: Environment; action: string }) => (
  <PageForm
    action={action}
    buttons={
      <Button weight="primary">{action === 'try' ? 'Start test login' : 'Enable bot'}</Button>
    }
  >
    {action === 'enable' && environment === 'live' && (
      <Checkbox
        name="take_over"
        label="Take over the bot from another system"
        help="That system stops receiving messages."
      />
    )}
  </PageForm>
)

/** How to fix each problem. */
const REMEDIES: Partial<Record<Bot['status'], string>> = {
  invalid_token:
    'In Telegram, send /token to @BotFather, select the bot, and paste the token below. Users keep their accounts.',
  conflict:
    'Another program receives the messages of this bot. Stop that program. Or send /revoke to @BotFather, which invalidates its token, and paste the new token below.',
  unreachable:
    'This server must be able to reach https://api.telegram.org. Check for a firewall or proxy in between. Gatehouse retries and recovers automatically.',
}

const remedyOf = (bot: Bot | undefined): string | undefined =>
  bot?.enabled ? REMEDIES[bot.status] : undefined

const About = ({ bot }: { bot: Bot }) => (
  <Section id="about" title="About" isCard>
    <Facts
      facts={[
        ['ID', <Id id={bot.id} what="bot ID" />],
        ...(bot.url
          ? ([
              ['Name', <Text text={bot.name ?? ''} limit={64} />],
              ['Username', <a href={bot.url}>@{bot.username}</a>],
              ['Token', <code>{bot.token}</code>],
            ] as const)
          : []),
        ['Number matching', WHEN_ASKED[bot.match]],
        ...(bot.transport ? [['Connection', TRANSPORTS[bot.transport]] as const] : []),
        ['Created', <Time at={Date.parse(bot.created_at)} />],
        ['Updated', <Time at={Date.parse(bot.updated_at)} />],
      ]}
    />
  </Section>
)

/** Disables or removes a bot. */
function BotDangerZone({ environment, bot }: { environment: Environment; bot: Bot }) {
  const { may, actionHref } = usePage()
  const disabling = {
    text: "Users can't sign in with the bot until you enable it again.",
    id: 'disable',
    verb: 'Disable bot',
    question: 'Disable this bot?',
    consequence: 'Stops immediately; pending sign-ins fail.',
    action: actionHref('disable'),
  }
  const removal = {
    text: 'Deletes the token. You can then use the bot elsewhere. Users keep their accounts.',
    id: 'remove',
    verb: 'Remove bot',
    question: 'Remove this bot?',
    consequence: "Users can't sign in with it anymore. To use it again, you need its token.",
    action: actionHref('remove'),
  }
  const items = [
    ...(may('change') && bot.enabled ? [disabling] : []),
    ...(may('delete') && environment === 'live' ? [removal] : []),
  ]
  return items.length === 0 ? null : <DangerZone items={items} />
}
