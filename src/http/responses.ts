import { t } from 'elysia'

const plain = (description: string) => t.Object({ error: t.String() }, { description })

/** Bodies of refusals on routes that answer errors with a sentence. */
export const PlainErrors = {
  400: plain('Invalid body; the sentence names the field and the rule.'),
  401: plain('Missing, malformed, unknown or revoked API key.'),
  403: plain('Key of another engine, or without the scope.'),
  404: plain('No such object in the tenant of the key.'),
  409: plain('Not possible in the present state, or a limit is reached.'),
  413: plain('Body over the limit.'),
  415: plain('Content type or coding other than plain JSON.'),
} as const

/** The answer to a deletion. */
export const Empty = t.Void({ description: 'Done.' })
