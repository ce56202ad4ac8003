import type { Bot } from '../../../../../src/engines/passepartout/index.ts'
import type { Environment } from '../../../../../src/platform/engines.ts'
import { Button } from '../../../form/button.tsx'
import { Radios } from '../../../form/choices.tsx'
import { Form } from '../../../form/form.tsx'
import { errorAt } from '../../../form/values.ts'
import { Section } from '../../../section.tsx'
import { type BotSubmission, pathOf } from './state.tsx'

export const WHEN_ASKED: Record<Bot['match'], string> = {
  optional: 'When the app sends client details',
  required: 'Always',
}

export const TRANSPORTS = { polling: 'Long polling', webhook: 'Webhook' } as const

/** Settings of a bot. */
export const SettingsForm = (form: {
  base: string
  environment: Environment
  bot: Bot | undefined
  submission: BotSubmission | undefined
}) => {
  const { base, environment, bot, submission } = form
  const chosenFor = (name: string, kept: string): string => {
    const value = submission?.values[name]
    return typeof value === 'string' ? value : kept
  }
  return (
    <Section id="settings" title="Settings">
      <Form
        action={pathOf(base, environment, 'settings')}
        errors={submission?.errors}
        buttons={<Button>Save settings</Button>}
      >
        <Radios
          name="match"
          label="Number matching"
          value={chosenFor('match', bot?.match ?? 'optional')}
          error={errorAt(submission?.errors, 'match')}
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
            value={chosenFor('transport', bot?.transport ?? 'polling')}
            error={errorAt(submission?.errors, 'transport')}
            options={[
              { value: 'polling', label: 'Long polling', text: 'Works behind firewalls' },
              { value: 'webhook', label: 'Webhook', text: 'Needs a public HTTPS address' },
            ]}
          />
        )}
      </Form>
    </Section>
  )
}
