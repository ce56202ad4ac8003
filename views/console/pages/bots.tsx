import type { ComponentChildren } from 'preact'
import type { Bot } from '../../../src/engines/passepartout/index.ts'
import type { Fields } from '../../../src/http/body.ts'
import type { Environment } from '../../../src/platform/engines.ts'
import { Confirm, DangerZone } from '../confirm.tsx'
import { Facts } from '../facts.tsx'
import { ActionButton, Button, LinkButton } from '../form/button.tsx'
import { Checkbox, Radios } from '../form/choices.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { Id } from '../id.tsx'
import { PageHead } from '../page-head.tsx'
import { Columns, Section } from '../section.tsx'
import { StatusMark } from '../status-mark.tsx'
import { LongText, Text } from '../text.tsx'
import { Time } from '../time.tsx'
import type { Tone } from '../tone.ts'
import { url } from '../url.ts'

/** What somebody may do to bots. */
export interface BotRights {
  mayChange: boolean
  mayRemove: boolean
}

/** A form of a bot that came back. */
export interface BotTrial {
  form: 'token' | 'settings' | 'enable' | 'try'
  typed: Fields
  errors: readonly FormError[]
}

export const BOT_TITLES: Record<Environment, string> = { live: 'Live bot', test: 'Test bot' }

const ABOUT: Record<Environment, string> = {
  live: 'People meet it in Telegram.',
  test: 'Built in, on a page of this server: for trying a sign-in without a messenger.',
}

interface BotState {
  tone: Tone
  sentence: ComponentChildren
}

/** How a bot stands, and why; what is wrong is told in the words of others. */
function stateOf(environment: Environment, bot: Bot | undefined): BotState {
  const which = environment === 'live' ? 'The live bot' : 'The test bot'
  if (!isSetUp(environment, bot))
    return {
      tone: 'quiet',
      sentence: 'There is no live bot yet: nobody can sign in by messenger.',
    }
  if (!bot?.enabled)
    return { tone: 'quiet', sentence: `${which} is not enabled: nobody signs in through it.` }
  if (bot.status === 'ok')
    return { tone: 'good', sentence: `${which} works: people sign in through it.` }
  const why = bot.trouble ?? TROUBLES[bot.status] ?? bot.status
  return { tone: 'bad', sentence: <LongText text={`${which} does not work: ${why}.`} /> }
}

const TROUBLES: Partial<Record<Bot['status'], string>> = {
  invalid_token: 'Telegram no longer accepts its token',
  conflict: 'another system receives its messages',
  unreachable: 'Telegram cannot be reached',
}

const isSetUp = (environment: Environment, bot: Bot | undefined): boolean =>
  environment === 'test' || (bot !== undefined && bot.status !== 'not_configured')

/** The two bots of a tenant. */
export const BotsPage = (page: {
  base: string
  bots: Record<Environment, Bot | undefined>
  rights: BotRights
}) => {
  const { base, bots, rights } = page
  return (
    <>
      <PageHead title="Bots" state={stateOf('live', bots.live)} />
      <Columns>
        <BotCard base={base} environment="live" bot={bots.live} rights={rights} />
        <BotCard base={base} environment="test" bot={bots.test} rights={rights} />
      </Columns>
    </>
  )
}

const BotCard = (card: {
  base: string
  environment: Environment
  bot: Bot | undefined
  rights: BotRights
}) => {
  const { base, environment, bot, rights } = card
  const isReady = isSetUp(environment, bot)
  return (
    <Section
      id={environment}
      title={BOT_TITLES[environment]}
      note={ABOUT[environment]}
      isCard
      aside={
        <>
          {rights.mayChange && isReady && <UseButton {...card} />}
          <LinkButton
            isSmall
            weight={rights.mayChange && !isReady ? 'primary' : 'plain'}
            href={pathOf(base, environment)}
          >
            {rights.mayChange && !isReady ? 'Set up bot' : 'Show bot'}
          </LinkButton>
        </>
      }
    >
      <Facts
        facts={[
          ['State', <StatusMark tone={stateOf(environment, bot).tone} word={wordOn(card)} />],
          ...(bot?.username
            ? ([
                ['Name', <Text text={bot.name ?? bot.username} limit={64} />],
                ['Address', <code>@{bot.username}</code>],
              ] as const)
            : []),
          ...(bot?.enabled && bot.trouble
            ? [['Why', <LongText text={bot.trouble} />] as const]
            : []),
        ]}
      />
    </Section>
  )
}

function wordOn({ environment, bot }: { environment: Environment; bot: Bot | undefined }): string {
  if (!isSetUp(environment, bot)) return 'not set up'
  if (!bot?.enabled) return 'not enabled'
  return bot.status === 'ok' ? 'works' : 'does not work'
}

/** What comes next: to enable it, or to try it. */
const UseButton = (of: { base: string; environment: Environment; bot: Bot | undefined }) => (
  <ActionButton
    isSmall
    weight={of.bot?.enabled ? 'plain' : 'primary'}
    action={pathOf(of.base, of.environment, of.bot?.enabled ? 'try' : 'enable')}
  >
    {of.bot?.enabled ? 'Start test login' : 'Enable bot'}
  </ActionButton>
)

const pathOf = (base: string, environment: Environment, verb?: string): string =>
  url(base, `/console/bots/${environment}${verb === undefined ? '' : `/${verb}`}`)

