import type { ComponentChildren } from 'preact'
import type { FormError } from '../../../form/error-summary.tsx'
import { Section } from '../../../section.tsx'
import type { BotView } from './bot.tsx'
import { isSetUp } from './state.tsx'
import { TokenForm } from './token-form.tsx'

interface Step {
  title: string
  text: ComponentChildren
  isDone: boolean
  /** What the step takes, shown while it is the one to do. */
  form?: ComponentChildren
}

/** From nothing to a first sign-in, one step after the other; there until somebody came in. */
export const Walk = (page: BotView & { errors: readonly FormError[] | undefined }) => {
  const steps = page.environment === 'live' ? liveSteps(page) : testSteps(page)
  const current = steps.find(({ isDone }) => !isDone)
  return (
    <Section
      id="walk"
      title="Set it up"
      note={`${steps.filter(({ isDone }) => isDone).length} of ${steps.length} done`}
    >
      <ol class="walk">
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

function liveSteps(page: BotView & { errors: readonly FormError[] | undefined }): Step[] {
  const { base, environment, bot, errors } = page
  const isReady = isSetUp(environment, bot)
  return [
    {
      title: 'Make a bot, and paste its token',
      text: isReady ? (
        <>
          Telegram knows it as <code>@{bot?.username}</code>.
        </>
      ) : (
        <>
          In Telegram, write <code>/newbot</code> to <a href="https://t.me/BotFather">@BotFather</a>
          . It asks for a name, and answers with a token. Telegram is then asked whose it is.
        </>
      ),
      isDone: isReady,
      form: <TokenForm base={base} verb="Check and save token" isNew errors={errors} />,
    },
    ...lastSteps(page),
  ]
}

const testSteps = (page: BotView): Step[] => [
  {
    title: 'Nothing to make',
    text: 'The test bot is built in: a page of this server plays the messenger.',
    isDone: true,
  },
  ...lastSteps(page),
]

const lastSteps = ({ bot, hasSignedSomebodyIn }: BotView): Step[] => [
  {
    title: 'Enable it',
    text: 'From then on it answers, and sign-ins go through it.',
    isDone: bot?.enabled === true,
  },
  {
    title: 'Try it by a test login',
    text: 'You get a link and a QR code, open it like anybody else, and see here what comes of it.',
    isDone: bot?.enabled === true && hasSignedSomebodyIn,
  },
]
