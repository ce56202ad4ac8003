import { Button } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { formatDuration, parseDuration } from '../../../config/durations.ts'
import type { PasswordRules, SessionRules } from '../../../engines/gate/settings/model.ts'
import { SECOND_MS } from '../../../platform/durations.ts'
import { invalid } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { SettingsTabs } from './settings-tabs.tsx'

interface RulesView {
  sessions: SessionRules
  passwords: PasswordRules
}

/** Rules for the sessions and passwords of a tenant's users. */
export const settingsSecurityPage = page({
  path: '/settings/security',
  section: 'settings',
  right: 'read',
  title: 'Sessions and passwords',

  load({ gate: { rules }, caller }): RulesView {
    const of = caller('gate', 'live')
    return { sessions: rules.sessions(of), passwords: rules.passwords(of) }
  },

  view(view) {
    const { may, href } = usePage()
    return (
      <>
        <PageHead
          title="Sessions and passwords"
          state={{
            sentence: (
              <>
                Rules for your users. <a href={href('/sign-in')}>Sign-in methods</a> are under
                Users.
              </>
            ),
          }}
        />
        <SettingsTabs current="security" />
        {may('settings') ? (
          <>
            <Sessions {...view.sessions} />
            <Passwords {...view.passwords} />
          </>
        ) : (
          <Rules {...view} />
        )}
      </>
    )
  },

  actions: {
    sessions: {
      right: 'settings',
      form: { lifetime_seconds: 'lifetime', idle_timeout_seconds: 'idle' },
      flash: good('Session rules saved.'),
      async run({ gate, caller, fields }) {
        await gate.rules.setSessions(caller('gate', 'live'), {
          lifetime_seconds: secondsIn(fields, 'lifetime', 'lifetime_seconds'),
          idle_timeout_seconds: secondsIn(fields, 'idle', 'idle_timeout_seconds'),
        })
      },
    },
    passwords: {
      right: 'settings',
      form: { min_length: 'min_length' },
      flash: good('Password rules saved.'),
      async run({ gate, caller, fields }) {
        await gate.rules.setPasswords(caller('gate', 'live'), { min_length: lengthIn(fields) })
      },
    },
  },
})

const LIFETIMES = ['30m', '1h', '8h', '12h', '1d', '7d', '30d']
const TIMEOUTS = ['5m', '15m', '30m', '1h', '8h']

function Sessions(rules: SessionRules) {
  const installation = inWords(rules.installation_lifetime_seconds)
  const isPossible = (text: string) =>
    (parseDuration(text) ?? 0) <= rules.installation_lifetime_seconds * SECOND_MS
  return (
    <Section id="sessions" title="Sessions">
      <PageForm
        action="sessions"
        anchor="sessions"
        buttons={<Button weight="primary">Save session rules</Button>}
      >
        <Field
          name="lifetime"
          label="Session lifetime"
          isRequired={false}
          isMono
          value={inWords(rules.lifetime_seconds)}
          placeholder={installation}
          choices={LIFETIMES.filter(isPossible)}
          help={`Such as 30m, 8h or 1d. At most ${installation}, which applies if empty. For new sessions.`}
        />
        <Field
          name="idle"
          label="Idle timeout"
          isRequired={false}
          isMono
          value={inWords(rules.idle_timeout_seconds)}
          placeholder="None"
          choices={TIMEOUTS.filter(isPossible)}
          help="Ends a session that your app doesn't check for this long, at least 5m. Also for existing sessions, from now on."
        />
      </PageForm>
    </Section>
  )
}

const Passwords = (rules: PasswordRules) => (
  <Section id="passwords" title="Passwords">
    <PageForm
      action="passwords"
      anchor="passwords"
      buttons={<Button weight="primary">Save password rules</Button>}
    >
      <Field
        name="min_length"
        label="Minimum length"
        type="number"
        isRequired={false}
        min={rules.installation_min_length}
        max={128}
        value={`${rules.min_length ?? ''}`}
        placeholder={`${rules.installation_min_length}`}
        suffix="characters"
        help={`For new passwords; users keep the ones they have. ${ALWAYS}`}
      />
    </PageForm>
  </Section>
)

const ALWAYS = 'Common passwords and those that resemble the email address are always rejected.'

const Rules = ({ sessions, passwords }: RulesView) => (
  <>
    <Facts
      facts={[
        [
          'Session lifetime',
          inWords(sessions.lifetime_seconds ?? sessions.installation_lifetime_seconds),
        ],
        ['Idle timeout', inWords(sessions.idle_timeout_seconds) || 'None'],
        [
          'Minimum password length',
          `${Math.max(passwords.min_length ?? 0, passwords.installation_min_length)} characters`,
        ],
      ]}
    />
    <p class="hint">{ALWAYS} Only owners can change these settings.</p>
  </>
)

const inWords = (seconds: number | null): string =>
  seconds === null ? '' : formatDuration(seconds * SECOND_MS)

type Typed = Pick<PageContext, 'fields'>['fields']

/** A duration of a form in seconds; null for an empty one. */
function secondsIn(fields: Typed, name: string, field: string): number | null {
  const text = trimmedText(fields, name)
  if (text === '') return null
  const ms = parseDuration(text.toLowerCase().replaceAll(' ', ''))
  if (ms === undefined || ms % SECOND_MS !== 0)
    throw invalid('must be a duration such as 30m, 8h or 7d', { field, rule: 'format' })
  return ms / SECOND_MS
}

function lengthIn(fields: Typed): number | null {
  const text = trimmedText(fields, 'min_length')
  if (text === '') return null
  if (!/^\d{1,3}$/.test(text))
    throw invalid('must be a whole number', { field: 'min_length', rule: 'format' })
  return Number(text)
}