/** One bot: how it stands, what it is, and everything that can be done to it. */
export const BotPage = (page: {
  base: string
  environment: Environment
  bot: Bot | undefined
  rights: BotRights
  now: number
  trial?: BotTrial
}) => {
  const { base, environment, bot, rights, now, trial } = page
  const isReady = isSetUp(environment, bot)
  const errorsOf = (form: BotTrial['form']) => (trial?.form === form ? trial.errors : undefined)
  const trouble = errorsOf('enable') ?? errorsOf('try')
  return (
    <>
      <PageHead
        title={BOT_TITLES[environment]}
        state={stateOf(environment, bot)}
        action={
          rights.mayChange &&
          isReady &&
          !trouble && (
            <ActionButton
              weight="primary"
              action={pathOf(base, environment, bot?.enabled ? 'try' : 'enable')}
            >
              {bot?.enabled ? 'Start test login' : 'Enable bot'}
            </ActionButton>
          )
        }
      />
      {trouble && <Refused base={base} environment={environment} trial={trial} errors={trouble} />}
      {bot && isReady && (
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
      )}
      {rights.mayChange && environment === 'live' && (
        <TokenForm base={base} isNew={!isReady} errors={errorsOf('token')} />
      )}
      {!rights.mayChange && !isReady && (
        <p class="hint">Owners and members of the team set a bot up.</p>
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

const TokenForm = (form: {
  base: string
  isNew: boolean
  errors: readonly FormError[] | undefined
}) => (
  <Section
    id="token"
    title={form.isNew ? 'Set it up' : 'Another token'}
    note={
      form.isNew
        ? undefined
        : 'Takes effect at once. With another bot, sign-ins that have begun come to nothing.'
    }
  >
    {form.isNew && (
      <Facts
        facts={[
          [
            'First',
            <>
              In Telegram, write <code>/newbot</code> to{' '}
              <a href="https://t.me/BotFather">@BotFather</a>. It asks for a name, and answers with
              a token.
            </>,
          ],
          ['Then', 'Paste the token here. Telegram is asked whose it is.'],
          ['Last', 'Enable the bot, and try it by a test login.'],
        ]}
      />
    )}
    <Form
      action={pathOf(form.base, 'live', 'token')}
      errors={form.errors}
      buttons={
        <Button weight={form.isNew ? 'primary' : 'plain'}>
          {form.isNew ? 'Check and save token' : 'Replace token'}
        </Button>
      }
    >
      <Field
        name="token"
        type="password"
        label="Token"
        isMono
        isRequired
        error={form.errors?.find(({ name }) => name === 'token')?.message}
        help="As BotFather shows it. It is stored sealed, and never shown again."
      />
    </Form>
  </Section>
)

const WHEN_ASKED: Record<Bot['match'], string> = {
  optional: 'when the app says where a sign-in began',
  required: 'always',
}

const TRANSPORTS = { polling: 'asking Telegram', webhook: 'webhook' } as const

const SettingsForm = (form: {
  base: string
  environment: Environment
  bot: Bot | undefined
  trial: BotTrial | undefined
}) => {
  const { base, environment, bot, trial } = form
  const chosenFor = (name: string, kept: string): string => {
    const value = trial?.typed[name]
    return typeof value === 'string' ? value : kept
  }
  const errorAt = (name: string) => trial?.errors.find((error) => error.name === name)?.message
  return (
    <Section id="settings" title="Settings">
      <Form
        action={pathOf(base, environment, 'settings')}
        errors={trial?.errors}
        buttons={<Button>Save settings</Button>}
      >
        <Radios
          name="match"
          label="Number to match"
          value={chosenFor('match', bot?.match ?? 'optional')}
          error={errorAt('match')}
          help="The app shows a number, and the bot asks which: a link that was forwarded signs nobody in."
          options={[
            { value: 'optional', label: 'When the app says where a sign-in began' },
            { value: 'required', label: 'Always' },
          ]}
        />
        {environment === 'live' && (
          <Radios
            name="transport"
            label="How messages come in"
            value={chosenFor('transport', bot?.transport ?? 'polling')}
            error={errorAt('transport')}
            options={[
              {
                value: 'polling',
                label: 'This server asks Telegram',
                text: 'Works wherever the server stands',
              },
              {
                value: 'webhook',
                label: 'Telegram calls this server',
                text: 'Needs a public address with https',
              },
            ]}
          />
        )}
      </Form>
    </Section>
  )
}

const Endings = (of: { base: string; environment: Environment; bot: Bot; rights: BotRights }) => {
  const { base, environment, bot, rights } = of
  const items = [
    ...(rights.mayChange && bot.enabled
      ? [
          {
            title: 'Disable it',
            text: 'Nobody signs in through it until it is enabled again.',
            control: (
              <Confirm
                id="disable"
                verb="Disable bot"
                question="Disable this bot?"
                consequence="It falls silent at once, and sign-ins that wait come to nothing."
                action={pathOf(base, environment, 'disable')}
              />
            ),
          },
        ]
      : []),
    ...(rights.mayRemove && environment === 'live'
      ? [
          {
            title: 'Remove it',
            text: 'Forgets the token, so that the bot can be used elsewhere. People stay who they are.',
            control: (
              <Confirm
                id="remove"
                verb="Remove bot"
                question="Remove this bot?"
                consequence="Nobody signs in through it any more. To use it again takes its token."
                action={pathOf(base, environment, 'remove')}
              />
            ),
          },
        ]
      : []),
  ]
  return items.length === 0 ? null : <DangerZone items={items} />
}
