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
import { Endings } from './endings.tsx'
import { SettingsForm, TRANSPORTS, WHEN_ASKED } from './settings.tsx'
import { BOT_TITLES, type BotRights, type BotTrial, isSetUp, pathOf, stateOf } from './state.tsx'
import { TokenForm } from './token-form.tsx'
import { Walk } from './walk.tsx'

export interface BotView {
  base: string
  environment: Environment
  bot: Bot | undefined
  rights: BotRights
  /** Somebody has come in through it before. */
  hasSignedSomebodyIn: boolean
  now: number
  trial?: BotTrial
}

/** One bot: how it stands, what is to be done, what it is, and all that can be done to it. */
export const BotPage = (page: BotView) => {
  const { base, environment, bot, rights, trial } = page
  const isReady = isSetUp(environment, bot)
  const errorsOf = (form: BotTrial['form']) => (trial?.form === form ? trial.errors : undefined)
  const refusal = errorsOf('enable') ?? errorsOf('try')
  const remedy = remedyOf(bot)
  const isUnderWay = rights.mayChange && !remedy && !(bot?.enabled && page.hasSignedSomebodyIn)
  return (
    <>
      <PageHead
        title={BOT_TITLES[environment]}
        state={stateOf(environment, bot)}
        action={rights.mayChange && isReady && !refusal && <NextStep {...page} />}
      />
      {refusal && <Refused base={base} environment={environment} trial={trial} errors={refusal} />}
      {remedy && (
        <Section id="remedy" title="What to do" isCard>
          <p>{remedy}</p>
        </Section>
      )}
      {isUnderWay && <Walk {...page} errors={errorsOf('token')} />}
      {bot && isReady && <About {...page} bot={bot} />}
      {!rights.mayChange && !isReady && (
        <p class="hint">Owners and members of the team set a bot up.</p>
      )}
      {rights.mayChange && isReady && environment === 'live' && (
        <Section
          id="token"
          title="Another token"
          note="Takes effect at once. With another bot, sign-ins that have begun come to nothing."
        >
          <TokenForm base={base} verb="Replace token" errors={errorsOf('token')} />
        </Section>
      )}
      {rights.mayChange && isReady && (
        <SettingsForm
          base={base}
          environment={environment}
          bot={bot}
          trial={trial?.form === 'settings' ? trial : undefined}
        />
      )}
      {bot && isReady && <Endings {...page} bot={bot} />}
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

/** What stood in the way of enabling or of trying, and the way past it where there is one. */
const Refused = (of: {
  base: string
  environment: Environment
  trial: BotTrial | undefined
  errors: readonly FormError[]
}) => (
  <Form
    action={pathOf(of.base, of.environment, of.trial?.form ?? 'enable')}
    errors={of.errors}
    buttons={
      <Button weight="primary">
        {of.trial?.form === 'try' ? 'Start test login' : 'Enable bot'}
      </Button>
    }
  >
    {of.trial?.form === 'enable' && of.environment === 'live' && (
      <Checkbox
        name="take_over"
        label="Take its messages over from another system"
        help="That system hears nothing any more."
      />
    )}
  </Form>
)

/** What to do about each kind of trouble; what it is stands above, in the words of others. */
const REMEDIES: Partial<Record<Bot['status'], string>> = {
  invalid_token:
    'Write /token to @BotFather in Telegram, choose the bot, and paste what it answers below. People stay who they are.',
  conflict:
    'Another program receives the messages of this bot. Stop that one; or write /revoke to @BotFather, which shuts it out, and paste the new token below.',
  unreachable:
    'This server has to reach api.telegram.org by https: look for a firewall or a proxy in between. It goes on trying, and works again by itself.',
}

const remedyOf = (bot: Bot | undefined): string | undefined =>
  bot?.enabled ? REMEDIES[bot.status] : undefined

const About = ({ bot, now }: BotView & { bot: Bot }) => (
  <Section id="about" title="About" isCard>
    <Facts
      facts={[
        ['Id', <Id id={bot.id} what="bot id" />],
        ...(bot.url
          ? ([
              ['Name', <Text text={bot.name ?? ''} limit={64} />],
              ['Address', <a href={bot.url}>@{bot.username}</a>],
              ['Token', <code>{bot.token}</code>],
            ] as const)
          : []),
        ['Asks for the number', WHEN_ASKED[bot.match]],
        ...(bot.transport ? [['Receives by', TRANSPORTS[bot.transport]] as const] : []),
        ['Created', <Time at={Date.parse(bot.created_at)} now={now} />],
        ['Changed', <Time at={Date.parse(bot.updated_at)} now={now} />],
      ]}
    />
  </Section>
)
