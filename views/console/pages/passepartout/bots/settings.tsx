import type { Bot } from '../../../../../src/engines/passepartout/index.ts'
import type { Environment } from '../../../../../src/platform/engines.ts'
import { Button } from '../../../form/button.tsx'
import { Radios } from '../../../form/choices.tsx'
import { Form } from '../../../form/form.tsx'
import { Section } from '../../../section.tsx'
import { type BotTrial, pathOf } from './state.tsx'

export const WHEN_ASKED: Record<Bot['match'], string> = {
  optional: 'when the app says where a sign-in began',
  required: 'always',
}

export const TRANSPORTS = { polling: 'asking Telegram', webhook: 'webhook' } as const

/** What can be chosen of a bot. */
export const SettingsForm = (form: {
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
