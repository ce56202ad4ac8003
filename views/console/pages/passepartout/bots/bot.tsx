import type { Bot } from '../../../../../src/engines/passepartout/index.ts'
import type { Environment } from '../../../../../src/platform/engines.ts'
import { Facts } from '../../../facts.tsx'
import { ActionButton, Button } from '../../../form/button.tsx'
import { Checkbox } from '../../../form/choices.tsx'
import type { FormError } from '../../../form/error-summary.tsx'
import { Form } from '../../../form/form.tsx'
import { Id } from '../../../id.tsx'
import { PageHead } from '../../../page-head.tsx'
import { Section } from '../../../section.tsx'
import { Text } from '../../../text.tsx'
import { Time } from '../../../time.tsx'
import { BotDangerZone } from './danger-zone.tsx'
import { SettingsForm, TRANSPORTS, WHEN_ASKED } from './settings.tsx'
import { SetupSteps } from './setup-steps.tsx'
import {
  BOT_TITLES,
  type BotRights,
  type BotSubmission,
  isSetUp,
  pathOf,
  stateOf,
} from './state.tsx'
import { TokenForm } from './token-form.tsx'

interface BotView {
  base: string
  environment: Environment
  bot: Bot | undefined
  rights: BotRights
  /** Whether a user has signed in with the bot. */
  hasUser: boolean
  now: number
  submission?: BotSubmission
}

/** One bot: state, next step, properties, settings. */
export const BotPage = (page: BotView) => {
  const { base, environment, bot, rights, submission } = page
  const isReady = isSetUp(environment, bot)
  const errorsOf = (form: BotSubmission['form']) =>
    submission?.form === form ? submission.errors : undefined
  const refusal = errorsOf('enable') ?? errorsOf('try')
  const remedy = remedyOf(bot)
  const isInProgress = rights.mayChange && !remedy && !(bot?.enabled && page.hasUser)
  return (
    <>
      <PageHead
        title={BOT_TITLES[environment]}
        state={stateOf(environment, bot)}
        action={rights.mayChange && isReady && !refusal && <NextStep {...page} />}
      />
      {refusal && (
        <Refused base={base} environment={environment} submission={submission} errors={refusal} />
      )}
      {remedy && (
        <Section id="remedy" title="How to fix it" isCard>
          <p>{remedy}</p>
        </Section>
      )}
      {isInProgress && <SetupSteps {...page} errors={errorsOf('token')} />}
      {bot && isReady && <About {...page} bot={bot} />}
      {!rights.mayChange && !isReady && (
        <p class="hint">Only owners and members can set up a bot.</p>
      )}
      {rights.mayChange && isReady && environment === 'live' && (
        <Section
          id="token"
          title="Replace token"
          note="Applies immediately. If the token is of another bot, pending sign-ins fail."
        >
          <TokenForm base={base} verb="Replace token" errors={errorsOf('token')} />
        </Section>
      )}
      {rights.mayChange && isReady && (
        <SettingsForm
          base={base}
          environment={environment}
          bot={bot}
          submission={submission?.form === 'settings' ? submission : undefined}
        />
      )}
      {bot && isReady && <BotDangerZone {...page} bot={bot} />}
    </>
  )
}

const NextStep = ({ base, environment, bot }: BotView) => (
  <ActionButton
    weight="primary"
    action={pathOf(base, environment, bot?.enabled ? 'try' : 'enable')}
  >
    {bot?.enabled ? 'Start test login' : 'Enable bot'}
  </ActionButton>
)

/** Errors of enabling or testing a bot, with the option to take over. */
const Refused = (of: {
  base: string
  environment: Environment
  submission: BotSubmission | undefined
  errors: readonly FormError[]
}) => (
  <Form
    action={pathOf(of.base, of.environment, of.submission?.form ?? 'enable')}
    errors={of.errors}
    buttons={
      <Button weight="primary">
        {of.submission?.form === 'try' ? 'Start test login' : 'Enable bot'}
      </Button>
    }
  >
    {of.submission?.form === 'enable' && of.environment === 'live' && (
      <Checkbox
        name="take_over"
        label="Take over the bot from another system"
        help="That system stops receiving messages."
      />
    )}
  </Form>
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

const About = ({ bot, now }: BotView & { bot: Bot }) => (
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
        ['Created', <Time at={Date.parse(bot.created_at)} now={now} />],
        ['Updated', <Time at={Date.parse(bot.updated_at)} now={now} />],
      ]}
    />
  </Section>
)
