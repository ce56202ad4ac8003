import { Button } from '../../../../views/ui/form/button.tsx'
import { Radios } from '../../../../views/ui/form/choices.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import type { Bot } from '../../../engines/passepartout/index.ts'
import type { Environment } from '../../../platform/engines.ts'

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
