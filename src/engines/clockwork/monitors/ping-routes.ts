import { Elysia, t } from 'elysia'
import { PlainErrors } from '../../../http/responses.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import { beginningOf } from './body.ts'
import { KEPT_BODY_BYTES } from './limits.ts'
import type { Pings } from './pings.ts'
import { ridIn, signalIn } from './signal.ts'

const { 400: Invalid, 404: Unknown, 429: TooMany, 503: Unavailable } = PlainErrors

const response = {
  200: t.String({ description: 'The ping is stored.', examples: ['OK'] }),
  400: Invalid,
  404: Unknown,
  429: TooMany,
  503: Unavailable,
}

/** Other parameters are ignored, because they must not fail a ping. */
const query = t.Object(
  { rid: t.Optional(t.String({ description: 'ID of the run.' })) },
  { additionalProperties: true },
)

/** Ping URLs. They need no key, and HEAD is a ping like GET: some clients send nothing else. */
export function createPingRoutes(parts: {
  pings: Pings
  addressOf: (request: Request) => string | undefined
  maxBody: number
}) {
  const { pings, addressOf, maxBody } = parts

  const parse = ({ request }: { request: Request }) =>
    beginningOf(request, { kept: KEPT_BODY_BYTES, limit: maxBody })

  async function receive(of: {
    request: Request
    token: string
    signal?: string
    rid: string | undefined
    body?: unknown
  }) {
    const { request, token, signal, rid, body } = of
    const said =
      signalIn(signal) ?? fail(notFound('unknown signal; use start, fail, log or 0 to 255'))
    await pings.receive(token, {
      ...said,
      rid: ridIn(rid),
      body: typeof body === 'string' ? body : null,
      address: addressOf(request),
    })
    return 'OK'
  }

  const detail = { tags: ['clockwork'], security: [] }
  const success = { ...detail, summary: 'Ping a monitor' }
  const signaled = {
    ...detail,
    summary: 'Ping a monitor with a signal',
    description:
      '`signal` is `start`, `fail`, `log`, or the exit code of a program, where 0 is success. The first 10,000 bytes of a body are kept.',
  }

  return new Elysia({ name: 'pings', prefix: '/ping' })
    .get(
      '/:token',
      ({ request, params, query }) => receive({ request, token: params.token, rid: query.rid }),
      { query, response, detail: success },
    )
    .post(
      '/:token',
      ({ request, params, query, body }) =>
        receive({ request, token: params.token, rid: query.rid, body }),
      { parse, query, response, detail: success },
    )
    .get(
      '/:token/:signal',
      ({ request, params, query }) => receive({ request, ...params, rid: query.rid }),
      { query, response, detail: signaled },
    )
    .post(
      '/:token/:signal',
      ({ request, params, query, body }) => receive({ request, ...params, rid: query.rid, body }),
      { parse, query, response, detail: signaled },
    )
}
