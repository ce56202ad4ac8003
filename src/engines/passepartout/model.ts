import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { queryNumber } from '../../http/query-number.ts'
import { lenient, oneOf, Timestamp } from '../../http/schemas.ts'
import { MAX_LABEL_LENGTH, MAX_USER_AGENT_LENGTH, MAX_WAIT_SECONDS } from './limits.ts'
import { PLATFORMS } from './messenger.ts'

/** Where the sign-in was started, as shown in the prompt. */
export const Client = lenient({
  ip: t.Optional(
    t.String({
      maxLength: 64,
      expected: 'an IP address',
      description: 'IP address of the browser or device.',
      examples: ['203.0.113.7'],
    }),
  ),
  user_agent: t.Optional(
    t.String({
      maxLength: MAX_USER_AGENT_LENGTH,
      description: '`User-Agent` of the browser; shown to the user as browser and system.',
    }),
  ),
  label: t.Optional(
    t.String({
      minLength: 1,
      maxLength: MAX_LABEL_LENGTH,
      description: 'Name of the place, such as "Web shop" or "Kitchen tablet".',
    }),
  ),
})
export type Client = typeof Client.static

export const NewLogin = t.Nullable(
  lenient(
    { client: t.Optional(Client) },
    { examples: [{ client: { ip: '203.0.113.7', label: 'Web shop' } }] },
  ),
)
export type NewLogin = typeof NewLogin.static

export const StartedLogin = t.Object({
  nonce: t.String({ description: 'Identifies the attempt. Keep it on your server.' }),
  deep_link: t.String({ description: 'Link for the user, to open or scan as a QR code.' }),
  expires_at: Timestamp,
  poll_interval: Type.Integer({ description: 'Seconds to wait between status requests.' }),
  match_code: t.Optional(
    t.String({
      description: 'Show this number to the user, who taps it in the chat.',
      examples: ['47'],
    }),
  ),
})
export type StartedLogin = typeof StartedLogin.static

export const User = t.Object({
  id: t.String({ description: "The `subject` of the user's tokens." }),
  platform: oneOf(PLATFORMS),
  platform_user_id: t.String(),
  username: t.Nullable(t.String()),
  first_name: t.String(),
  last_name: t.Nullable(t.String()),
  language_code: t.Nullable(t.String()),
  created_at: Timestamp,
})
export type User = typeof User.static

export const LoginQuestion = t.Object(
  {
    nonce: t.String({ minLength: 1, maxLength: 200, expected: 'the nonce of an attempt' }),
    wait: t.Optional(
      queryNumber({
        name: 'wait',
        rule: `a whole number of 0 to ${MAX_WAIT_SECONDS}`,
        digits: /^(0?\d|1\d|2[0-5])$/,
        schema: {
          minimum: 0,
          maximum: MAX_WAIT_SECONDS,
          description: 'Holds the response for up to this many seconds, until the status changes.',
        },
      }),
    ),
  },
  { additionalProperties: true },
)

export const LoginStatus = t.Object({
  status: oneOf(['pending', 'completed'] as const),
  access_token: t.Optional(t.String({ examples: ['ppt_live_…'] })),
  user: t.Optional(User),
})
export type LoginStatus = typeof LoginStatus.static
