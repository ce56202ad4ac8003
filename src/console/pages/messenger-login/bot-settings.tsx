import type { ComponentChildren } from 'preact'
import { Button } from '../../../../views/ui/form/button.tsx'
import { Radios } from '../../../../views/ui/form/choices.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import type { Tone } from '../../../../views/ui/status.tsx'
import { LongText } from '../../../../views/ui/text.tsx'
import type { Bot } from '../../../engines/passepartout/index.ts'
import type { Environment } from '../../../platform/engines.ts'

export const BOT_TITLES: Record<Environment, string> = { live: 'Live bot', test: 'Test bot' }

interface BotState {
  tone: Tone
  sentence: ComponentChildren
}

/** State of a bot in a sentence. */
export function stateOf(environment: Environment, bot: Bot | undefined): BotState {
  const which = environment === 'live' ? 'The live bot' : 'The test bot'
  if (!isSetUp(environment, bot))
    return { tone: 'quiet', sentence: "No live bot yet. Users can't sign in with a messenger." }
  if (!bot?.enabled)
    return { tone: 'quiet', sentence: `${which} is disabled. Users can't sign in with it.` }
  if (bot.status === 'ok') return { tone: 'good', sentence: `${which} is working` }
  const why = bot.issue ?? ISSUES[bot.status] ?? bot.status
  return { tone: 'bad', sentence: <LongText text={`${which} is not working: ${why}.`} /> }
}

const ISSUES: Partial<Record<Bot['status'], string>> = {
  invalid_token: 'Telegram rejects its token',
  conflict: 'another system receives its messages',
  unreachable: "Gatehouse can't reach Telegram",
}

export const isSetUp = (environment: Environment, bot: Bot | undefined): boolean =>
  environment === 'test' || (bot !== undefined && bot.status !== 'not_configured')

export const WHEN_ASKED: Record<Bot['match'], string> = {
  optional: 'When the app sends client details',
  required: 'Always',
}

export const TRANSPORTS = { polling: 'Long polling', webhook: 'Webhook' } as const

/** Settings of a bot. */
export const SettingsForm = ({
  environment,
  bot,
}: {
  environment: Environment
  bot: Bot | undefined
}) => (
  <Section id="settings" title="Settings">
    <PageForm action="settings" buttons={<Button>Save settings</Button>}>
      <Radios
        name="match"
        label="Number matching"
        value={bot?.match ?? 'optional'}
        help="The app shows a number, and the user selects it in the bot. This protects against forwarded links."
        options={[
          { value: 'optional', label: 'When the app sends client details' },
          { value: 'required', label: 'Always' },
        ]}
      />
      {environment === 'live' && (
        <Radios
          name="transport"
          label="Connection to Telegram"
          value={bot?.transport ?? 'polling'}
          options={[
            { value: 'polling', label: 'Long polling', text: 'Works behind firewalls' },
            { value: 'webhook', label: 'Webhook', text: 'Needs a public HTTPS address' },
          ]}
        />
      )}
    </PageForm>
  </Section>
)
