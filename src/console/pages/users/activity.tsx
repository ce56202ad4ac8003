import { type Event, Events } from '../../../../views/ui/events.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import type { Tone } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import type { Happening } from '../../../engines/gate/identities/history.ts'
import type { Actor } from '../../../platform/audit/index.ts'
import { deviceName, methodNames, type UserView } from './badges.tsx'
import { nameOfCredential } from './credentials.tsx'

/** Latest activity of a user, and changes to the user. */
export const Activity = (page: UserView & { auditHref: string }) => (
  <Section
    id="history"
    title="Activity"
    note={
      <>
        Latest activity. All changes are in the <a href={page.auditHref}>audit log</a>.
      </>
    }
  >
    {page.activity.length === 0 ? (
      <p class="hint">No recent activity</p>
    ) : (
      <Events
        label="Activity"
        events={page.activity.map((entry) => ({
          ...eventOf(entry, page),
          aside: <Time at={entry.at} />,
        }))}
      />
    )}
  </Section>
)

function eventOf(entry: Happening, page: UserView): Event {
  switch (entry.kind) {
    case 'signed_in':
      return {
        tone: 'good',
        title: `Signed in with ${methodNames(entry.methods)}`,
        text: (
          <>
            {deviceName(entry.device)}
            {entry.ipAddress && (
              <>
                , <Text text={entry.ipAddress} limit={64} />
              </>
            )}
          </>
        ),
      }
    case 'event':
      return { tone: 'good', title: <Text text={eventLabel(entry)} limit={80} /> }
    case 'done':
      return {
        tone: TONES[entry.action] ?? 'quiet',
        title: <Text text={actionLabel(entry)} limit={80} />,
        text: <By actor={entry.actor} page={page} />,
      }
  }
}

const EVENT_LABELS: Record<string, string> = {
  'identity.password_changed': 'Password changed',
  'identity.email_verified': 'Email verified',
}

const eventLabel = ({ type, payload }: Extract<Happening, { kind: 'event' }>): string =>
  type === 'identity.created'
    ? `Signed up with ${methodNames([payload.method ?? ''])}`
    : (EVENT_LABELS[type] ?? type)

const TONES: Record<string, Tone> = {
  'identity.credential_removed': 'warn',
  'identity.credentials_wiped': 'warn',
  'sessions.revoked': 'warn',
}

const ACTION_LABELS: Record<string, (detail: Record<string, unknown>) => string> = {
  'identity.created': () => 'Created',
  'identity.updated': ({ fields }) =>
    Array.isArray(fields) ? `Updated: ${fields.join(', ')}` : 'Updated',
  'identity.state_changed': ({ state }) => (state === 'active' ? 'Activated' : 'Deactivated'),
  'identity.credential_removed': ({ type, provider }) =>
    `Removed: ${nameOfCredential(String(type))}${provider ? ` (${provider})` : ''}`,
  'identity.credentials_wiped': () => 'Credentials removed (unverified account)',
  'identity.account_connected': ({ provider }) => `Social login connected: ${provider}`,
  'identity.recovered': () => 'Account recovered',
  'identity.recovery_sent': () => 'Recovery email sent',
  'verification.sent': () => 'Verification email sent',
  'sessions.revoked': () => 'All sessions ended',
}

const actionLabel = ({ action, detail }: Extract<Happening, { kind: 'done' }>): string =>
  ACTION_LABELS[action]?.(detail) ?? action

const By = ({ actor, page }: { actor: Actor; page: UserView }) => (
  <>
    By <Text text={nameOf(actor, page)} limit={64} />
    {actor.source && (
      <>
        , <Text text={actor.source} limit={64} />
      </>
    )}
  </>
)

function nameOf({ kind, id }: Actor, { identity, names }: UserView): string {
  switch (kind) {
    case 'operator':
      return names.get(id ?? '') ?? 'a former operator'
    case 'key':
      return 'an API key'
    case 'person':
      return id === identity.id ? 'the user' : 'another user'
    case 'cli':
      return 'the command line'
    case 'system':
      return 'Gatehouse'
  }
}
