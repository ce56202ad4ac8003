import { type TSchema, t } from 'elysia'

const UNPAID = 'The account is suspended, or a renewal is unpaid. Do not retry.'
const TOO_MANY = 'Too many requests, or the monthly allowance is used up. See `Retry-After`.'

const plain = (description: string) => t.Object({ error: t.String() }, { description })

/** Error bodies of routes that answer with a sentence. */
export const PlainErrors = {
  400: plain('Invalid body or query. The error names the field and the rule.'),
  401: plain('Missing, malformed, unknown or revoked API key.'),
  402: plain(UNPAID),
  403: plain('API key of another engine, or missing scope.'),
  404: plain('No such object in the tenant of the API key.'),
  409: plain('Not possible in the current state, or a limit is reached.'),
  413: plain('Body too large.'),
  415: plain('The body is not JSON, or is compressed.'),
  429: plain(TOO_MANY),
  503: plain('Nothing was stored. Retry after `Retry-After`.'),
} as const

const coded = (description: string) =>
  t.Object(
    { error: t.Object({ code: t.String(), message: t.String(), request_id: t.String() }) },
    { description },
  )

/** Error bodies of routes that answer with a code and the request id. */
export const CodedErrors = {
  400: coded(
    'Code `invalid_payload` for the body, `invalid_request` for the query. The message names the field and the rule.',
  ),
  401: coded('Code `unauthenticated`: missing, malformed, unknown or revoked API key.'),
  402: coded(UNPAID),
  403: coded('Code `forbidden`: API key of another engine, or missing scope.'),
  404: coded('Code `not_found`: no such object in the tenant of the API key.'),
  409: coded('Code `conflict`: not possible in the current state, or a limit is reached.'),
  413: coded('Code `payload_too_large`: body too large.'),
  415: coded('Code `unsupported_media_type`: the body is not JSON, or is compressed.'),
  429: coded(TOO_MANY),
  503: coded('Code `unavailable`: nothing was stored. Retry after `Retry-After`.'),
} as const

/** The errors that routes have in common, in the given format. */
export const refusalsIn = <Body extends TSchema>(
  errors: Record<400 | 401 | 402 | 403 | 413 | 415 | 429 | 503, Body>,
) => ({
  /** Errors of any route. */
  refused: {
    400: errors[400],
    401: errors[401],
    403: errors[403],
    429: errors[429],
    503: errors[503],
  },
  /** Additional errors of a route with a body. */
  badBody: { 400: errors[400], 413: errors[413], 415: errors[415] },
  /** Additional errors of a route that creates something. */
  spent: { 402: errors[402] },
})

/** The response to a deletion. */
export const Empty = t.Void({ description: 'Done.' })
