import type { ComponentChildren } from 'preact'
import { Button } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import type { Bot } from '../../../engines/passepartout/index.ts'
import type { Environment } from '../../../platform/engines.ts'
import { isSetUp } from './bot-settings.tsx'

interface SetupStepsProps {
  environment: Environment
  bot: Bot | undefined
  /** Whether a user has signed in with the bot. */
  hasUser: boolean
}

interface Step {
  title: string
  text: ComponentChildren
  isDone: boolean
  /** Form of the step, shown while it is the current one. */
  form?: ComponentChildren
}

/** Set-up steps of a bot, shown until a user has signed in. */
export const SetupSteps = (page: SetupStepsProps) => {
  const steps = page.environment === 'live' ? liveSteps(page) : testSteps(page)
  const current = steps.find(({ isDone }) => !isDone)
  return (
    <Section
      id="walk"
      title="Set up the bot"
      note={`${steps.filter(({ isDone }) => isDone).length} of ${steps.length} done`}
    >
      <ol class="setupsteps">
        {steps.map((step) => (
          <li
            class={step.isDone ? 'done' : undefined}
            aria-current={step === current ? 'step' : undefined}
          >
            <p>
              <strong>{step.title}</strong>
              {step.isDone && <span class="unseen"> (done)</span>}
            </p>
            <p class="hint">{step.text}</p>
            {step === current && step.form}
          </li>
        ))}
      </ol>
    </Section>
  )
}

function liveSteps(page: SetupStepsProps): Step[] {
  const { environment, bot } = page
  const isReady = isSetUp(environment, bot)
  return [
    {
      title: 'Create a bot and paste its token',
      text: isReady ? (
        <>
          Connected to <code>@{bot?.username}</code>.
        </>
      ) : (
        <>
          In Telegram, send <code>/newbot</code> to <a href="https://t.me/BotFather">@BotFather</a>.
          It asks for a name and replies with a token. Gatehouse checks the token with Telegram.
        </>
      ),
      isDone: isReady,
      form: <TokenForm verb="Check and save token" isNew />,
    },
    ...lastSteps(page),
  ]
}

const testSteps = (page: SetupStepsProps): Step[] => [
  {
    title: 'No set-up needed',
    text: 'The test bot is built in. A page of this server replaces the messenger.',
    isDone: true,
  },
  ...lastSteps(page),
]

const lastSteps = ({ bot, hasUser }: SetupStepsProps): Step[] => [
  {
    title: 'Enable the bot',
    text: 'The bot then answers users who sign in.',
    isDone: bot?.enabled === true,
  },
  {
    title: 'Start a test login',
    text: 'You get a link and a QR code. Open either one, approve the sign-in, and see the result here.',
    isDone: bot?.enabled === true && hasUser,
  },
]

/** Form for a bot token, which is never shown again, not even in a rejected form. */
export const TokenForm = ({ verb, isNew }: { verb: string; isNew?: boolean }) => (
  <PageForm action="token" buttons={<Button weight={isNew ? 'primary' : 'plain'}>{verb}</Button>}>
    <Field
      name="token"
      type="password"
      label="Token"
      isMono
      isRequired
      help="The token from BotFather. It is encrypted and never shown again."
    />
  </PageForm>
)
