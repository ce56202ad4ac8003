import { t } from 'elysia'
import { Count, lenient, OptionalTimestamp, oneOf, Timestamp } from '../../http/schemas.ts'
import { ALERT_KINDS, SEVERITIES } from '../../platform/alerts/index.ts'
import { CHANNEL_TYPES } from './channel-types.ts'
import { MUTES } from './muting.ts'

const expectedKinds = 'null for all, or a list of kinds of alerts'

/** The settings of all types. Each type has some of them, which its format checks. */
const SETTINGS = {
  url: t.Optional(t.String()),
  address: t.Optional(t.String()),
  server: t.Optional(t.String()),
  topic: t.Optional(t.String()),
  token: t.Optional(t.Nullable(t.String())),
  chat_id: t.Optional(t.String()),
  method: t.Optional(t.String()),
  headers: t.Optional(t.Record(t.String(), t.String())),
  body: t.Optional(t.String()),
}

const changeable = {
  name: t.Optional(
    t.String({ minLength: 1, maxLength: 100, expected: 'a string of 1 to 100 characters' }),
  ),
  settings: t.Optional(
    t.Object(SETTINGS, {
      additionalProperties: true,
      expected: 'an object with the settings of the type',
      description:
        'The fields depend on the type. A secret that is sent back masked stays as it is.',
    }),
  ),
  kinds: t.Optional(
    t.Nullable(
      t.Array(oneOf(ALERT_KINDS), {
        minItems: 1,
        maxItems: ALERT_KINDS.length,
        expected: expectedKinds,
      }),
      { expected: expectedKinds },
    ),
  ),
  min_severity: t.Optional(
    oneOf(SEVERITIES, { description: '`warning` (default) includes critical alerts.' }),
  ),
  active: t.Optional(t.Boolean()),
}

export const NewChannel = lenient(
  { type: oneOf(CHANNEL_TYPES), ...changeable },
  {
    examples: [
      { type: 'webhook', name: 'On-call', settings: { url: 'https://example.com/alerts' } },
    ],
  },
)
export type NewChannel = typeof NewChannel.static

export const ChannelChange = lenient(changeable, { examples: [{ min_severity: 'critical' }] })
export type ChannelChange = typeof ChannelChange.static

export const Channel = t.Object({
  id: t.String(),
  type: oneOf(CHANNEL_TYPES),
  name: t.String(),
  hint: t.String({ description: 'Where it leads, without a secret.' }),
  settings: t.Nullable(t.Record(t.String(), t.Unknown()), {
    description: 'Secrets are masked. Null if they cannot be decrypted.',
  }),
  kinds: t.Nullable(t.Array(t.String())),
  min_severity: oneOf(SEVERITIES),
  active: t.Boolean(),
  last_attempt_at: OptionalTimestamp,
  last_error: t.Nullable(t.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Channel = typeof Channel.static

export const CreatedChannel = t.Object({
  ...Channel.properties,
  secret: t.Nullable(t.String(), {
    description: 'Signs the requests of a webhook; null for other types. Shown only once.',
  }),
})
export type CreatedChannel = typeof CreatedChannel.static

export const TestResult = t.Object({
  result: oneOf(['sent', 'posted', 'failed'], {
    description: '`posted`: the email waits in the outbox.',
  }),
  error: t.Nullable(t.String()),
})

export const Alert = t.Object({
  id: t.String(),
  kind: t.String(),
  severity: oneOf(SEVERITIES),
  title: t.String(),
  text: t.String(),
  subject: t.Object({ id: t.String(), name: t.String() }),
  state: oneOf(['open', 'resolved']),
  opened_at: Timestamp,
  last_at: Timestamp,
  count: Count,
  resolved_at: OptionalTimestamp,
  url: t.String({ description: 'The page of the console about it.' }),
  muted: t.Boolean(),
  muted_until: t.Nullable(Timestamp, { description: 'Null if it is muted until you unmute it.' }),
})
export type Alert = typeof Alert.static

export const MuteRequest = lenient({ for: t.Optional(oneOf(MUTES)) }, { examples: [{ for: '1d' }] })
export type MuteRequest = typeof MuteRequest.static

export const LogEntry = t.Object({
  id: t.String({ description: 'The same in all attempts.' }),
  channel_id: t.String({ description: '`owners` for the built-in emails to owners.' }),
  channel_name: t.String(),
  event: oneOf(['opened', 'resolved', 'reminder', 'test']),
  kind: t.String(),
  severity: oneOf(SEVERITIES),
  title: t.String(),
  status: oneOf(['pending', 'sent', 'failed']),
  attempts: Count,
  next_attempt_at: OptionalTimestamp,
  error: t.Nullable(t.String()),
  created_at: Timestamp,
  ended_at: OptionalTimestamp,
})
export type LogEntry = typeof LogEntry.static
